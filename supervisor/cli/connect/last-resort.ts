// Ends a host that does not answer, by its processes alone, without log, record or socket.
//
//   LAST-RESORT-1  No process is signalled by its pid alone. Its pid, start time, boot and folder must match a record.
//                  Without a record, the kernel must show a process of this user that supervises this folder.
//                  The identity is checked again before each signal.
//   LAST-RESORT-2  SIGTERM comes first and leaves time for a drain. SIGKILL follows with a note. With `now`, SIGKILL is sent at once.
//   LAST-RESORT-3  A stopped process (SIGSTOP) is continued with SIGCONT. Otherwise SIGTERM would stay pending.
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identify, isAlive, type ProcessIdentity, processes } from '../../../shared/process/process-identity.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { DEFAULT_MACHINE_LIMITS } from '../../machine/machine.ts';
import { signalGroup } from '../../workers/process-group.ts';
import { liveSupervisor, liveWorker } from './control-client.ts';

const POLL_MS = 25;
/** Time for the supervisor's work after a drain: end of the process group, last messages, its own exit. */
const BEHIND_DRAIN_MS = 6_000;
const GONE_MS = 5_000;
/** Process managers that restart a worker after any exit. */
const STARTED_AGAIN: ReadonlySet<string> = new Set(['systemd', 'launchd', 'pm2', 'container']);

export interface SilentHost {
  readonly supervisor: ProcessIdentity | undefined;
  readonly worker: ProcessIdentity | undefined;
  /** Limit for a drain in ms. */
  readonly stopMs: number;
}

/** The processes of a host that may not answer. Undefined if there are none, or if a process manager would restart them. */
export function findSilentHost(project: string): SilentHost | undefined {
  const office = liveSupervisor(project);
  const record = liveWorker(project);
  if (record !== undefined && STARTED_AGAIN.has(record.owner)) return undefined;
  const supervisor = office?.supervisor ?? seenAs(project, '--worker');
  const worker = record ?? seenAs(project, '--supervised');
  if (supervisor === undefined && worker === undefined) return undefined;
  return { supervisor, worker, stopMs: office?.stopMs ?? DEFAULT_MACHINE_LIMITS.stopMs };
}

export interface LastResort {
  readonly now: boolean;
  readonly note: (text: string) => void;
}

/** Ends the host. Throws `timeout` if that fails. */
export async function endSilentHost(host: SilentHost, { now, note }: LastResort): Promise<void> {
  const { supervisor, worker, stopMs } = host;
  const first = supervisor ?? worker;
  const all = [supervisor, worker].filter((one) => one !== undefined);
  if (first === undefined) return;
  if (!now) {
    note(`stopping pid ${first.pid}, which does not answer: SIGTERM`);
    for (const signal of ['SIGTERM', 'SIGCONT'] as const) send(first, signal);
    if (await goneWithin([first], stopMs + BEHIND_DRAIN_MS)) note(`pid ${first.pid} has ended`);
  }
  for (const one of all) {
    if (!isAlive(one)) continue;
    note(`killing pid ${one.pid}${now ? '' : ', which has not ended'}: SIGKILL`);
    if (one === worker) signalGroup(one.pid, 'SIGKILL'); // under a supervisor the worker leads a process group
    send(one, 'SIGKILL');
  }
  if (await goneWithin(all, GONE_MS)) return;
  const left = all.filter(isAlive).map(({ pid }) => pid);
  throw new SvcError('timeout', `pid ${left.join(' and ')} cannot be ended, not even by SIGKILL`, {
    hint: 'a process in a call of a disk or network file system ends with that call; else the machine has to be restarted',
    details: { pids: left },
  });
}

/** Finds the process by command line, working folder and user. Linux only. */
function seenAs(project: string, role: '--worker' | '--supervised'): ProcessIdentity | undefined {
  const uid = process.getuid?.();
  for (const pid of processes()) {
    const words = commandWords(pid);
    const place = words[words.indexOf('--project') + 1];
    if (!words.includes('--project') || !words.includes(role) || place === undefined) continue;
    if (basename(words[0] ?? '') !== basename(process.execPath) || pid === process.pid) continue;
    const isOurs = uid === 0 || statOfPath(`/proc/${pid}`)?.uid === uid;
    if (isOurs && isSame(place, project) && isSame(`/proc/${pid}/cwd`, project)) return identify(pid);
  }
  return undefined;
}

function commandWords(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return []; // gone, or not Linux
  }
}

function isSame(path: string, other: string): boolean {
  const [one, two] = [statOfPath(path), statOfPath(other)];
  return one !== undefined && two !== undefined && one.dev === two.dev && one.ino === two.ino;
}

function statOfPath(path: string) {
  try {
    return statSync(path);
  } catch {
    return undefined; // gone, or another user's
  }
}

function send(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // exited in between, or another user's: remaining processes are reported
  }
}

async function goneWithin(all: readonly ProcessIdentity[], limitMs: number): Promise<boolean> {
  for (const endsAt = performance.now() + limitMs; ; await pause(POLL_MS)) {
    if (!all.some(isAlive)) return true;
    if (performance.now() > endsAt) return false;
  }
}
