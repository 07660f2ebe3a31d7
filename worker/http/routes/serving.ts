// Whether a generation serves, told beside the lists of what it serves: a script would take an empty one for a configuration that names nothing.
import type { Caller } from '../api/caller.ts';
import type { HostApi } from '../api/host-api.ts';

/** Fields of an answer. Words may hold values of the configuration: they are for full scope. */
export function servingFor(port: HostApi, { scope }: Caller): ReturnType<HostApi['system']['serving']> {
  const { generation, lastFailure } = port.system.serving();
  if (generation !== null) return { generation };
  const isTold = scope === 'full' || lastFailure === undefined || lastFailure === null;
  return { generation, lastFailure: isTold ? (lastFailure ?? null) : { ...lastFailure, reason: null } };
}
