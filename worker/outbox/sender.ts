// Brings sends to their platforms, in order within a conversation, under the rate of the endpoint.
//
//   S1  An attempt is on disk before the call, its result after it: an attempt without a result can be told after a crash.
//   S2  The key is the same on each attempt; where the platform drops repeats nothing goes out twice.
//   S3  Every send ends as sent, dead or unknown, each with an event; never silently.
//   S4  A send whose endpoint is not online waits for it without using up attempts.
import { delay, within } from '../../shared/abort.ts';
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import { type Core, reasonOf } from '../core.ts';
import type { Statement } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import { type LaneOutcome, LaneRunner } from '../lanes/lane-runner.ts';
import type { LaneLimits } from '../lanes/lanes.ts';
import { Suspects } from '../lanes/suspects.ts';
import { putDue } from '../schedule/due-store.ts';
import { errorCode } from '../sdk/errors.ts';
import type { Can, Outgoing, SendResult } from '../sdk/index.ts';
import { type AttemptEnd, judge, type SendVerdict } from './outbox-machine.ts';
import {
  claimSend,
  endSend,
  finishSend,
  type OutboxRow,
  postponeSend,
  readOpenSends,
  readSend,
  readSendLane,
  readSuspectSends,
  type SendHead,
} from './outbox-store.ts';
import { resolveCall } from './resolve-call.ts';
import { type Rate, SendRate } from './send-rate.ts';

/** One endpoint as the sender sees it. */
export interface SendSurface {
  readonly can: Can;
  readonly rate: Rate | undefined;
  send(call: Outgoing): Promise<SendResult>;
  /** The platform said that the account itself is refused. */
  accountFailed(reason: string, remedy: string): void;
}
/** `waiting`: it exists and takes nothing now. */
export type SurfaceState =
  | { readonly kind: 'ready'; readonly surface: SendSurface }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'missing' };

export interface SenderOptions {
  readonly core: Core;
  readonly limits: () => LaneLimits;
  readonly policy: () => { readonly maxAttempts: number; readonly onUnknown: 'resend' | 'hold' };
  readonly surface: (endpoint: string) => SurfaceState;
  readonly due: (at: number) => void;
  readonly ended?: (row: OutboxRow, verdict: SendVerdict['kind']) => void;
}

const SEND_TIMEOUT_MS = 60_000;
const STORAGE_RETRY_MS = 1_000;

export function createSender(options: SenderOptions): LaneRunner<SendHead> {
  const { core, limits } = options;
  const rate = new SendRate(core.clock);
  const suspects = new Suspects(core, {
    read: () => readSuspectSends(core.reader),
    what: 'sends',
    changed: () => runner.wake(),
  });
  const runner = new LaneRunner<SendHead>({
    name: 'outbox',
    core,
    limits: () => suspects.limits(limits()),
    held: (item) => options.surface(item.endpoint).kind === 'waiting',
    run: (item) => suspects.watch(item.id, () => new SendAttempt(options, rate, item).run()),
    async readOpen(after, limit) {
      await suspects.load();
      return readOpenSends(core.reader, after, limit);
    },
    readLane: (lane, after, limit) => readSendLane(core.reader, { lane, after, limit }),
  });
  return runner;
}

class SendAttempt {
  readonly #options: SenderOptions;
  readonly #rate: SendRate;
  readonly #item: SendHead;

  constructor(options: SenderOptions, rate: SendRate, item: SendHead) {
    this.#options = options;
    this.#rate = rate;
    this.#item = item;
  }

  async run(): Promise<LaneOutcome> {
    const { core, surface } = this.#options;
    const row = await readSend(core.reader, this.#item.id);
    if (row === undefined || !['pending', 'sending', 'waiting'].includes(row.state)) return 'left';
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
    if (row.state === 'sending') {
      const lost = this.#judge(row, { kind: 'lost' }, { attempts: row.attempts, can: state.surface.can });
      core.log.warn(
        { send: row.id, endpoint: row.endpoint, verdict: lost.kind },
        'an attempt to send ended without a result',
      );
      if (lost.kind !== 'waiting') return this.#end(row, lost, row.attempts);
    }
    return this.#attempt(row, { surface: state.surface, call: call.call });
  }

  async #attempt(
    row: OutboxRow,
    { surface, call }: { readonly surface: SendSurface; readonly call: Outgoing },
  ): Promise<LaneOutcome> {
    const { core } = this.#options;
    await this.#rate.take(row.endpoint, row.conversation, surface.rate);
    if (this.#options.surface(row.endpoint).kind !== 'ready') return 'again'; // it went while the send waited for its turn
    const claimed = await core.writer.commit({ name: 'outbox.claim', statements: [claimSend({ id: row.id })] });
    if (claimed.kind === 'refused') return 'left';
    if (FAILPOINTS) await core.point('sending');
    const end = await this.#call(row, surface, call);
    if (FAILPOINTS) await core.point('posted');
    const attempts = row.attempts + 1;
    const outcome = await this.#stored(() =>
      end.kind === 'returned'
        ? this.#returnToLine(row, end.reason)
        : this.#end(row, this.#judge(row, end, { attempts, can: surface.can }), attempts),
    );
    if (FAILPOINTS) await core.point('sent');
    return outcome;
  }

  /** What the platform answered is known: it is stored as soon as the storage takes it, and the call is not made again meanwhile. */
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

  async #call(
    row: OutboxRow,
    surface: SendSurface,
    call: Outgoing,
  ): Promise<AttemptEnd | { readonly kind: 'returned'; readonly reason: string }> {
    try {
      const result = await within(surface.send(call), {
        ms: SEND_TIMEOUT_MS,
        late: undefined,
        clock: this.#options.core.clock,
      });
      return result ?? { kind: 'threw', reason: `no result within ${SEND_TIMEOUT_MS} ms` };
    } catch (error) {
      const reason = reasonOf(this.#options.core, error);
      this.#options.core.log.warn({ send: row.id, endpoint: row.endpoint, error: reason }, 'send failed');
      if (error instanceof SvcError && error.code === 'endpoint_unavailable') return { kind: 'returned', reason };
      if (errorCode(error) !== 'account_failed') return { kind: 'threw', reason };
      surface.accountFailed(reason, String((error as { remedy?: unknown }).remedy ?? ''));
      return { kind: 'returned', reason };
    }
  }

  #judge(
    row: OutboxRow,
    end: AttemptEnd,
    { attempts, can }: { readonly attempts: number; readonly can: Can },
  ): SendVerdict {
    const { maxAttempts, onUnknown } = this.#options.policy();
    const unsure = row.unsure === 'hold' || onUnknown === 'hold' ? 'hold' : 'again';
    const failures = row.failures + (end.kind === 'lost' ? 0 : 1);
    return judge(end, { attempts, failures, maxAttempts, idempotent: can.idempotent === true, unsure });
  }

  /** The account is refused or gone: the send waits for it and keeps its attempts. */
  async #returnToLine(row: OutboxRow, reason: string): Promise<LaneOutcome> {
    const at = this.#options.core.clock.now();
    await this.#unit(
      'outbox.returned',
      [postponeSend({ id: row.id, nextAt: at, error: reason, attempts: row.attempts, failures: row.failures })],
      [],
    );
    return 'again';
  }

  async #end(row: OutboxRow, verdict: SendVerdict, attempts: number): Promise<LaneOutcome> {
    const { core, due, ended } = this.#options;
    const at = core.clock.now();
    const outcome = await this.#note(row, { verdict, attempts, at });
    ended?.(row, verdict.kind);
    if (verdict.kind === 'waiting') due(at + verdict.delayMs);
    return outcome;
  }

  async #note(
    row: OutboxRow,
    { verdict, attempts, at }: { readonly verdict: SendVerdict; readonly attempts: number; readonly at: number },
  ): Promise<LaneOutcome> {
    switch (verdict.kind) {
      case 'sent': {
        const data = {
          item: row.id,
          kind: row.kind,
          attempts,
          conversation: row.conversation,
          from: row.item_id,
          platformMessage: verdict.message ?? null,
        };
        await this.#unit(
          'outbox.sent',
          [finishSend({ id: row.id, message: verdict.message ?? null, at, attempts })],
          [this.#event(row, { type: 'outbox.sent', data })],
        );
        return 'left';
      }
      case 'waiting': {
        const nextAt = at + verdict.delayMs;
        const data = { item: row.id, attempts, delayMs: verdict.delayMs, code: verdict.code, reason: verdict.reason };
        const statements = [
          postponeSend({ id: row.id, nextAt, error: verdict.reason, attempts, failures: row.failures + 1 }),
          putDue({
            id: `outbox/${row.id}`,
            kind: 'outbox',
            at: nextAt,
            capability: null,
            lane: this.#item.lane,
            data: row.id,
          }),
        ];
        await this.#unit('outbox.waiting', statements, [this.#event(row, { type: 'outbox.waiting', data })]);
        return 'waiting';
      }
      case 'unknown':
      case 'dead': {
        const code = verdict.kind === 'dead' ? verdict.code : 'result_unknown';
        const data = { item: row.id, attempts, code, reason: verdict.reason };
        const event = this.#event(row, { type: verdict.kind === 'dead' ? 'outbox.dead' : 'outbox.unknown', data });
        await this.#unit(
          `outbox.${verdict.kind}`,
          [endSend({ id: row.id, state: verdict.kind, at, error: verdict.reason, attempts })],
          [event],
        );
        return 'left';
      }
    }
  }

  #event(row: OutboxRow, event: Pick<Extract<NewEvent, { type: `outbox.${string}` }>, 'type' | 'data'>): NewEvent {
    const { clock, runtimeId } = this.#options.core;
    return {
      ...event,
      at: clock.now(),
      runtimeId,
      endpoint: row.endpoint,
      correlationId: row.correlation_id ?? undefined,
      causationId: row.item_id ?? undefined,
      actor: row.actor ?? undefined,
    } as NewEvent;
  }

  async #unit(name: string, statements: readonly Statement[], events: readonly NewEvent[]): Promise<void> {
    const answer = await this.#options.core.writer.commit({
      name,
      statements: [...statements, ...recordEvents(events)],
    });
    // Refused: an operator ended the send meanwhile.
    if (answer.kind === 'refused' && answer.guard !== 'send') throw new Error(`${name} was refused: ${answer.detail}`);
  }
}
