// Decides the next state of a send after an attempt. Pure.
//
//   attempt ended with            | platform drops repeats | platform does not, or no longer by then
//   sent                          | sent                   | sent
//   later (its own Retry-After)   | waiting                | waiting
//   refused                       | dead                   | dead
//   threw, or died without result | waiting, same key      | unknown: `again` waiting, `hold` unknown
//   account failed                | waiting for the endpoint; dead at the bound: it may be the send that the platform refuses
//   account not connected         | waiting for the endpoint, not counted
//   bound of attempts reached     | dead                   | dead
//
// The platform's Retry-After, up to an hour, is used as it is for the first two failures. An attempt whose answer asks for more is not counted. After that the delay is at least the backoff, as for other failures.
//
// The bound `outbox.maxAttempts` counts all attempts, including those cut by a crash. A send that kills the process therefore becomes a dead letter.
// The backoff counts only attempts that ended, because a crash is not the platform's fault. Sends in hand at a process death go out one at a time
// afterwards. At a send's second death it is set aside for a time.
import { wholeWaitMs } from '../../shared/time/backoff.ts';
import type { SendResult } from '../sdk/index.ts';
import { askedWaitMs } from '../sdk/platform/asked-wait.ts';

export type AttemptEnd = SendResult | { readonly kind: 'threw'; readonly reason: string } | { readonly kind: 'lost' };

export type SendVerdict =
  | { readonly kind: 'sent'; readonly message: string | undefined }
  | { readonly kind: 'waiting'; readonly delayMs: number; readonly reason: string; readonly code: string }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'dead'; readonly reason: string; readonly code: string };

/** Code of a dead send whose recipient is no longer there. */
export const RECIPIENT_GONE = 'recipient_gone';

export const noResult = (limitMs: number): AttemptEnd => ({ kind: 'threw', reason: `no result within ${limitMs} ms` });

/**
 * Reads the result of an adapter, which may be plain JavaScript. An invalid result counts as a failed attempt; otherwise the send would be retried
 * without end. A message id that is a number becomes a text.
 */
export function readResult(result: unknown): AttemptEnd {
  const { kind, message, reason, afterMs, account, accountMs, gone } = Object(result ?? {}) as Readonly<
    Record<string, unknown>
  >;
  const id = Number.isSafeInteger(message) ? String(message) : message;
  if (kind === 'sent') return { kind, ...(typeof id === 'string' && id !== '' ? { message: id } : {}) };
  if (kind === 'later') {
    const whole =
      account === true ? { account, ...(accountMs === undefined ? {} : { accountMs: Number(accountMs) }) } : {};
    return { kind, afterMs: Number(afterMs), ...whole };
  }
  if (kind === 'refused') {
    const why = typeof reason === 'string' ? reason : 'refused without a reason';
    return { kind, reason: why, ...(gone === true ? { gone } : {}) };
  }
  return {
    kind: 'threw',
    reason: "send of the adapter gave no result: its kind has to be 'sent', 'later' or 'refused'",
  };
}

export interface AttemptOf {
  /** All attempts, including this one and those cut by a crash. */
  readonly attempts: number;
  /** Attempts that ended, including this one unless its result was lost. */
  readonly failures: number;
  readonly maxAttempts: number;
  /** True if the platform will drop the next attempt in case it took this one. */
  readonly idempotent: boolean;
  /** The action if nobody knows whether the platform took the send. */
  readonly unsure: 'again' | 'hold';
}

const SOONEST_MS = 100;
const DELAYS_MS = [1_000, 5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000] as const;

/** Delay before the next attempt after this many failures, in milliseconds. */
export const sendDelayMs = (failures: number): number => DELAYS_MS[Math.min(failures, DELAYS_MS.length) - 1] ?? 1_000;

const BELIEVED = 2;
const laterMs = (toldMs: number | undefined, failures: number): number =>
  Math.max(toldMs ?? 0, toldMs === undefined || failures > BELIEVED ? sendDelayMs(failures) : SOONEST_MS);

export function judge(end: AttemptEnd, of: AttemptOf): SendVerdict {
  switch (end.kind) {
    case 'sent':
      return { kind: 'sent', message: end.message };
    case 'refused':
      return { kind: 'dead', reason: end.reason, code: end.gone === true ? RECIPIENT_GONE : 'platform_refused' };
    case 'later':
      return retry(of, {
        delayMs: askedWaitMs(laterMs(wholeWaitMs(end.afterMs), of.failures)),
        reason: 'the platform asks for later',
        code: 'platform_later',
      });
    case 'threw':
    case 'lost': {
      const reason = end.kind === 'threw' ? end.reason : 'an attempt ended without a result';
      if (!of.idempotent && of.unsure === 'hold') return { kind: 'unknown', reason };
      return retry(of, {
        delayMs: end.kind === 'lost' ? 0 : sendDelayMs(of.failures),
        reason,
        code: end.kind === 'lost' ? 'result_lost' : 'send_failed',
      });
    }
  }
}

function retry(
  { attempts, maxAttempts }: AttemptOf,
  wait: { readonly delayMs: number; readonly reason: string; readonly code: string },
): SendVerdict {
  if (attempts >= maxAttempts)
    return { kind: 'dead', reason: `${wait.reason} (after ${attempts} attempts)`, code: wait.code };
  return { kind: 'waiting', ...wait };
}
