// One attempt at one send: claims it, calls the platform, and stores the result.

import { coerceError, SvcError } from '../../shared/svc-error.ts';
import { delay, within } from '../../shared/time/abort.ts';
import { wholeWaitMs } from '../../shared/time/backoff.ts';
import { waitText } from '../../shared/time/wait-text.ts';
import { ALERTS_ACTOR } from '../core/actors.ts';
import { reasonOf } from '../core/core.ts';
import { tellDead } from '../core/dead-letter-log.ts';
import { ownFailureIn } from '../core/own-failure.ts';
import type { Statement } from '../database/unit.ts';
import { type Claim, commitWith, type NextInLane } from '../lanes/claim-ahead.ts';
import { commitClaiming } from '../lanes/claims.ts';
import type { LaneOutcome } from '../lanes/lane-runner.ts';
import { quarantineMs, quarantineReason } from '../lanes/quarantine.ts';
import { errorCode } from '../sdk/errors.ts';
import type { Can, Outgoing } from '../sdk/index.ts';
import { askedWaitMs, MOST_ASKED_WAIT_MS } from '../sdk/platform/asked-wait.ts';
import { type AttemptEnd, judge, noResult, readResult, type SendVerdict, sendDelayMs } from './outbox-machine.ts';
import {
  claimNextSend,
  claimSend,
  deathsOf,
  type NewOutboxRow,
  type OutboxRow,
  postponeSend,
  readSend,
  type SendHead,
} from './outbox-store.ts';
import { asResend, dropsResend, knowsKeys } from './resends.ts';
import { resolveCall } from './resolve-call.ts';
import { type SendSurface, takesAtOnce } from './send-surface.ts';
import { codeOf, type EndedSend, putOffSend, unitOf } from './send-units.ts';
import type { Pace, SenderOptions } from './sender-options.ts';

const SEND_TIMEOUT_MS = 60_000;
const STORAGE_RETRY_MS = 1_000;
/** A shorter wait of an account is usual, and not shown. */
const SHOWN_WAIT_MS = 60_000;

/**
 * `returned`: the account did not take the call; `counted` if the platform said so in answer to this send. `ours`: the host failed, for example while
 * reading a file.
 */
type CallEnd =
  | AttemptEnd
  | { readonly kind: 'returned'; readonly reason: string; readonly counted: boolean }
  | { readonly kind: 'ours'; readonly reason: string };

type LaterEnd = Extract<AttemptEnd, { readonly kind: 'later' }>;

export interface Turn {
  readonly item: SendHead;
  /** True if the send before it has claimed it. */
  readonly isClaimed: boolean;
  /** Called when the send was under way at two process deaths. It waits and then goes out alone. */
  readonly setAside: () => void;
  readonly next: () => NextInLane | undefined;
}

export class SendAttempt {
  readonly #options: SenderOptions;
  readonly #pace: Pace;
  readonly #item: SendHead;
  readonly #turn: Turn;
  /** The row as it was stored, if its attempt was counted with it. */
  #claimed: NewOutboxRow | undefined;

  constructor(options: SenderOptions, pace: Pace, turn: Turn) {
    this.#options = options;
    this.#pace = pace;
    this.#turn = turn;
    this.#item = turn.item;
  }

  async run(): Promise<LaneOutcome> {
    const { core, recent } = this.#options;
    await recent.arrival(this.#item.id);
    const kept = recent.take(this.#item.id);
    if (kept !== undefined && (kept.state === 'sending' || this.#turn.isClaimed))
      this.#claimed = Object.assign({ ...kept }, { state: 'sending' } as const);
    const row = kept === undefined ? await readSend(core.reader, this.#item.id) : this.#rowOf(kept);
    if (row === undefined || !['pending', 'sending', 'waiting'].includes(row.state)) return 'left';
    const outcome = await this.#run(row);
    recent.take(row.id); // cached after this run had begun from the disk, so stale by now
    if (outcome === 'again' && this.#claimed !== undefined) recent.keep(this.#claimed); // the call was not made
    return outcome;
  }

  /** The cached row, with the attempts made before this one. */
  #rowOf(kept: NewOutboxRow): OutboxRow {
    return { seq: this.#item.seq, ...kept, attempts: 0 };
  }

  async #run(row: OutboxRow): Promise<LaneOutcome> {
    const { core, surface } = this.#options;
    const state = surface(row.endpoint);
    if (state.kind === 'waiting') return 'again';
    if (state.kind === 'missing')
      return this.#end(
        row,
        { kind: 'dead', reason: `endpoint ${row.endpoint} is not in the configuration`, code: 'endpoint_missing' },
        row.attempts,
      );
    const call = await resolveCall(core, row);
    if (call.kind === 'refused')
      return this.#end(row, { kind: 'dead', reason: call.reason, code: 'unresolved' }, row.attempts);
    if (row.state === 'sending' && this.#claimed === undefined) {
      const lost = this.#judge(row, { kind: 'lost' }, { attempts: row.attempts, can: state.surface.can });
      core.log.warn(
        { send: row.id, endpoint: row.endpoint, verdict: lost.kind },
        'an attempt to send ended without a result',
      );
      if (lost.kind !== 'waiting') return this.#end(row, lost, row.attempts);
      const waitMs = quarantineMs(deathsOf(row), this.#options.quarantineMs());
      if (waitMs !== undefined) return this.#setAside(row, waitMs);
    }
    const { can } = state.surface;
    return this.#attempt(row, { surface: state.surface, outgoing: await asResend(core, call.call, { row, can }) });
  }

  async #attempt(
    row: OutboxRow,
    { surface, outgoing }: { readonly surface: SendSurface; readonly outgoing: Outgoing },
  ): Promise<LaneOutcome> {
    const { rate, slots, alone, quiet } = this.#pace;
    const { endpoint } = row;
    await rate.take(endpoint, row.conversation, surface.rate);
    const call = async (): Promise<CallEnd | LaneOutcome> => {
      if (this.#options.surface(endpoint).kind !== 'ready' || quiet.has(endpoint)) return 'again'; // may have changed during the wait
      if (!(await this.#claim(row))) return 'left';
      if (FAILPOINTS) await this.#options.core.point('sending');
      return this.#call(row, surface, outgoing);
    };
    if (knowsKeys(surface.can)) return this.#settle(row, await slots.use(endpoint, call), surface);
    return alone.use(endpoint, async () => this.#settle(row, await call(), surface));
  }

  async #settle(row: OutboxRow, end: CallEnd | LaneOutcome, surface: SendSurface): Promise<LaneOutcome> {
    if (typeof end === 'string') return end;
    const { core } = this.#options;
    const attempts = row.attempts + 1;
    if (end.kind !== 'ours') this.#pace.ours.end(row.id);
    if (end.kind === 'later') this.#slow(row, end, surface);
    if (FAILPOINTS) await core.point('posted');
    const outcome = await this.#stored(() => {
      if (end.kind === 'returned') return this.#returnToLine(row, end);
      if (end.kind === 'later' && (wholeWaitMs(end.afterMs) ?? 0) > MOST_ASKED_WAIT_MS)
        return this.#putOffFor(row, `the platform asks to wait ${waitText(end.afterMs)}`, MOST_ASKED_WAIT_MS);
      const { can } = surface;
      const verdict = this.#judge(row, end.kind === 'ours' ? { ...end, kind: 'threw' } : end, { attempts, can });
      // The send may have gone out and must not be repeated. The operator decides, even after a failure of the host.
      return end.kind === 'ours' && verdict.kind !== 'unknown'
        ? this.#putOff(row, end.reason)
        : this.#end(row, verdict, attempts);
    });
    if (FAILPOINTS) await core.point('sent');
    return outcome;
  }

  /** False if an operator ended the send meanwhile. */
  async #claim({ id }: OutboxRow): Promise<boolean> {
    const isClaimed = this.#claimed !== undefined;
    this.#claimed = undefined;
    if (isClaimed) return true;
    const answer = await commitClaiming(this.#options.core, { name: 'outbox.claim', statements: [claimSend({ id })] });
    return answer.kind === 'committed';
  }

  /** Stores the platform's answer, retrying until the storage takes it. The call is not made again meanwhile. */
  async #stored(store: () => Promise<LaneOutcome>): Promise<LaneOutcome> {
    for (;;) {
      try {
        return await store();
      } catch (error) {
        if (coerceError(error).code !== 'storage_unavailable') throw error;
        await delay(STORAGE_RETRY_MS, undefined, this.#options.core.clock);
      }
    }
  }

  async #call(row: OutboxRow, surface: SendSurface, outgoing: Outgoing): Promise<CallEnd> {
    const { core } = this.#options;
    try {
      const end = Promise.resolve(surface.send(outgoing)).then(readResult); // may not be a promise in plain JavaScript
      return await within(end, { ms: SEND_TIMEOUT_MS, late: noResult(SEND_TIMEOUT_MS), clock: core.clock });
    } catch (error) {
      const ours = ownFailureIn(error);
      const reason = reasonOf(core, ours ?? error);
      if (ours === undefined || row.last_error !== reason)
        core.log.warn({ send: row.id, endpoint: row.endpoint, error: reason }, 'send failed');
      if (ours !== undefined) return { kind: 'ours', reason };
      if (error instanceof SvcError && error.code === 'endpoint_unavailable')
        return { kind: 'returned', reason, counted: false };
      if (errorCode(error) !== 'account_failed') return { kind: 'threw', reason };
      surface.accountFailed(reason, String((error as { remedy?: unknown }).remedy ?? ''));
      return { kind: 'returned', reason, counted: true };
    }
  }

  #judge(
    row: OutboxRow,
    end: AttemptEnd,
    { attempts, can }: { readonly attempts: number; readonly can: Can },
  ): SendVerdict {
    const { maxAttempts, onUnknown } = this.#options.policy();
    const unsure = row.unsure === 'hold' || onUnknown === 'hold' ? 'hold' : 'again';
    const isLost = end.kind === 'lost';
    const failures = row.failures + (isLost ? 0 : 1);
    const againAt = this.#options.core.clock.now() + (isLost ? 0 : sendDelayMs(failures));
    return judge(end, { attempts, failures, maxAttempts, idempotent: dropsResend(can, row, againAt), unsure });
  }

  /**
   * The account is refused or gone, so the send waits for it. A send that has the account refused each time becomes a dead letter at the bound of
   * attempts.
   */
  async #returnToLine(
    row: OutboxRow,
    { reason, counted }: { readonly reason: string; readonly counted: boolean },
  ): Promise<LaneOutcome> {
    const at = this.#options.core.clock.now();
    const attempts = row.attempts + Number(counted);
    if (counted && attempts >= this.#options.policy().maxAttempts) {
      const why = `the platform refused the account at each of ${attempts} attempts: ${reason}`;
      return this.#end(row, { kind: 'dead', reason: why, code: 'account_failed' }, attempts);
    }
    await this.#unit('outbox.returned', [
      postponeSend({ id: row.id, nextAt: at, error: reason, attempts, failures: row.failures }),
    ]);
    return 'again';
  }

  /** Postpones the send after a failure of the host. No attempt is used up. */
  async #putOff(row: OutboxRow, reason: string): Promise<LaneOutcome> {
    return this.#putOffFor(row, reason, this.#pace.ours.next(row.id));
  }

  async #setAside(row: OutboxRow, waitMs: number): Promise<LaneOutcome> {
    const reason = quarantineReason(deathsOf(row));
    const outcome = await this.#putOffFor(row, reason, waitMs);
    this.#turn.setAside();
    const { log } = this.#options.core;
    log.warn(
      { send: row.id, endpoint: row.endpoint, waitMs },
      `a send is set aside, ${reason}: svc outbox show ${row.id}`,
    );
    return outcome;
  }

  async #putOffFor(row: OutboxRow, reason: string, waitMs: number): Promise<LaneOutcome> {
    const { core, due, ended } = this.#options;
    const nextAt = core.clock.now() + waitMs;
    await this.#unit('outbox.put_off', putOffSend(row, { reason, nextAt, lane: this.#item.lane }));
    ended?.(row, 'put_off');
    due(nextAt);
    return 'waiting';
  }

  /** The platform asks to wait: the whole account, or this conversation. A long wait is shown at the account. */
  #slow({ endpoint }: OutboxRow, { afterMs, account, accountMs }: LaterEnd, surface: SendSurface): void {
    const toldMs = wholeWaitMs(afterMs) ?? 0;
    const ms = account === true ? askedWaitMs(wholeWaitMs(accountMs ?? afterMs) ?? 0) : 0;
    if (ms > 0) {
      this.#options.core.log.warn({ endpoint, ms, toldMs }, 'the platform asks this account to wait');
      this.#pace.quiet.hold(endpoint, ms);
    }
    if (ms >= SHOWN_WAIT_MS || toldMs > MOST_ASKED_WAIT_MS) surface.slowed(askedWaitMs(toldMs), toldMs);
  }

  async #end(row: OutboxRow, verdict: SendVerdict, attempts: number): Promise<LaneOutcome> {
    const { core, due, ended } = this.#options;
    const at = core.clock.now();
    const outcome = await this.#note(row, { verdict, attempts, at });
    ended?.(row, verdict.kind);
    if (verdict.kind === 'waiting') due(at + verdict.delayMs);
    return outcome;
  }

  async #note(row: OutboxRow, ended: EndedSend): Promise<LaneOutcome> {
    const { clock, runtimeId } = this.#options.core;
    const { verdict } = ended;
    const { name, statements, outcome } = unitOf(row, ended, { lane: this.#item.lane, runtimeId, now: clock.now() });
    const isStored = await this.#unit(name, statements, verdict.kind === 'sent' ? this.#claimOfNext(row) : undefined);
    if (isStored && (verdict.kind === 'dead' || verdict.kind === 'unknown')) {
      const { id, endpoint, actor } = row;
      tellDead(this.#options.core, verdict.kind === 'dead' ? 'outbox' : 'unknown', {
        id,
        endpoint,
        code: codeOf(verdict),
        isOfAlert: actor === ALERTS_ACTOR,
      });
    }
    return outcome;
  }

  /** Claims the next send if its platform takes calls at once. Otherwise an attempt that never began would count as one with an unknown result. */
  #claimOfNext({ endpoint }: OutboxRow): Claim | undefined {
    const follower = takesAtOnce(this.#options.surface(endpoint)) ? this.#turn.next() : undefined;
    return follower && { follower, statement: claimNextSend({ id: follower.id }) };
  }

  /** False if an operator ended the send meanwhile: the guard `send` refuses the unit. */
  async #unit(name: string, statements: readonly Statement[], claim?: Claim): Promise<boolean> {
    const answer = await commitWith(this.#options.core, { name, statements }, claim);
    if (answer.kind === 'refused' && answer.guard !== 'send') throw new Error(`${name} was refused: ${answer.detail}`);
    return answer.kind === 'committed';
  }
}
