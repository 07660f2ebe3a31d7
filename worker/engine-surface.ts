// An account as the sender sees it.
import type { EndpointRunner } from './endpoints/endpoint-runner.ts';
import type { SurfaceState } from './outbox/send-surface.ts';

/** `isServing`: there is a generation, so that an account that is not known is not in the configuration. */
export function surfaceOf(runner: EndpointRunner | undefined, isServing: boolean): SurfaceState {
  if (runner === undefined) return isServing ? { kind: 'missing' } : { kind: 'waiting' };
  if (!runner.takesSends) return { kind: 'waiting' };
  const { adapter } = runner.spec;
  return {
    kind: 'ready',
    surface: {
      can: adapter.can,
      rate: adapter.rate,
      send: (call) => runner.send(call),
      accountFailed: (reason, remedy) => runner.accountFailed(reason, remedy),
    },
  };
}
