// An account as the sender sees it.
import type { LoadedConfig } from '../shared/config/load.ts';
import { endpointId, endpointName, ownerOf } from '../shared/identifiers.ts';
import type { EndpointRunner } from './endpoints/endpoint-runner.ts';
import type { SurfaceState } from './outbox/send-surface.ts';

/** `config`: that of the generation that serves, so that an account that is not known is not in it; undefined while there is none. */
export function surfaceOf(
  endpoint: string,
  runner: EndpointRunner | undefined,
  config: LoadedConfig['config'] | undefined,
): SurfaceState {
  if (runner === undefined)
    return config === undefined || isSwitchedOff(endpoint, config) ? { kind: 'waiting' } : { kind: 'missing' };
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

/** An account of a slot that is disabled: it waits like one that is disabled itself. */
const isSwitchedOff = (endpoint: string, { plugins }: LoadedConfig['config']): boolean =>
  Object.entries(plugins).some(
    ([slot, { enabled, endpoints = [{ id: undefined }] }]) =>
      !enabled && endpoints.some(({ id }) => endpointId(ownerOf(slot), endpointName(slot, id)) === endpoint),
  );
