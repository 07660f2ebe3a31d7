// `ctx.workroom` of a plugin: commands are effects of its run. A later call of the same run sees what an earlier one decided.
import type { Core } from '../core/core.ts';
import { effectKey } from '../handling/run/cause.ts';
import type { RunPart, RunSurface } from '../handling/run/run-part.ts';
import type { WorkBoard, WorkCommand, WorkItem, WorkOutcome, Workroom as WorkroomPart } from '../sdk/workroom.ts';
import { parseCommand } from './board/commands.ts';
import { boardAt, memberOf } from './board/decide-team.ts';
import {
  type Actor,
  type Board,
  type Item,
  type Member,
  openBlockers,
  stateOf,
  type View,
  withEntry,
} from './board/model.ts';
import { takeJoinCode } from './join-codes.ts';
import { entityIn } from './journal/catalog-rows.ts';
import { readItem, readItemPage, readView } from './read-catalog.ts';
import type { Outcome, Planned, Workroom } from './workroom.ts';

const MOST_LISTED = 50;

export const workroomPart =
  (core: Core, workroom: Workroom): RunPart =>
  (run) =>
    new PartOfRun(core, workroom, run).surface();

class PartOfRun {
  readonly #core: Core;
  readonly #workroom: Workroom;
  readonly #run: RunSurface;
  /** Streams that this run has changed. */
  readonly #changed = new Map<string, View>();

  constructor(core: Core, workroom: Workroom, run: RunSurface) {
    this.#core = core;
    this.#workroom = workroom;
    this.#run = run;
  }

  surface(): WorkroomPart {
    return {
      do: (command) => this.#do(command),
      item: async (id) => {
        const changed = this.#changed.get(`item/${id}`)?.items[id];
        const item = changed ?? (await readItem(this.#core.reader, id));
        return item && shownItem(item);
      },
      list: async (filter = {}) => {
        const page = await readItemPage(this.#core.reader, filter, { after: undefined, limit: MOST_LISTED });
        return page.items.map((item) => shownItem(this.#changed.get(`item/${item.id}`)?.items[item.id] ?? item));
      },
      board: async (at) => {
        const { conversation, endpoint } = this.#run.cause.chat ?? {};
        const place = at ?? (conversation && endpoint ? { endpoint, id: conversation.id } : undefined);
        if (place === undefined) return undefined;
        const board = boardAt((await this.#view({ kind: 'look' })).boards, {
          endpoint: place.endpoint,
          conversation: place.id,
        });
        return board && shownBoard(board);
      },
      boards: async () =>
        Object.values((await this.#view({ kind: 'look' })).boards)
          .filter(({ archived }) => !archived)
          .map(shownBoard),
      me: async () => {
        const member = this.#member(await this.#view({ kind: 'look' }));
        return member && { id: member.id, kind: member.kind };
      },
      join: (code) => this.#join(code),
    };
  }

  async #do(given: WorkCommand): Promise<WorkOutcome> {
    this.#run.open();
    const command = parseCommand(given, this.#workroom.settings().maxTextBytes);
    const view = await this.#view(command);
    return this.#take(this.#workroom.plan(view, command, { actor: this.#actor(view), command: this.#identity() }));
  }

  async #join(code: string): Promise<WorkOutcome> {
    this.#run.open();
    const { endpoint, user } = this.#run.cause.chat ?? {};
    if (endpoint === undefined || user === undefined) throw new Error('join needs somebody who wrote');
    const found = await takeJoinCode(this.#core, code);
    if (found === undefined) {
      const reason = 'this code is not valid any more: an operator makes another, svc workroom member code <member>';
      return { kind: 'refused', code: 'not_allowed', reason };
    }
    const view = await this.#view({ kind: 'look' });
    // The operator who made the code allowed the link.
    const planned = this.#workroom.plan(
      view,
      { kind: 'member.link', member: found.member, endpoint, user: user.id },
      { actor: { id: found.actor, member: undefined, isOperator: true }, command: this.#identity() },
    );
    return this.#take({ ...planned, statements: [...found.statements, ...planned.statements] });
  }

  #take({ outcome, statements, events, view, dueAt }: Planned): WorkOutcome {
    if (outcome.kind === 'refused') return refusalOf(outcome);
    this.#run.effect({ kind: 'part', statements, events, dueAt });
    for (const stream of streamsOf(view)) this.#changed.set(stream, view);
    return { kind: 'accepted', item: outcome.item, version: outcome.version };
  }

  /** The stored view with what this run has changed. */
  async #view(of: Parameters<typeof readView>[1]): Promise<View> {
    let view = await readView(this.#core.reader, of);
    for (const [stream, changed] of this.#changed) view = overlaid(view, changed, stream);
    return view;
  }

  #identity(): { readonly id: string; readonly cause: string } {
    const { cause, capability } = this.#run;
    return { id: effectKey(cause, capability, `work:${this.#run.nextKey()}`), cause: cause.id };
  }

  #member(view: View): Member | undefined {
    const { endpoint, user } = this.#run.cause.chat ?? {};
    if (endpoint === undefined || user === undefined) return undefined;
    return memberOf(view.team.members, { endpoint, user: user.id });
  }

  #actor(view: View): Actor {
    const { capability, isOperator, cause } = this.#run;
    const member = this.#member(view);
    if (member !== undefined) return { id: `member:${member.id}`, member: member.id, isOperator };
    if (cause.job !== undefined) return { id: `job:${cause.job}`, member: undefined, isOperator };
    // The account is not named: the journal keeps its actors for good.
    if (isOperator) return { id: `operator:${cause.chat?.endpoint ?? ''}`, member: undefined, isOperator };
    if (cause.chat !== undefined) return { id: 'guest', member: undefined, isOperator: false };
    return { id: `plugin:${capability.slot}`, member: undefined, isOperator: false };
  }
}

const refusalOf = ({ code, reason }: Extract<Outcome, { kind: 'refused' }>): WorkOutcome => ({
  kind: 'refused',
  code,
  reason,
});

const streamsOf = ({ items, boards }: View): readonly string[] => [
  'team',
  ...Object.keys(boards).map((id) => `board/${id}`),
  ...Object.keys(items).map((id) => `item/${id}`),
];

/** Takes a stream of `changed` where it is newer. */
function overlaid(view: View, changed: View, stream: string): View {
  const entity = entityIn(changed, stream);
  if (entity === undefined) return view;
  const lastItems = { ...view.lastItems };
  for (const [board, last] of Object.entries(changed.lastItems))
    lastItems[board] = Math.max(lastItems[board] ?? 0, last);
  if (entity.kind === 'team') return entity.team.version > view.team.version ? { ...view, team: entity.team } : view;
  if (entity.kind === 'board') {
    const isNewer = entity.board.version > (view.boards[entity.board.id]?.version ?? 0);
    return isNewer
      ? { ...view, lastItems, boards: withEntry(view.boards, entity.board.id, entity.board) }
      : { ...view, lastItems };
  }
  const { item } = entity;
  const isNewer = item.version > (view.items[item.id]?.version ?? 0);
  return isNewer ? { ...view, lastItems, items: withEntry(view.items, item.id, item) } : { ...view, lastItems };
}

export function shownItem(item: Item): WorkItem {
  const { id, board, version, title, text, creator, assignee, due, comments } = item;
  const blockers = openBlockers(item).map((blocker) => ({
    id: blocker.id,
    kind: blocker.kind,
    owner: blocker.owner,
    reason: blocker.reason,
    needs: blocker.needs,
    due: blocker.due,
    since: blocker.since,
  }));
  return { id, board, version, title, text, state: stateOf(item), creator, assignee, due, blockers, comments };
}

const shownBoard = ({ id, name, roles, conversations }: Board): WorkBoard => ({ id, name, roles, conversations });
