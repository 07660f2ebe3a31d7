// One of each event of the machine of an account.
import type { EndpointEvent } from '../../../worker/endpoints/endpoint-machine.ts';

export const ENDPOINT_EVENTS: readonly EndpointEvent[] = [
  { kind: 'enabled' },
  { kind: 'disabled' },
  { kind: 'connected' },
  { kind: 'troubled', code: 'catch_up_failed', reason: 'r' },
  { kind: 'well' },
  { kind: 'lost', reason: 'r' },
  { kind: 'account_failed', reason: 'r', remedy: 'm' },
  { kind: 'retry_due' },
  { kind: 'reconnect' },
];
