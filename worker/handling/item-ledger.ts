// Stored progress of one item: its claim, its attempts and its end. Each change is a transaction with its event.
import type { Core } from '../core/core.ts';
import type { Statement, Unit } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import type { ClaimedItem, ItemOutcome } from '../inbox/dispatcher.ts';
import type { InboxRow } from '../inbox/inbox-store.ts';
import {
  buryItem,
  claimItem,
  claimNextItem,
  countRun,
  type Death,
  finishItem,
  postponeItem,
  readRuns,
} from '../inbox/inbox-store.ts';
import { claimLeftItem, setAsideItem } from '../inbox/left-items-store.ts';
import { commitWith } from '../lanes/claim-ahead.ts';
import { commitClaiming } from '../lanes/claims.ts';
import { quarantineMs, quarantineReason } from '../lanes/quarantine.ts';
import type { NewOutboxRow } from '../outbox/outbox-store.ts';
import { putDue } from '../timers/due-store.ts';
import { commitDecided, tellDecided } from './commit-decided.ts';
import { type Decided, type EffectsOf, eventOf, hasMoved } from './effects/effects.ts';
import type { ListenerCapability } from './plan/capabilities.ts';
import type { GenerationView } from './plan/generation-view.ts';
import type { OpenDialogs } from './plan/open-dialogs.ts';
import { causeOf } from './plan/plan.ts';
import type { ContextDeps } from './run/context.ts';
import type { Failure } from './run/failure.ts';
import type { UnspentAttempts } from './unspent-attempts.ts';

export interface HandlingDeps {
  readonly core: Core;
  readonly context: Omit<ContextDeps, 'generation'>;
  readonly dialogs: OpenDialogs;
  readonly unspent: UnspentAttempts;
  /** Bound of attempts for handlers that name none. */
  readonly maxAttempts: () => number;
  /** How long an item is set aside that was in hand at two process deaths, in milliseconds. */
  readonly quarantineMs: () => number;
  /** True if a send may be stored as under way: its lane is free and the platform drops repeats. */
  readonly mayStart: NonNullable<EffectsOf['mayStart']>;
  /** Follow-ups of a decision. */
  readonly after: {
    /**
     * Announces sends whose commit is under way. The returned function is called with the result. A runner that finds such a send on disk waits for
     * it.
     */
    storing(rows: Decided['rows']): (isStored: boolean) => void;
    due(at: number): void;
    counts(counts: Decided['counts']): void;
    /** A reaction was dropped because the platform of this account has none. */
    droppedReaction(endpoint: string): void;
    /** A button was pressed that is not one of its conversation. */
    refusedPress(endpoint: string): void;
    /** The listener's pattern took too long for the text, so the listener misses this item. */
    overlong(listener: ListenerCapability): void;
    failed(failed: HandlerFailed): void;
    /** `death`: set if a handler is a dead letter. The item may still wait for others. */
    handled(row: InboxRow, outcome: ItemOutcome, death: Death | undefined): void;
    /** A part that cannot be sent was stored as a dead letter. */
    deadSend(row: NewOutboxRow): void;
  };
}

export interface HandlerFailed {
  readonly capability: string;
  readonly slot: string;
  readonly during: 'handling';
  readonly item: string;
  readonly generation: number;
  readonly error: unknown;
  readonly outcome: Failure['kind'];
}

/** Events leave out exception messages, which may quote user content. The item has them. */
const REASON_IN_STORE = 'a handler failed: the item has its error';

interface Postponed {
  readonly unit: string;
  readonly code: string;
  readonly statement: typeof postponeItem;
}

/** The result of a handler's transaction. `moved`: state that the handler has read changed before the commit. */
export type Decision =
  | { readonly kind: 'committed' }
  | { readonly kind: 'moved' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'refused'; readonly detail: string };

export class ItemLedger {
  readonly #deps: HandlingDeps;
  readonly effects: EffectsOf;
  readonly #startedAt: number;
  row: InboxRow;
  /** Earliest next attempt among waiting handlers, in epoch milliseconds. */
  waitUntil: number | undefined;
  /** Set once a handler is a dead letter; the first one counts. */
  death: Death | undefined;
  /** Number of sends of its committed handlers. */
  #sends = 0;
  #isGone = false;
  #waitError = '';
  #isClaimed: boolean;
  readonly #isResumed: boolean;
  /** Numbers of handler attempts that belong to this attempt of the item. */
  readonly #ofHandlers: Map<string, number>;
  readonly #left: ClaimedItem['left'];
  readonly #next: ClaimedItem['next'];

  constructor(deps: HandlingDeps, generation: GenerationView, { row, isClaimed, left, next }: ClaimedItem) {
    this.#deps = deps;
    this.row = row;
    const unspent = deps.unspent.take(row);
    this.#isResumed = unspent !== undefined;
    this.#isClaimed = isClaimed || this.#isResumed;
    this.#ofHandlers = new Map(unspent?.ofHandlers);
    this.#left = left;
    this.#next = next;
    this.#startedAt = deps.core.clock.now();
    this.effects = {
      core: deps.core,
      generation,
      cause: causeOf(row, undefined, 1),
      itemId: row.id,
      correlationId: row.correlation_id,
      actor: row.actor,
      mayStart: deps.mayStart,
    };
  }

  /** True if an operator ended the item meanwhile. Nothing more is decided then. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Counts the attempt on disk before plugin code runs. False if an operator ended the item. */
  async claim(): Promise<boolean> {
    if (!this.#isClaimed && !(await this.#claim())) return false;
    this.#isClaimed = true;
    if (FAILPOINTS) await this.#deps.core.point('attempt');
    return true;
  }

  async #claim(): Promise<boolean> {
    const { id } = this.row;
    const statements = [this.#left === undefined ? claimItem({ id }) : claimLeftItem({ id })];
    const answer = await commitClaiming(this.#deps.core, { name: 'inbox.claim', statements });
    if (answer.kind === 'refused') return false;
    this.#left?.counted();
    this.row = Object.assign({ ...this.row }, { state: 'handling', attempts: this.row.attempts + 1 } as const);
    return true;
  }

  /** Sets aside an item that was in hand at two process deaths. False if the item may begin. */
  async setAside(): Promise<boolean> {
    const { core } = this.#deps;
    if (this.#isClaimed || this.#left === undefined) return false;
    const { deaths, isWary } = this.#left;
    const waitMs = quarantineMs(deaths, this.#deps.quarantineMs(), isWary);
    if (waitMs === undefined) return false;
    const { id, endpoint } = this.row;
    this.wait(core.clock.now() + waitMs, quarantineReason(deaths));
    await this.#postpone({ unit: 'inbox.set_aside', code: 'set_aside', statement: setAsideItem });
    this.#left.setAside();
    core.log.warn({ item: id, endpoint, waitMs }, `an item is set aside, ${this.#waitError}: svc inbox show ${id}`);
    return true;
  }

  /** The first attempt is counted once for the whole item, by its claim. Later attempts are counted for each handler. */
  async countAttempt(handler: string, counted: number | undefined): Promise<number> {
    if (this.row.attempts <= 1) return 1;
    const known = this.#ofHandlers.get(handler);
    if (known !== undefined) return known;
    await this.unit('inbox.attempt', [countRun({ item: this.row.id, handler })], []);
    const attempt = (counted ?? 1) + 1;
    this.#ofHandlers.set(handler, attempt);
    return attempt;
  }

  /** A replayed item starts counting at 0, but its finished handlers stay finished. Its last error tells it from a new item. */
  get mayHaveRun(): boolean {
    return this.#isResumed || this.row.attempts > 1 || this.row.last_error !== null;
  }

  /** True if the claims exceed the handler attempts by more than the bound: the item kills the process before a handler runs. */
  async isPoison(): Promise<boolean> {
    const bound = this.#deps.maxAttempts();
    if (this.row.attempts <= bound) return false;
    const runs = await readRuns(this.#deps.core.reader, this.row.id);
    return this.row.attempts > bound + runs.reduce((sum, run) => sum + run.attempts, 0);
  }

  /** The outcome could not be stored. Keeps the counted attempt for the next try and rethrows. */
  broken(error: unknown): never {
    const { id, attempts } = this.row;
    if (this.#isClaimed) this.#deps.unspent.ended(id, { attempts, ofHandlers: this.#ofHandlers }, error);
    throw error;
  }

  /** Statements and events that end the item: done, or dead if one of its handlers is a dead letter. */
  closing(
    more: readonly Statement[],
    sends = 0,
  ): {
    readonly statements: readonly Statement[];
    readonly events: readonly NewEvent[];
  } {
    const at = this.#deps.core.clock.now();
    const { id, attempts } = this.row;
    if (this.death !== undefined) {
      const data = { item: id, handler: null, attempts, code: this.death.code, reason: REASON_IN_STORE };
      return {
        statements: [buryItem({ id, at, ...this.death }), ...more],
        events: [this.event({ type: 'inbox.dead', data })],
      };
    }
    const data = { item: id, attempts, sends: this.#sends + sends, durationMs: at - this.#startedAt };
    return { statements: [finishItem({ id, at }), ...more], events: [this.event({ type: 'inbox.done', data })] };
  }

  async finish(statements: readonly Statement[], events: readonly NewEvent[]): Promise<ItemOutcome> {
    const closing = this.closing(statements);
    await this.unit('inbox.finished', closing.statements, [...events, ...closing.events]);
    return this.death === undefined ? 'done' : 'dead';
  }

  /** Ends the item as dead before any handler ran. */
  async bury(code: string, error: string): Promise<ItemOutcome> {
    const at = this.#deps.core.clock.now();
    const { id, attempts } = this.row;
    this.death = { code, handler: null, error };
    const data = { item: id, handler: null, attempts, code, reason: REASON_IN_STORE };
    await this.unit('inbox.buried', [buryItem({ id, at, ...this.death })], [this.event({ type: 'inbox.dead', data })]);
    return 'dead';
  }

  postpone(): Promise<ItemOutcome> {
    return this.#postpone({ unit: 'inbox.postponed', code: 'handler_failed', statement: postponeItem });
  }

  async #postpone({ unit, code, statement }: Postponed): Promise<ItemOutcome> {
    const { id, lane, attempts } = this.row;
    const nextAt = this.waitUntil ?? this.#deps.core.clock.now();
    const data = {
      item: id,
      handler: null,
      attempts,
      delayMs: Math.max(0, nextAt - this.#deps.core.clock.now()),
      code,
      reason: REASON_IN_STORE,
    };
    const due = putDue({ id: `inbox/${id}`, kind: 'inbox', at: nextAt, capability: null, lane, data: id });
    await this.unit(
      unit,
      [statement({ id, nextAt, error: this.#waitError }), due],
      [this.event({ type: 'inbox.waiting', data })],
    );
    this.#deps.after.due(nextAt);
    return 'waiting';
  }

  wait(until: number, error: string): void {
    this.waitUntil = Math.min(this.waitUntil ?? until, until);
    this.#waitError = error;
  }

  /** Commits a handler's decision. The last transaction of the item also claims the next item of the lane. */
  async decide(unit: Unit, { decided, ends }: { decided: Decided; ends: boolean }): Promise<Decision> {
    const { after, core } = this.#deps;
    const follower = ends ? this.#next() : undefined;
    const claim = follower && { follower, statement: claimNextItem({ id: follower.id }) };
    const answer = await commitDecided(after, decided, () => commitWith(core, unit, claim));
    if (hasMoved(answer)) return { kind: 'moved' };
    if (answer.kind === 'refused') {
      if (answer.guard !== 'item') return { kind: 'refused', detail: answer.detail };
      this.#isGone = true;
      return { kind: 'gone' };
    }
    this.#sends += decided.sends;
    return { kind: 'committed' };
  }

  event(event: Parameters<typeof eventOf>[1]): NewEvent {
    return { endpoint: this.row.endpoint, ...eventOf(this.effects, event) };
  }

  async unit(name: string, statements: readonly Statement[], events: readonly NewEvent[]): Promise<void> {
    const unit = { name, statements: [...statements, ...recordEvents(events)] };
    const answer = await commitClaiming(this.#deps.core, unit);
    if (answer.kind === 'committed') return;
    if (answer.guard !== 'item') throw new Error(`a unit of the item was refused: ${answer.detail}`);
    this.#isGone = true; // an operator ended the item: nothing is left to store
  }

  tell(decided: Decided): void {
    tellDecided(this.#deps.after, decided);
  }
}
