// One item through its handlers. Each handler is a unit of its own: what it decided is committed with the note that it is handled,
// and the last one's unit ends the item.
//
//   H1  After a handler's unit is committed it is never run again for this item; before that, nothing of it is visible.
//   H2  A failing handler holds back only itself, a failing `before` the rest too.
//   H3  Attempts are bounded; at the bound the handler ends as a dead letter with its error, and the item goes on without it.
//   H4  A guard that failed because state moved runs the handler again, at most ten times.
import { coerceError, messageOf } from '../../shared/svc-error.ts';
import type { Core } from '../core.ts';
import type { Statement } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import type { ItemOutcome } from '../inbox/dispatcher.ts';
import { retryDelayMs } from '../inbox/inbox-machine.ts';
import type { InboxRow } from '../inbox/inbox-store.ts';
import {
  buryItem,
  claimItem,
  countRun,
  finishItem,
  forgetOnce,
  holdItem,
  postponeItem,
  postponeRun,
  readRuns,
  setVerdict,
} from '../inbox/inbox-store.ts';
import { type Payload, readPayload } from '../inbox/payload.ts';
import { putDue } from '../schedule/due-store.ts';
import type { ContextDeps } from './context.ts';
import { type Decided, decideEffects, type EffectsOf, eventOf, readPlaces } from './effects.ts';
import { type Failure, failureOf, sorryEffect } from './failure.ts';
import type { GenerationView } from './generation-view.ts';
import { writeDialog } from './handling-store.ts';
import { causeOf, dialogOwner, type PlannedStep, planItem } from './plan.ts';
import type { Effect, Run } from './run.ts';
import { runStep, type StepResult } from './run-step.ts';

export interface HandlingDeps {
  readonly core: Core;
  readonly context: Omit<ContextDeps, 'generation'>;
  /** Bound of attempts where a handler names none. */
  readonly maxAttempts: () => number;
  /** Something was decided that others wait for. */
  readonly after: {
    sends(): void;
    due(at: number): void;
    counts(counts: Decided['counts']): void;
    failed(capability: string, slot: string, failure: Failure): void;
    handled(row: InboxRow, outcome: ItemOutcome): void;
  };
}

const STATE_MOVES = 10;
/** Events hold no message of an exception: it may quote what a person wrote. The item has it. */
const REASON_IN_STORE = 'a handler failed: the item has its error';

export async function handleItem(deps: HandlingDeps, generation: GenerationView, row: InboxRow): Promise<ItemOutcome> {
  const outcome = await new ItemHandling(deps, generation, row).handle();
  if (outcome !== 'gone') deps.after.handled(row, outcome);
  return outcome;
}

/** What one step leaves for the rest of the item. */
type StepEnd = 'next' | 'stop' | 'wait' | 'ended';

class ItemHandling {
  readonly #deps: HandlingDeps;
  readonly #generation: GenerationView;
  #row: InboxRow;
  readonly #effects: EffectsOf;
  readonly #startedAt: number;
  #payload: Payload | undefined;
  #waitUntil: number | undefined;
  #waitError = '';
  #deadError: string | undefined;
  #sends = 0;
  /** An operator ended the item meanwhile: nothing more is decided about it. */
  #gone = false;

  constructor(deps: HandlingDeps, generation: GenerationView, row: InboxRow) {
    this.#deps = deps;
    this.#generation = generation;
    this.#row = row;
    this.#startedAt = deps.core.clock.now();
    this.#effects = {
      core: deps.core,
      generation,
      cause: causeOf(row, undefined, 1),
      itemId: row.id,
      correlationId: row.correlation_id,
      actor: row.actor,
    };
  }

  async handle(): Promise<ItemOutcome> {
    const outcome = await this.#handle();
    return this.#gone ? 'gone' : outcome;
  }

  async #handle(): Promise<ItemOutcome> {
    const { core } = this.#deps;
    let steps: readonly PlannedStep[];
    // A pattern of a plugin may never come back: then the attempt is counted before the item is matched against it.
    const early = hasPatterns(this.#generation);
    if (early && !(await this.#claim())) return 'gone';
    if (await this.#isPoison())
      return this.#bury(null, `ended the process ${this.#row.attempts - 1} times before a handler was found`, []);
    try {
      this.#payload = readPayload(this.#row.kind, this.#row.payload_version, this.#row.body);
      steps = await planItem({ core, generation: this.#generation }, this.#row, this.#payload);
    } catch (error) {
      if (coerceError(error).code === 'storage_unavailable') throw error; // the item is fine: it is tried again
      return this.#bury(null, messageOf(error), []);
    }
    if (steps.length === 0) return this.#finish([], []);
    if (!early && !(await this.#claim())) return 'gone';
    // A replayed item counts its attempts anew, but what its handlers had finished stays finished: its error tells it from a new one.
    const runs =
      this.#row.attempts > 1 || this.#row.last_error !== null ? await readRuns(core.reader, this.#row.id) : [];
    this.#deadError = runs.find((run) => run.verdict === 'dead')?.error ?? undefined;
    const open = steps.filter(({ capability }) => runs.find((run) => run.handler === capability?.id)?.verdict == null);
    if (runs.some((run) => run.verdict === 'stop')) return this.#finish([], []);
    for (const [index, step] of open.entries()) {
      const end = await this.#step(step, {
        isLast: index === open.length - 1,
        run: runs.find((run) => run.handler === step.capability?.id),
      });
      if (end === 'ended' || this.#gone) return this.#deadError === undefined ? 'done' : 'dead';
      if (end === 'stop') break;
      if (end === 'wait' && step.isBefore) break;
    }
    return this.#waitUntil === undefined ? this.#finish([], []) : this.#postpone();
  }

  /** More claims than handlers have run, by more than the bound: it ends the process while it is matched. */
  async #isPoison(): Promise<boolean> {
    const bound = this.#deps.maxAttempts();
    if (this.#row.attempts <= bound) return false;
    const runs = await readRuns(this.#deps.core.reader, this.#row.id);
    return this.#row.attempts > bound + runs.reduce((sum, run) => sum + run.attempts, 0);
  }

  /** Counts the attempt on disk before anything of a plugin runs. False when somebody else ended the item. */
  async #claim(): Promise<boolean> {
    const answer = await this.#deps.core.writer.commit({
      name: 'inbox.claim',
      statements: [claimItem({ id: this.#row.id })],
    });
    if (answer.kind === 'refused') return false;
    this.#row = { ...this.#row, state: 'handling', attempts: this.#row.attempts + 1 };
    if (FAILPOINTS) await this.#deps.core.point('attempt');
    return true;
  }

  async #step(
    step: PlannedStep,
    { isLast, run: known }: { isLast: boolean; run: { attempts: number; next_at: number | null } | undefined },
  ): Promise<StepEnd> {
    const { core } = this.#deps;
    const { capability } = step;
    if (capability === undefined)
      return this.#endStep(
        step,
        { kind: 'dead', reason: `its handler ${step.missing ?? ''} is gone`, error: undefined },
        isLast,
      );
    if (known?.next_at != null && known.next_at > core.clock.now()) {
      this.#wait(known.next_at, 'waits for its next attempt');
      return 'wait';
    }
    const attempt = await this.#countAttempt(capability.id, known?.attempts);
    const limit = capability.spec.attempts ?? this.#deps.maxAttempts();
    if (attempt > limit)
      return this.#endStep(
        step,
        { kind: 'dead', reason: `ended the process or was cut ${attempt - 1} times`, error: undefined },
        isLast,
      );
    for (let moves = 0; ; moves += 1) {
      const result = await runStep({
        deps: { ...this.#deps.context, generation: this.#generation },
        step,
        cause: causeOf(this.#row, this.#payload, attempt),
      });
      if (result.kind === 'failed')
        return this.#fail(step, { failure: failureOf(result.error, attempt, limit), attempt, isLast });
      if (FAILPOINTS) await core.point('decided');
      const committed = await this.#commit(step, result, isLast);
      if (committed !== 'moved') {
        if (FAILPOINTS) await core.point('committed');
        return committed;
      }
      if (moves >= STATE_MOVES)
        return this.#fail(step, {
          failure: failureOf(new Error(`the state it depends on moved ${STATE_MOVES} times`), attempt, limit),
          attempt,
          isLast,
        });
    }
  }

  /** The first attempt is counted once for the item (its claim), later ones for each handler. */
  async #countAttempt(handler: string, counted: number | undefined): Promise<number> {
    if (this.#row.attempts <= 1) return 1;
    await this.#unit('inbox.attempt', [countRun({ item: this.#row.id, handler })], []);
    return (counted ?? 1) + 1;
  }

  async #commit(
    step: PlannedStep,
    result: Extract<StepResult, { kind: 'decided' }>,
    isLast: boolean,
  ): Promise<StepEnd | 'moved'> {
    const { run } = result;
    const places = await readPlaces(this.#deps.core, run.effects);
    const decided = decideEffects(
      { ...this.#effects, places, cause: causeOf(this.#row, this.#payload, 1) },
      run.effects,
    );
    const statements = [
      ...decided.statements,
      ...this.#dialog(run),
      ...(run.steps.size > 0 ? [forgetOnce({ item: this.#row.id, handler: step.capability?.id ?? '' })] : []),
    ];
    const ends = (isLast || run.stopped) && this.#waitUntil === undefined && this.#deadError === undefined;
    if (!ends && statements.length + decided.events.length === 0 && !run.stopped && step.isQuiet) {
      this.#tell(decided);
      return 'next';
    }
    this.#sends += decided.sends;
    const closing = ends
      ? this.#closing([])
      : {
          statements: [
            holdItem({ id: this.#row.id }),
            setVerdict({
              item: this.#row.id,
              handler: step.capability?.id ?? '',
              verdict: run.stopped ? 'stop' : 'done',
              error: null,
            }),
          ],
          events: [],
        };
    const answer = await this.#deps.core.writer.commit({
      name: 'inbox.handled',
      statements: [...closing.statements, ...statements, ...recordEvents([...decided.events, ...closing.events])],
    });
    if (answer.kind === 'refused') {
      if (answer.guard === 'cell') return 'moved';
      if (answer.guard === 'item') this.#gone = true;
      if (this.#gone) return 'ended';
      throw new Error(`what ${step.capability?.id ?? 'it'} decided cannot be stored: ${answer.detail}`);
    }
    this.#tell(decided);
    return ends ? 'ended' : run.stopped ? 'stop' : 'next';
  }

  #dialog(run: Run): readonly Statement[] {
    if (run.dialog === undefined || this.#payload?.kind !== 'arrival') return [];
    return [writeDialog(dialogOwner(this.#row.endpoint, this.#payload.arrival), run.dialog)];
  }

  async #fail(
    step: PlannedStep,
    { failure, attempt, isLast }: { failure: Failure; attempt: number; isLast: boolean },
  ): Promise<StepEnd> {
    const { core } = this.#deps;
    const handler = step.capability?.id ?? '';
    if (failure.kind !== 'told') this.#deps.after.failed(handler, step.capability?.slot ?? '', failure);
    if (failure.kind !== 'wait') return this.#endStep(step, failure, isLast);
    const nextAt = core.clock.now() + (failure.afterMs ?? retryDelayMs(attempt));
    await this.#unit(
      'inbox.run_postponed',
      [
        holdItem({ id: this.#row.id }),
        postponeRun({ item: this.#row.id, handler, attempts: attempt, nextAt, error: failure.reason }),
      ],
      [],
    );
    this.#wait(nextAt, failure.reason);
    return 'wait';
  }

  /** The step is over without its effects: the person was told, or it is a dead letter. */
  async #endStep(step: PlannedStep, failure: Exclude<Failure, { kind: 'wait' }>, isLast: boolean): Promise<StepEnd> {
    const handler = step.capability?.id ?? step.missing ?? '';
    const effects: Effect[] = [];
    const cause = causeOf(this.#row, this.#payload, 1);
    if (failure.kind === 'told' || step.claims)
      effects.push(...sorryEffect(failure, { cause, handler, ref: this.#row.id, at: this.#deps.core.clock.now() }));
    const decided = decideEffects({ ...this.#effects, cause }, effects);
    const verdict = setVerdict({
      item: this.#row.id,
      handler,
      verdict: failure.kind,
      error: failure.kind === 'dead' ? failure.reason : null,
    });
    if (failure.kind === 'dead') this.#deadError ??= failure.reason;
    const ends = isLast && this.#waitUntil === undefined;
    this.#sends += decided.sends;
    const closing = ends
      ? this.#closing([verdict])
      : { statements: [holdItem({ id: this.#row.id }), verdict], events: [] };
    await this.#unit(
      'inbox.ended',
      [...closing.statements, ...decided.statements],
      [...decided.events, ...closing.events],
    );
    this.#tell(decided);
    if (FAILPOINTS) await this.#deps.core.point('committed');
    return ends ? 'ended' : 'next';
  }

  /** The statements and events with which the item leaves: done, or dead when one of its handlers was. */
  #closing(more: readonly Statement[]): {
    readonly statements: readonly Statement[];
    readonly events: readonly NewEvent[];
  } {
    const at = this.#deps.core.clock.now();
    const { id, attempts } = this.#row;
    if (this.#deadError !== undefined) {
      const data = { item: id, handler: null, attempts, code: 'handler_failed', reason: REASON_IN_STORE };
      return {
        statements: [buryItem({ id, at, error: this.#deadError }), ...more],
        events: [this.#event({ type: 'inbox.dead', data })],
      };
    }
    const data = { item: id, attempts, sends: this.#sends, durationMs: at - this.#startedAt };
    return { statements: [finishItem({ id, at }), ...more], events: [this.#event({ type: 'inbox.done', data })] };
  }

  async #finish(statements: readonly Statement[], events: readonly NewEvent[]): Promise<ItemOutcome> {
    const closing = this.#closing(statements);
    await this.#unit('inbox.finished', closing.statements, [...events, ...closing.events]);
    return this.#deadError === undefined ? 'done' : 'dead';
  }

  async #bury(handler: string | null, reason: string, statements: readonly Statement[]): Promise<ItemOutcome> {
    const at = this.#deps.core.clock.now();
    const data = {
      item: this.#row.id,
      handler,
      attempts: this.#row.attempts,
      code: 'unreadable',
      reason: REASON_IN_STORE,
    };
    await this.#unit(
      'inbox.buried',
      [buryItem({ id: this.#row.id, at, error: reason }), ...statements],
      [this.#event({ type: 'inbox.dead', data })],
    );
    return 'dead';
  }

  async #postpone(): Promise<ItemOutcome> {
    const { id, lane, attempts } = this.#row;
    const nextAt = this.#waitUntil ?? this.#deps.core.clock.now();
    const data = {
      item: id,
      handler: null,
      attempts,
      delayMs: Math.max(0, nextAt - this.#deps.core.clock.now()),
      code: 'handler_failed',
      reason: REASON_IN_STORE,
    };
    const due = putDue({ id: `inbox/${id}`, kind: 'inbox', at: nextAt, capability: null, lane, data: id });
    await this.#unit(
      'inbox.postponed',
      [postponeItem({ id, nextAt, error: this.#waitError }), due],
      [this.#event({ type: 'inbox.waiting', data })],
    );
    this.#deps.after.due(nextAt);
    return 'waiting';
  }

  #wait(until: number, error: string): void {
    this.#waitUntil = Math.min(this.#waitUntil ?? until, until);
    this.#waitError = error;
  }

  #event(event: Parameters<typeof eventOf>[1]): NewEvent {
    return { ...eventOf(this.#effects, event), endpoint: this.#row.endpoint };
  }

  async #unit(name: string, statements: readonly Statement[], events: readonly NewEvent[]): Promise<void> {
    const answer = await this.#deps.core.writer.commit({ name, statements: [...statements, ...recordEvents(events)] });
    if (answer.kind === 'refused' && answer.guard === 'item') this.#gone = true; // there is nothing left to note
    if (answer.kind === 'refused' && answer.guard !== 'item') throw new Error(`${name} was refused: ${answer.detail}`);
  }

  #tell(decided: Decided): void {
    if (decided.sends > 0) this.#deps.after.sends();
    if (decided.dueAt !== undefined) this.#deps.after.due(decided.dueAt);
    if (decided.counts.length > 0) this.#deps.after.counts(decided.counts);
  }
}

const hasPatterns = ({ capabilities }: GenerationView): boolean =>
  capabilities.ofKind('on').some(({ spec }) => spec.text instanceof RegExp);
