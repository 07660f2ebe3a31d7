// The Workroom as a service: reads what a command needs, decides, and commits everything in one unit.
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import type { Statement, UnitAnswer } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import { type DueRow, putDue, takeDue } from '../timers/due-store.ts';
import type { WorkCommand } from './board/commands.ts';
import { decide } from './board/decide.ts';
import { Drafts } from './board/drafts.ts';
import { announcements, dueRow, type Reminding } from './board/due-times.ts';
import {
  type Actor,
  type Fact,
  HOST,
  itemStream,
  openBlockers,
  type Refusal,
  type RefusalCode,
  stateOf,
  type View,
} from './board/model.ts';
import { type Appending, append, GUARD, isAtVersion } from './journal/append.ts';
import { entityIn } from './journal/catalog-rows.ts';
import { DatabaseJournal, type Journal, refuseDamaged } from './journal/journal.ts';
import type { CommandIdentity } from './journal/journal-event.ts';
import { readView } from './read-catalog.ts';

/** A command that keeps losing against others is given up after so many decisions. */
const MOST_TRIES = 20;

export interface WorkroomSettings extends Reminding {
  readonly maxTextBytes: number;
}

export interface WorkroomPorts {
  /** Told the earliest time of the due rows that were stored. */
  readonly due: (at: number) => void;
  /** Default: in the database. */
  readonly journal?: Journal;
}

export interface Accepted {
  readonly kind: 'accepted';
  /** The stream that the command named: an item, a board, or the team. */
  readonly stream: string;
  readonly item: string | undefined;
  readonly version: number;
  readonly state: string | undefined;
}
export type Outcome = Accepted | Refusal;

/** A decision as statements for a unit that the caller commits. */
export interface Planned {
  readonly outcome: Outcome;
  readonly statements: readonly Statement[];
  readonly events: readonly NewEvent[];
  readonly view: View;
  readonly dueAt: number | undefined;
}

export interface Commanding {
  readonly actor: Actor;
  readonly command: CommandIdentity;
}

export interface Storing {
  readonly view: View;
  readonly facts: readonly Fact[];
  readonly command: CommandIdentity;
  /** Statements that come first in the unit. */
  readonly before: readonly Statement[];
}

export interface CommandOptions {
  readonly ifVersion?: number | undefined;
  /** Statements that join the unit, made with its answer. */
  readonly more?: (accepted: Accepted) => readonly Statement[];
}

export class Workroom {
  readonly #core: Core;
  readonly settings: () => WorkroomSettings;
  readonly #due: (at: number) => void;
  readonly #journal: Journal;
  /** Refused commands by code, since the start. */
  readonly refusals = new Map<RefusalCode, number>();

  constructor(core: Core, settings: () => WorkroomSettings, { due, journal }: WorkroomPorts) {
    this.#core = core;
    this.settings = settings;
    this.#due = due;
    this.#journal = journal ?? new DatabaseJournal(core.reader);
  }

  /**
   * Carries out a command in a unit of its own. The answer is on disk before it is given. The same command id again gets the answer of the first time.
   * @throws SvcError `precondition_failed` when the item is not of version `ifVersion`; `journal_damaged` while the journal takes no event.
   */
  async do(
    command: WorkCommand,
    by: Commanding,
    { ifVersion, more = () => [] }: CommandOptions = {},
  ): Promise<Outcome> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const view = await readView(this.#core.reader, command);
      const version = versionOf(view, command);
      const isOther = ifVersion !== undefined && version !== undefined && version !== ifVersion;
      const planned = this.#decided(view, command, by);
      const { outcome } = planned;
      const answer = outcome.kind === 'refused' || isOther ? undefined : await this.#commit(planned, more(outcome));
      if (answer?.kind === 'committed') {
        await this.#journal.settled();
        return outcome;
      }
      // The id of a command is stored once: what was carried out before never gets so far as a second commit. So most commands need no look.
      const earlier = await this.#earlier(by.command);
      if (earlier !== undefined) {
        await this.#journal.settled();
        return earlier;
      }
      if (isOther) throw new SvcError('precondition_failed', `the item has version ${version}, not ${ifVersion}`);
      if (outcome.kind === 'refused') return this.#counted(outcome);
      if (answer !== undefined && answer.guard !== GUARD)
        throw new Error(`the command was refused by ${answer.guard}: ${answer.detail}`);
    }
    throw new SvcError('overloaded', 'others kept changing this item: try again', { details: { retryAfterMs: 1_000 } });
  }

  /** Decides a command on a view. Nothing is stored: the caller commits the statements, or drops them. */
  plan(view: View, command: WorkCommand, by: Commanding): Planned {
    const planned = this.#decided(view, command, by);
    if (planned.outcome.kind === 'refused') this.#counted(planned.outcome);
    return planned;
  }

  #decided(view: View, asked: WorkCommand, { actor, command }: Commanding): Planned {
    refuseDamaged(this.#journal);
    const decision = decide(asked, { view, actor, now: this.#core.clock.now() });
    if (decision.kind === 'decided') return this.#planned(view, decision.facts, { command });
    return { outcome: decision, statements: [], events: [], view, dueAt: undefined };
  }

  #counted(refusal: Refusal): Refusal {
    this.refusals.set(refusal.code, (this.refusals.get(refusal.code) ?? 0) + 1);
    return refusal;
  }

  /** Commits facts that are no decision on a command, behind `before`. False: others changed one of the streams meanwhile. */
  async store({ view, facts, command, before }: Storing): Promise<boolean> {
    refuseDamaged(this.#journal);
    const answer = await this.#commit(this.#planned(view, facts, { command }), before);
    if (answer.kind === 'committed') {
      await this.#journal.settled();
      return true;
    }
    if (answer.guard !== GUARD) throw new Error(`the facts were refused by ${answer.guard}: ${answer.detail}`);
    return false;
  }

  /** Announces what is due of an item: deadlines, and that nothing happens. */
  async fire(row: DueRow): Promise<void> {
    refuseDamaged(this.#journal); // the row stays, and fires again
    const item = row.data;
    const view = await readView(this.#core.reader, { kind: 'look', item });
    const found = view.items[item];
    const now = this.#core.clock.now();
    if (view.quarantined.includes(itemStream(item))) {
      const at = now + this.settings().remindMs;
      // A release meanwhile has deadlines of its own: then the row stays, and fires again.
      const held = found === undefined ? [] : [isAtVersion(itemStream(item), found.version)];
      const statements = [takeDue(row), ...held, putDue({ ...dueRow(item), at })];
      await this.#core.writer.commit({ name: 'workroom.due', statements });
      return this.#due(at);
    }
    const drafts = new Drafts({ view, actor: HOST, now });
    for (const { kind, blocker, at } of found === undefined ? [] : announcements(found, this.settings())) {
      if (at > now) continue;
      drafts.add(itemStream(item), kind, kind === 'item.overdue' ? { data: { blocker: blocker?.id ?? null } } : {});
    }
    const decision = drafts.decided();
    const facts = decision.kind === 'decided' ? decision.facts : [];
    if (facts.length === 0) {
      // A command may bring a deadline forward meanwhile: then the row stays, and fires again.
      const later = found === undefined ? [] : [isAtVersion(itemStream(item), found.version), ...this.#later(found)];
      await this.#core.writer.commit({ name: 'workroom.due', statements: [takeDue(row), ...later] });
      return;
    }
    // A unit that loses against a command leaves its due row, or finds it replaced: it is looked at again.
    const command = { id: `due/${item}/${row.at}/${now}`, cause: null };
    await this.#commit(this.#planned(view, facts, { command, isDueTaken: true }), [takeDue(row)]);
  }

  #later(item: Parameters<typeof announcements>[0]): readonly Statement[] {
    const times = announcements(item, this.settings()).map(({ at }) => at);
    if (times.length === 0) return [];
    const at = Math.min(...times);
    this.#due(at);
    return [putDue({ ...dueRow(item.id), at })];
  }

  #planned(view: View, facts: readonly Fact[], of: Omit<Appending, 'reminding'>): Planned {
    const { command } = of;
    const appended = append(view, facts, { ...of, reminding: this.settings() });
    const [first] = facts;
    if (first === undefined) throw new Error('a decision without a fact');
    return {
      outcome: acceptedOf(appended.view, first.stream),
      statements: this.#journal.into(appended.statements, command),
      events: facts.map((fact) => this.#eventOf(appended.view, fact, command)),
      view: appended.view,
      dueAt: appended.dueAt,
    };
  }

  async #commit(planned: Planned, more: readonly Statement[]): Promise<UnitAnswer> {
    const statements = [...more, ...planned.statements, ...recordEvents(planned.events)];
    const answer = await this.#core.writer.commit({ name: 'workroom.command', statements });
    if (answer.kind === 'committed' && planned.dueAt !== undefined) this.#due(planned.dueAt);
    return answer;
  }

  /** The answer that this command id got before. */
  async #earlier({ id }: CommandIdentity): Promise<Accepted | undefined> {
    const event = await this.#journal.byId(`${id}/1`);
    if (event === undefined) return undefined;
    const [, item = ''] = event.stream.split('/');
    const view = await readView(this.#core.reader, { kind: 'look', item });
    return { ...acceptedOf(view, event.stream), version: event.version };
  }

  #eventOf(view: View, { stream, kind, actor, data }: Fact, { cause }: CommandIdentity): NewEvent {
    const base = {
      at: this.#core.clock.now(),
      runtimeId: this.#core.runtimeId,
      actor,
      causationId: cause ?? undefined,
    };
    const entity = entityIn(view, stream);
    if (entity?.kind === 'item') {
      const { item } = entity;
      const shown = { item: item.id, board: item.board, version: item.version, change: kind, status: item.status };
      const blocker = typeof data['blocker'] === 'string' ? { blocker: data['blocker'] } : {};
      const assignee = item.assignee === undefined ? {} : { assignee: item.assignee };
      return {
        ...base,
        type: 'workroom.item_changed',
        data: {
          ...shown,
          state: stateOf(item),
          blockers: openBlockers(item).length,
          ...blocker,
          ...assignee,
        },
      };
    }
    if (entity?.kind === 'board') {
      const { id, version } = entity.board;
      return { ...base, type: 'workroom.board_changed', data: { board: id, version, change: kind } };
    }
    return { ...base, type: 'workroom.member_changed', data: { change: kind, member: String(data['member']) } };
  }
}

function acceptedOf(view: View, stream: string): Accepted {
  const entity = entityIn(view, stream);
  if (entity?.kind === 'item') {
    const { id, version } = entity.item;
    return { kind: 'accepted', stream, item: id, version, state: stateOf(entity.item) };
  }
  const version = entity?.kind === 'board' ? entity.board.version : view.team.version;
  return { kind: 'accepted', stream, item: undefined, version, state: undefined };
}

const versionOf = (view: View, command: WorkCommand): number | undefined =>
  'item' in command ? view.items[command.item]?.version : undefined;
