// Views of an account for the sender and for readiness, and of plugin work for the dispatcher.
import type { LoadedConfig } from '../../shared/config/load.ts';
import { endpointId, endpointName, ownerOf, uuidv7 } from '../../shared/identifiers.ts';
import type { EndpointRunner } from '../endpoints/endpoint-runner.ts';
import type { ItemHead } from '../inbox/inbox-store.ts';
import type { SurfaceState } from '../outbox/send-surface.ts';
import type { ConversationRef } from '../sdk/index.ts';

/** `config`: configuration of the serving generation, in which an unknown account is missing. Undefined while no generation serves. */
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
      slowed: (waitMs, toldMs) => runner.slowed(waitMs, toldMs),
    },
  };
}

/** The state of an account in readiness reports. */
export function endpointFact(runner: EndpointRunner | undefined) {
  if (runner === undefined) return undefined;
  const { state, lastError } = runner.state;
  return { state, reason: lastError?.reason, remedy: lastError?.remedy };
}

/** An account of a disabled slot waits, like a disabled account. */
const isSwitchedOff = (endpoint: string, { plugins }: LoadedConfig['config']): boolean =>
  Object.entries(plugins).some(
    ([slot, { enabled, endpoints = [{ id: undefined }] }]) =>
      !enabled && endpoints.some(({ id }) => endpointId(ownerOf(slot), endpointName(slot, id)) === endpoint),
  );

/** Sends a typing hint at once if the platform shows it. A hint is never retried. */
export function typing(runner: EndpointRunner | undefined, { id, thread }: ConversationRef): void {
  if (runner?.takesSends !== true || runner.spec.adapter.can.typing !== true) return;
  const place = { conversation: id, ...(thread === undefined ? {} : { thread }) };
  runner.send({ kind: 'typing', key: uuidv7(), ...place }).catch(() => {});
}

export type Work = Pick<ItemHead, 'kind' | 'endpoint'>;

/**
 * An item waits while no generation serves and while ingress is paused. An item for one plugin handler also waits while the plugin's slot is
 * disabled.
 */
export const isHeld = (work: Work, config: LoadedConfig['config'] | undefined, isPaused: boolean): boolean =>
  config === undefined || isPaused || (work.kind !== 'arrival' && isForDisabled(work, config));

const isForDisabled = ({ endpoint }: Work, config: LoadedConfig['config']): boolean =>
  disabledOwners(config).some((owner) => endpoint.startsWith(`${owner}#`));

/** Plugins that the configuration names but disables. */
export const disabledOwners = (config: LoadedConfig['config'] | undefined): readonly string[] =>
  Object.entries(config?.plugins ?? {}).flatMap(([slot, { enabled }]) => (enabled ? [] : [ownerOf(slot)]));
