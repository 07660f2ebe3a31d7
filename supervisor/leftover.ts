// What a dead supervisor may have left: a worker that is still alive, or a port that somebody else holds. Looked at before a worker is started.
//
//   O1  A process is signalled only when pid, start time and boot of a record match it.
//   O2  A worker of another owner (foreground, systemd, …) is never ended: it is named.
//   O3  A port is tried three times, a second apart, before it is said to be taken; that spends no start.
import { readFileSync } from 'node:fs';
import { delay } from '../shared/abort.ts';
import type { SupervisorSettings } from '../shared/api/ipc.ts';
import { bindFault, listenerOf } from '../shared/port-owner.ts';
import { commandOf, isAlive, type ProcessIdentity } from '../shared/process-identity.ts';
import type { Event, FailureKind } from './machine.ts';

export interface LeftoverOptions {
  /** The worker of the former supervisor's record. */
  readonly former: ProcessIdentity | null;
  /** `.svc/worker.json`: written by the holder of the writer lock. */
  readonly workerRecord: string;
  readonly settings: Pick<SupervisorSettings, 'host' | 'port'> | undefined;
  readonly say: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

const TERM_MS = 5_000;
const KILL_MS = 2_000;
const PORT_TRIES = 3;
const PORT_PAUSE_MS = 1_000;

/** Ends what may be ended; the answer is the event for the machine. */
export async function lookForLeftovers(options: LeftoverOptions): Promise<Event> {
  try {
    const stuck = await clearLeftovers(options);
    return stuck === undefined ? { kind: 'clear' } : { kind: 'stuck', ...stuck };
  } catch (error) {
    return { kind: 'stuck', failure: 'leftover', detail: String(error) };
  }
}

/** Undefined when a worker can be started. */
async function clearLeftovers(
  options: LeftoverOptions,
): Promise<{ readonly failure: FailureKind; readonly detail: string } | undefined> {
  const holder = readHolder(options.workerRecord);
  if (holder !== undefined && holder.owner !== 'daemon' && isAlive(holder.identity)) {
    return {
      failure: 'leftover',
      detail: `a worker started by ${holder.owner} runs already, pid ${holder.identity.pid}`,
    };
  }
  for (const identity of [options.former, holder?.identity ?? null]) {
    if (identity === null || !isAlive(identity)) continue;
    options.say('worker of a former supervisor found', { pid: identity.pid });
    if (!(await endProcess(identity)))
      return { failure: 'leftover', detail: `pid ${identity.pid}, the worker of a former supervisor, cannot be ended` };
  }
  return portTaken(options);
}

async function endProcess(identity: ProcessIdentity): Promise<boolean> {
  signal(identity, 'SIGTERM');
  if (await goneWithin(identity, TERM_MS)) return true;
  signal(identity, 'SIGKILL');
  return goneWithin(identity, KILL_MS);
}

function signal(identity: ProcessIdentity, name: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, name);
  } catch {
    // it ended in between
  }
}

async function goneWithin(identity: ProcessIdentity, limitMs: number): Promise<boolean> {
  for (const endsAt = performance.now() + limitMs; performance.now() < endsAt; ) {
    if (!isAlive(identity)) return true;
    await delay(25);
  }
  return !isAlive(identity);
}

async function portTaken({
  settings,
  say,
}: LeftoverOptions): Promise<{ readonly failure: FailureKind; readonly detail: string } | undefined> {
  if (settings === undefined || settings.port === 0) return undefined;
  for (let attempt = 1; ; attempt += 1) {
    const fault = await bindFault(settings.host, settings.port);
    if (fault === undefined) return undefined;
    const pid = listenerOf(settings.port);
    const by = pid === undefined ? 'another process' : `pid ${pid} (${commandOf(pid)})`;
    const detail =
      fault === 'EADDRINUSE'
        ? `port ${settings.port} is held by ${by}`
        : `cannot bind ${settings.host}:${settings.port}: ${fault}`;
    if (attempt === PORT_TRIES) return { failure: 'port', detail };
    say('port is not free yet', { detail, attempt });
    await delay(PORT_PAUSE_MS);
  }
}

function readHolder(path: string): { readonly identity: ProcessIdentity; readonly owner: string } | undefined {
  try {
    const { pid, start, boot, owner } = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof pid !== 'number' || typeof start !== 'string' || typeof boot !== 'string' || typeof owner !== 'string')
      return undefined;
    return { identity: { pid, start, boot }, owner };
  } catch {
    return undefined; // none, or not whole: the writer lock decides
  }
}
