// Checks whether the running host is ready and its accounts work, as it reports itself.
// A project may pass every other check and serve nothing, and a ready host may have no working account.
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { coerceError } from '../../../shared/svc-error.ts';
import { allEndpoints, type Endpoint } from '../connect/all-endpoints.ts';
import { findRunning } from '../connect/control-client.ts';
import { hostConnector, loopbackOf } from '../connect/host-client.ts';
import { shown } from '../output/printable.ts';
import { type Check, type Finding, ok, type Subject, skip, warn } from './check.ts';

export const RUNTIME_CHECKS: readonly Check[] = [
  { id: 'runtime.ready', title: 'The host that runs is ready', run: runtimeReady },
  { id: 'runtime.endpoints', title: 'The accounts of the host that runs work', run: runtimeEndpoints },
];

const MOST_NAMED = 5;
const TROUBLE: ReadonlySet<unknown> = new Set(['failed', 'offline', 'degraded']);

async function runtimeReady({ paths, config }: Subject): Promise<Finding> {
  try {
    const running = await findRunning(paths.project);
    if (running === undefined) return skip('nothing is running');
    return readyFinding(running.status, 'fault' in config ? '' : config.config.http.base);
  } catch (error) {
    return skip(coerceError(error).message); // the check owner.single reports a host that does not answer
  }
}

/** Exported for tests, which cannot produce every state. */
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

async function runtimeEndpoints({ paths, env }: Subject): Promise<Finding> {
  try {
    const running = await findRunning(paths.project);
    if (running === undefined) return skip('nothing is running');
    if (running.status.generation === null) return skip('no generation serves');
    const host = await hostConnector({ project: paths.project, env, note: () => {} })();
    return endpointsFinding(await allEndpoints(host));
  } catch (error) {
    return skip(coerceError(error).message); // an earlier check reports the cause
  }
}

/** Lists `failed` accounts first: they need an operator, others may recover by themselves. */
export function endpointsFinding(endpoints: readonly Endpoint[]): Finding {
  const troubled = endpoints
    .filter(({ state }) => TROUBLE.has(state))
    .toSorted((a, b) => Number(b['state'] === 'failed') - Number(a['state'] === 'failed'));
  const [first] = troubled;
  if (first === undefined) return ok(`${endpoints.length} endpoints`);
  const named = troubled.slice(0, MOST_NAMED).map(troubleOf);
  const more = troubled.length - named.length;
  const rest = more > 0 ? `; and ${more} more` : '';
  return warn(
    `${troubled.length} of ${endpoints.length} do not work: ${named.join('; ')}${rest}`,
    troubled.length === 1
      ? `svc endpoints show ${shown(first['name'])}`
      : 'svc endpoints list says of each what helps; svc doctor --endpoint <name> asks its platform',
  );
}

function troubleOf({ name, state, lastError }: Endpoint): string {
  const { reason, remedy } = (lastError ?? {}) as Endpoint;
  const why = [reason, remedy].filter((text) => typeof text === 'string' && text !== '').map(shown);
  return `${shown(name)} is ${shown(state)}${why.length === 0 ? '' : ` (${why.join('; ')})`}`;
}
