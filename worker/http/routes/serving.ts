// Tells beside each list if a generation serves. Otherwise a script would take an empty list for an empty configuration.
import type { Caller } from '../api/caller.ts';
import type { HostApi } from '../api/host-api.ts';

/** Fields of an answer. The reason may contain configured values, so demo scope does not get it. */
export function servingFor(port: HostApi, { scope }: Caller): ReturnType<HostApi['system']['serving']> {
  const { generation, lastFailure } = port.system.serving();
  if (generation !== null) return { generation };
  const isTold = scope === 'full' || lastFailure === undefined || lastFailure === null;
  return { generation, lastFailure: isTold ? (lastFailure ?? null) : { ...lastFailure, reason: null } };
}
