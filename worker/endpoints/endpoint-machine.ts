// State machine of one account. Pure: the runner carries out the effects and feeds results back as events.
//
//   state      | enabled    | disabled | connected | troubled | well   | lost / refused | account failed | retry due  | reconnect
//   disabled   | connecting | -        | -         | -        | -      | -              | -              | -          | -
//   connecting | -          | disabled | online    | -        | -      | offline        | failed         | -          | connecting
//   online     | -          | disabled | -         | degraded | -      | offline        | failed         | -          | connecting
//   degraded   | -          | disabled | -         | degraded | online | offline        | failed         | -          | connecting
//   offline    | -          | disabled | -         | -        | -      | offline        | failed         | connecting | connecting
//   failed     | connecting | disabled | -         | -        | -      | -              | failed         | -          | connecting
//
//   ENDPOINT-MACHINE-1  An account that cannot connect is retried without end, with backoff. An account that the platform refuses (`failed`) waits
//                       for an operator, so each remedy ends with "enable the account again".
//   ENDPOINT-MACHINE-2  `degraded`: connected and able to send, but missed messages could not be fetched (`catch_up_failed`), the adapter reports a
//                       partial failure, or the platform asks for a long wait (`platform_waits`). A new reason changes only the last error.
//   ENDPOINT-MACHINE-3  The last error and the reconnect count stay after recovery.
import { backoffDelay, nextFailures } from '../../shared/time/backoff.ts';

export type EndpointStateName = 'disabled' | 'connecting' | 'online' | 'degraded' | 'offline' | 'failed';

export interface EndpointState {
  readonly state: EndpointStateName;
  /** Epoch milliseconds of the last change of state. */
  readonly since: number;
  /** On the monotonic clock, so a wall clock that is set back does not shorten the uptime. */
  readonly onlineAt: number | undefined;
  readonly failures: number;
  readonly reconnects: number;
  readonly lastError:
    | { readonly at: number; readonly code: string; readonly reason: string; readonly remedy: string | undefined }
    | undefined;
}

/** `platform_waits`: the platform has asked for a long wait before the next send. */
export type TroubleCode = 'catch_up_failed' | 'account_degraded' | 'platform_waits';

export type EndpointEvent =
  | { readonly kind: 'enabled' }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'connected' }
  | { readonly kind: 'troubled'; readonly code: TroubleCode; readonly reason: string }
  | { readonly kind: 'well' }
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'account_failed'; readonly reason: string; readonly remedy: string }
  | { readonly kind: 'retry_due' }
  | { readonly kind: 'reconnect' };

export type EndpointEffect =
  | { readonly kind: 'connect' }
  | { readonly kind: 'close' }
  | { readonly kind: 'retry_after'; readonly delayMs: number };

export interface EndpointStep {
  readonly state: EndpointState;
  readonly effects: readonly EndpointEffect[];
}

export const initialEndpoint = (now: number): EndpointState => ({
  state: 'disabled',
  since: now,
  onlineAt: undefined,
  failures: 0,
  reconnects: 0,
  lastError: undefined,
});

export const takesDeliveries = ({ state }: EndpointState): boolean => state !== 'disabled' && state !== 'failed';
export const takesSends = ({ state }: EndpointState): boolean => state === 'online' || state === 'degraded';

export function stepEndpoint(
  before: EndpointState,
  event: EndpointEvent,
  { now, monotonic, random }: { readonly now: number; readonly monotonic: number; readonly random: () => number },
): EndpointStep {
  const to = (state: EndpointStateName, change: Partial<EndpointState> = {}): EndpointState => ({
    ...before,
    ...change,
    state,
    since: state === before.state ? before.since : now,
  });
  const stay: EndpointStep = { state: before, effects: [] };
  switch (event.kind) {
    case 'enabled':
      return before.state === 'disabled' || before.state === 'failed'
        ? { state: to('connecting', { failures: 0 }), effects: [{ kind: 'connect' }] }
        : stay;
    case 'disabled':
      return before.state === 'disabled'
        ? stay
        : { state: to('disabled', { onlineAt: undefined }), effects: [{ kind: 'close' }] };
    case 'connected':
      return before.state === 'connecting' ? { state: to('online', { onlineAt: monotonic }), effects: [] } : stay;
    case 'troubled': {
      const { code, reason } = event;
      const { state, lastError: last } = before;
      const isNews = state === 'online' || (state === 'degraded' && (last?.code !== code || last.reason !== reason));
      return isNews
        ? { state: to('degraded', { lastError: { at: now, code, reason, remedy: undefined } }), effects: [] }
        : stay;
    }
    case 'well':
      return before.state === 'degraded' ? { state: to('online'), effects: [] } : stay;
    case 'lost': {
      if (before.state !== 'connecting' && before.state !== 'online' && before.state !== 'degraded') return stay;
      const failures = nextFailures(before.failures, before.onlineAt === undefined ? 0 : monotonic - before.onlineAt);
      const lastError = {
        at: now,
        code: before.onlineAt === undefined ? 'connect_failed' : 'connection_lost',
        reason: event.reason,
        remedy: undefined,
      };
      return {
        state: to('offline', { failures, lastError, onlineAt: undefined }),
        effects: [{ kind: 'close' }, { kind: 'retry_after', delayMs: backoffDelay(failures, { random }) }],
      };
    }
    case 'account_failed': {
      if (before.state === 'disabled') return stay;
      const lastError = { at: now, code: 'account_failed', reason: event.reason, remedy: event.remedy };
      return { state: to('failed', { lastError, onlineAt: undefined }), effects: [{ kind: 'close' }] };
    }
    case 'retry_due':
      return before.state === 'offline'
        ? { state: to('connecting', { reconnects: before.reconnects + 1 }), effects: [{ kind: 'connect' }] }
        : stay;
    case 'reconnect':
      if (before.state === 'disabled') return stay;
      return {
        state: to('connecting', { reconnects: before.reconnects + 1, onlineAt: undefined }),
        effects: [{ kind: 'close' }, { kind: 'connect' }],
      };
  }
}
