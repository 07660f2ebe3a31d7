// One of each event of the machine of an account.
import type { EndpointEvent } from '../../worker/endpoints/endpoint-machine.ts';

export const ENDPOINT_EVENTS: readonly EndpointEvent[] = [
  { kind: 'enabled' },
  { kind: 'disabled' },
  { kind: 'connected' },
  { kind: 'catch_up_failed', reason: 'r' },
  { kind: 'caught_up' },
  { kind: 'lost', reason: 'r' },
  { kind: 'account_failed', reason: 'r', remedy: 'm' },
  { kind: 'retry_due' },
  { kind: 'reconnect' },
];
