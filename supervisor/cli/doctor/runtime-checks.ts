// Whether the host that runs here is ready, as it says itself: a project in which every other check finds nothing may serve nothing.
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { coerceError } from '../../../shared/svc-error.ts';
import { findRunning } from '../control-client.ts';
import { loopbackOf } from '../host-client.ts';
import { type Check, type Finding, ok, type Subject, skip, warn } from './check.ts';

export const RUNTIME_CHECKS: readonly Check[] = [
  { id: 'runtime.ready', title: 'The host that runs is ready', run: runtimeReady },
];

async function runtimeReady({ paths, config }: Subject): Promise<Finding> {
  try {
    const running = await findRunning(paths.project);
    if (running === undefined) return skip('nothing is running');
    return readyFinding(running.status, 'fault' in config ? '' : config.config.http.base);
  } catch (error) {
    return skip(coerceError(error).message); // owner.single tells of one that does not answer
  }
}

/** Apart, since not every state can be had for a test. */
export function readyFinding(status: RuntimeStatus, base: string): Finding {
  const { state, ready, reason, reasons, address, generation, pid } = status;
  if (ready) return ok(`generation ${generation}, pid ${pid}`);
  const all = [reason, ...reasons].filter((text) => text !== null && text !== '');
  const told = `the host is ${state === 'running' ? 'not ready' : state.replaceAll('_', ' ')}`;
  const live = address && `http://${loopbackOf(address.host)}:${address.port}${base}`;
  return warn(
    all.length === 0 ? told : `${told}: ${all.join('; ')}`,
    live === null
      ? 'svc runtime status shows how it ended; mend that, then: svc runtime restart'
      : `svc doctor --live ${live} says what helps with each`,
  );
}
