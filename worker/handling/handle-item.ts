// Runs one item through its handlers. Each handler's decision is one transaction, which also marks the handler as done. The last transaction ends the
// item.
//
//   HANDLE-ITEM-1  A handler whose transaction is committed never runs again for this item. Before the commit nothing of it is visible.
//   HANDLE-ITEM-2  A failing handler delays only itself. A failing `before` handler delays the handlers after it too.
//   HANDLE-ITEM-3  Attempts are bounded. At the bound the handler ends as a dead letter with its error, and the item goes on without it. An attempt
//                  that ended because the storage failed does not count.
//   HANDLE-ITEM-4  A handler whose state changed before its commit runs again, at most ten times.
import { coerceError } from '../../shared/svc-error.ts';
import { reasonOf } from '../core/core.ts';
import { ownFailureIn } from '../core/own-failure.ts';
import type { Statement } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { ClaimedItem, ItemOutcome } from '../inbox/dispatcher.ts';
import { retryDelayMs } from '../inbox/inbox-machine.ts';
import { type Death, forgetOnce, holdItem, postponeRun, readRuns, setVerdict } from '../inbox/inbox-store.ts';
import { type Payload, readPayload } from '../inbox/payload.ts';
import { decideEffects, writtenEffects } from './effects/effects.ts';
import { readSentMessages } from './effects/sent-messages.ts';
import { writeDialog } from './handling-store.ts';
import { type HandlingDeps, ItemLedger } from './item-ledger.ts';
import type { GenerationView } from './plan/generation-view.ts';
import { causeOf, dialogOwner, type PlannedStep, planItem } from './plan/plan.ts';
import { type Failure, failureOf, sorryEffect } from './run/failure.ts';
import type { Effect, Run } from './run/run.ts';
import { runStep, type StepResult } from './run/run-step.ts';

const STATE_MOVES = 10;
export async function handleItem(
  deps: HandlingDeps,
  generation: GenerationView,
  item: ClaimedItem,
): Promise<ItemOutcome> {
  const handling = new ItemHandling(deps, generation, item);
  const outcome = await handling.handle();
  if (outcome !== 'gone') deps.after.handled(item.row, outcome, handling.death);
  return outcome;
}

const deathOf = (handler: string, error: string): Death => ({ code: 'handler_failed', handler, error });

/** The result of one step for the rest of the item. */
type StepEnd = 'next' | 'stop' | 'wait' | 'ended';

class ItemHandling {
  readonly #deps: HandlingDeps;
  readonly #generation: GenerationView;
  readonly #ledger: ItemLedger;
  #payload: Payload | undefined;

  constructor(deps: HandlingDeps, generation: GenerationView, item: ClaimedItem) {
    this.#deps = deps;
    this.#generation = generation;
    this.#ledger = new ItemLedger(deps, generation, item);
  }

  get death(): Death | undefined {
    return this.#ledger.death;
  }

  async handle(): Promise<ItemOutcome> {
    const outcome = await this.#handle().catch((error: unknown) => this.#ledger.broken(error));
    return this.#ledger.isGone ? 'gone' : outcome;
  }

  async #handle(): Promise<ItemOutcome> {
    const { core, dialogs } = this.#deps;
    let steps: readonly PlannedStep[];
    if (await this.#ledger.setAside()) return 'waiting';
    // The attempt is counted before the payload is read, so a payload that kills the process is counted too.
    if (!(await this.#ledger.claim())) return 'gone';
    if (await this.#ledger.isPoison())
      return this.#ledger.bury(
        'ended_process',
        `ended the process ${this.#ledger.row.attempts - 1} times before a handler was found`,
      );
    try {
      this.#payload = readPayload(this.#ledger.row.kind, this.#ledger.row.payload_version, this.#ledger.row.body);
      const { refusedPress } = this.#deps.after;
      const plan = { core, dialogs, generation: this.#generation, refusedPress };
      steps = await planItem(plan, this.#ledger.row, this.#payload);
    } catch (error) {
      if (coerceError(error).code === 'storage_unavailable') throw error; // a fault of the storage, not of the item: retried
      return this.#ledger.bury('unreadable', reasonOf(core, error));
    }
    if (steps.length === 0) return this.#ledger.finish([], []);
    const runs = this.#ledger.mayHaveRun ? await readRuns(core.reader, this.#ledger.row.id) : [];
    const deadRun = runs.find((run) => run.verdict === 'dead');
    if (deadRun !== undefined) this.#ledger.death = deathOf(deadRun.handler, deadRun.error ?? '');
    const runOf = ({ capability }: PlannedStep) => runs.find(({ handler }) => handler === capability?.keptAs);
    const open = steps.filter((step) => runOf(step)?.verdict == null);
    if (runs.some((run) => run.verdict === 'stop')) return this.#ledger.finish([], []);
    for (const [index, step] of open.entries()) {
      const end = await this.#step(step, { isLast: index === open.length - 1, run: runOf(step) });
      if (end === 'ended' || this.#ledger.isGone) return this.#ledger.death === undefined ? 'done' : 'dead';
      if (end === 'stop') break;
      if (end === 'wait' && step.isBefore) break;
    }
    return this.#ledger.waitUntil === undefined ? this.#ledger.finish([], []) : this.#ledger.postpone();
  }

  async #step(
    step: PlannedStep,
    {
      isLast,
      run: known,
    }: { isLast: boolean; run: { attempts: number; failures: number; next_at: number | null } | undefined },
  ): Promise<StepEnd> {
    const { core } = this.#deps;
    const { capability } = step;
    if (step.step.kind === 'overlong') {
      this.#deps.after.overlong(step.step.capability);
      return this.#endStep(step, { kind: 'dead', reason: step.step.reason, error: undefined }, isLast);
    }
    if (capability === undefined)
      return this.#endStep(
        step,
        { kind: 'dead', reason: `its handler ${step.missing ?? ''} is gone`, error: undefined },
        isLast,
      );
    if (known?.next_at != null && known.next_at > core.clock.now()) {
      this.#ledger.wait(known.next_at, 'waits for its next attempt');
      return 'wait';
    }
    const attempt = await this.#ledger.countAttempt(capability.keptAs, known?.attempts);
    const limit = capability.spec.attempts ?? this.#deps.maxAttempts();
    if (attempt > limit)
      return this.#endStep(
        step,
        { kind: 'dead', reason: `ended the process or was cut ${attempt - 1} times`, error: undefined },
        isLast,
      );
    const failed = (error: unknown, reason = reasonOf(core, error)): Promise<StepEnd> => {
      const failure = failureOf(error, { reason, attempt, limit });
      return this.#fail(step, { failure, attempt, failures: known?.failures ?? 0, isLast });
    };
    const turn = this.#deps.context.turns.begin();
    let moved: Run | undefined;
    try {
      for (let moves = 0; moves <= STATE_MOVES; moves += 1) {
        const result = await runStep({
          deps: { generation: this.#generation, ...this.#deps.context },
          step,
          cause: causeOf(this.#ledger.row, this.#payload, attempt),
          moved,
        });
        const ours = result.kind === 'failed' ? ownFailureIn(result.error) : undefined;
        if (ours !== undefined) throw ours; // a failure of the host inside `get`, `once` or `readFile` does not use up an attempt
        if (result.kind === 'failed') return await failed(result.error);
        if (FAILPOINTS) await core.point('decided');
        const committed = turn.mayCommit(result.run) ? await this.#commit(step, result, isLast) : 'moved';
        if (FAILPOINTS && committed !== 'moved') await core.point('committed');
        if (committed instanceof Error) return await failed(committed);
        if (committed !== 'moved') return committed;
        moved = result.run;
        await turn.take(moved);
      }
      return await failed(undefined, `the state it depends on moved ${STATE_MOVES} times`);
    } finally {
      turn.end();
    }
  }

  /** An error if the decision cannot be stored. A retry would fail in the same way. */
  async #commit(
    step: PlannedStep,
    result: Extract<StepResult, { kind: 'decided' }>,
    isLast: boolean,
  ): Promise<StepEnd | 'moved' | Error> {
    const { run } = result;
    const sent = await readSentMessages(this.#deps.core, run.effects);
    const of = { sent, ...this.#ledger.effects, cause: causeOf(this.#ledger.row, this.#payload, 1) };
    const decided = writtenEffects(of, run.effects);
    if (decided instanceof Error) return decided;
    const statements = [
      ...decided.statements,
      ...this.#dialog(run),
      ...(run.steps.size > 0
        ? [forgetOnce({ item: this.#ledger.row.id, handler: step.capability?.keptAs ?? '' })]
        : []),
    ];
    const ends = (isLast || run.stopped) && this.#ledger.waitUntil === undefined && this.#ledger.death === undefined;
    if (!ends && statements.length + decided.events.length === 0 && !run.stopped && step.isQuiet) {
      this.#ledger.tell(decided);
      return 'next';
    }
    const closing = ends
      ? this.#ledger.closing([], decided.sends)
      : {
          statements: [
            holdItem({ id: this.#ledger.row.id }),
            setVerdict({
              item: this.#ledger.row.id,
              handler: step.capability?.keptAs ?? '',
              verdict: run.stopped ? 'stop' : 'done',
              error: null,
            }),
          ],
          events: [],
        };
    const unit = {
      name: 'inbox.handled',
      statements: [...closing.statements, ...statements, ...recordEvents([...decided.events, ...closing.events])],
    };
    const decision = await this.#ledger.decide(unit, { decided, ends });
    if (decision.kind === 'moved') return 'moved';
    if (decision.kind === 'gone') return 'ended';
    if (decision.kind === 'refused')
      return new Error(`what ${step.capability?.id ?? 'it'} decided cannot be stored: ${decision.detail}`);
    if (run.dialog === null && this.#dialogOwner !== undefined) this.#deps.dialogs.closed(this.#dialogOwner);
    return ends ? 'ended' : run.stopped ? 'stop' : 'next';
  }

  #dialog({ dialog }: Run): readonly Statement[] {
    const owner = this.#dialogOwner;
    if (dialog === undefined || owner === undefined) return [];
    if (dialog !== null) this.#deps.dialogs.opens(owner);
    return [writeDialog(owner, dialog)];
  }

  get #dialogOwner(): string | undefined {
    return this.#payload?.kind === 'arrival'
      ? dialogOwner(this.#ledger.row.endpoint, this.#payload.arrival)
      : undefined;
  }

  async #fail(
    step: PlannedStep,
    { failure, attempt, failures, isLast }: { failure: Failure; attempt: number; failures: number; isLast: boolean },
  ): Promise<StepEnd> {
    const { core } = this.#deps;
    const handler = step.capability?.keptAs ?? '';
    if (failure.kind !== 'told')
      this.#deps.after.failed({
        capability: step.capability?.id ?? '',
        slot: step.capability?.slot ?? '',
        during: 'handling',
        item: this.#ledger.row.id,
        generation: this.#generation.number,
        error: failure.error,
        outcome: failure.kind,
      });
    if (failure.kind !== 'wait') return this.#endStep(step, failure, isLast);
    const nextAt = core.clock.now() + (failure.afterMs ?? retryDelayMs(failures + 1)); // attempts cut by a crash do not count
    await this.#ledger.unit(
      'inbox.run_postponed',
      [
        holdItem({ id: this.#ledger.row.id }),
        postponeRun({ item: this.#ledger.row.id, handler, attempts: attempt, nextAt, error: failure.reason }),
      ],
      [],
    );
    this.#ledger.wait(nextAt, failure.reason);
    return 'wait';
  }

  /** Ends a step without its effects: the user is told, or the step is a dead letter. */
  async #endStep(step: PlannedStep, failure: Exclude<Failure, { kind: 'wait' }>, isLast: boolean): Promise<StepEnd> {
    const handler = step.capability?.keptAs ?? step.missing ?? '';
    const effects: Effect[] = [];
    const cause = causeOf(this.#ledger.row, this.#payload, 1);
    if (failure.kind === 'told' || step.claims)
      effects.push(
        ...sorryEffect(failure, {
          cause,
          handler,
          ref: this.#ledger.row.id,
          at: this.#deps.core.clock.now(),
          language: this.#generation.language(cause.chat?.conversation),
        }),
      );
    const of = { ...this.#ledger.effects, cause };
    const told = writtenEffects(of, effects);
    if (told instanceof Error) this.#deps.core.log.error({ item: this.#ledger.row.id, err: told }, 'nobody is told');
    const decided = told instanceof Error ? decideEffects(of, []) : told;
    const verdict = setVerdict({
      item: this.#ledger.row.id,
      handler,
      verdict: failure.kind,
      error: failure.kind === 'dead' ? failure.reason : null,
    });
    if (failure.kind === 'dead') this.#ledger.death ??= deathOf(handler, failure.reason);
    const ends = isLast && this.#ledger.waitUntil === undefined;
    const closing = ends
      ? this.#ledger.closing([verdict], decided.sends)
      : { statements: [holdItem({ id: this.#ledger.row.id }), verdict], events: [] };
    const statements = [
      ...closing.statements,
      ...decided.statements,
      ...recordEvents([...decided.events, ...closing.events]),
    ];
    const decision = await this.#ledger.decide({ name: 'inbox.ended', statements }, { decided, ends });
    if (decision.kind === 'refused') throw new Error(`the end of the item was refused: ${decision.detail}`);
    if (decision.kind === 'moved') throw new Error('the end of the item was refused: state moved that it did not read');
    if (FAILPOINTS) await this.#deps.core.point('committed');
    return ends ? 'ended' : 'next';
  }
}
