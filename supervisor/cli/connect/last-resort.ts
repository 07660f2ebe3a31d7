// The end of a host that does not answer: by its processes alone, without log, record or socket.
//
//   R1  No process is signalled by its number alone: pid, start and boot of a record, in the project's folder; or, where no record can be read,
//       the kernel's word that a process of this user supervises this very folder. What was seen is compared again before each signal.
//   R2  SIGTERM first, and as much time as a drain may take; then SIGKILL, with a word about it. With `now` SIGKILL at once.
//   R3  A stopped process (SIGSTOP) is woken by SIGCONT, or SIGTERM would wait for it.
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { identify, isAlive, type ProcessIdentity, processes } from '../../../shared/process/process-identity.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { DEFAULT_MACHINE_LIMITS } from '../../machine/machine.ts';
import { signalGroup } from '../../workers/process-group.ts';
import { liveSupervisor, liveWorker } from './control-client.ts';

const POLL_MS = 25;
/** What a supervisor does behind the drain: the end of the group, the last messages, its own end. */
const BEHIND_DRAIN_MS = 6_000;
const GONE_MS = 5_000;
/** Owners that would start a worker again after any end. */
const STARTED_AGAIN: ReadonlySet<string> = new Set(['systemd', 'launchd', 'pm2', 'container']);

export interface SilentHost {
  readonly supervisor: ProcessIdentity | undefined;
  readonly worker: ProcessIdentity | undefined;
  /** Time for a drain. */
  readonly stopMs: number;
}

/** The processes of a host that may not answer; undefined where there are none, or where their owner would start them again. */
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

/** Ends it. Throws `timeout` where nothing ends it. */
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
    if (one === worker) signalGroup(one.pid, 'SIGKILL'); // it leads one under a supervisor
    send(one, 'SIGKILL');
  }
  if (await goneWithin(all, GONE_MS)) return;
  const left = all.filter(isAlive).map(({ pid }) => pid);
  throw new SvcError('timeout', `pid ${left.join(' and ')} cannot be ended, not even by SIGKILL`, {
    hint: 'a process in a call of a disk or network file system ends with that call; else the machine has to be restarted',
    details: { pids: left },
  });
}

/** By its command line, working folder and user (R1); only Linux tells. */
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
    return []; // gone, or no Linux
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
    return undefined; // gone, or not ours
  }
}

function send(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // it ended in between, or is not ours: what is left is told
  }
}

async function goneWithin(all: readonly ProcessIdentity[], limitMs: number): Promise<boolean> {
  for (const endsAt = performance.now() + limitMs; ; await pause(POLL_MS)) {
    if (!all.some(isAlive)) return true;
    if (performance.now() > endsAt) return false;
  }
}
