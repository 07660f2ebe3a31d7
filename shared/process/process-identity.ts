// Which process a record speaks of: pid, start time and boot, because pids come round. A number alone is never signalled.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot (Linux) or the start time as `ps` prints it; `unknown` where neither can be had. */
  readonly start: string;
  readonly boot: string;
}

/** The identity of a live process; undefined when there is none of that pid. */
export function identify(pid: number): ProcessIdentity | undefined {
  const start = startOf(pid);
  return start === undefined ? undefined : { pid, start, boot: bootId() };
}

/** Whether exactly that process is still alive (a zombie is not). */
export function isAlive(identity: ProcessIdentity): boolean {
  return isThisBoot(identity.boot) && startOf(identity.pid) === identity.start;
}

/**
 * Whether it is alive, and of the project in that folder, where its processes work: in a copy of a project records speak of those of the
 * original. Only Linux tells; where it cannot be asked, it is taken for one of it.
 */
export function isAliveIn(project: string, identity: ProcessIdentity): boolean {
  if (!isAlive(identity)) return false;
  try {
    const [its, ours] = [statSync(`/proc/${identity.pid}/cwd`), statSync(project)];
    return its.dev === ours.dev && its.ino === ours.ino;
  } catch {
    return true;
  }
}

/** A hardened unit hides the boot from its processes: then pid and start time alone have to fit. */
export const isThisBoot = (boot: string): boolean => boot === UNKNOWN || bootId() === UNKNOWN || boot === bootId();

const UNKNOWN = 'unknown';
let boot: string | undefined;

/** Changes with each boot of the machine. */
export function bootId(): string {
  boot ??=
    process.platform === 'linux'
      ? readText('/proc/sys/kernel/random/boot_id')
      : run('sysctl', ['-n', 'kern.bootsessionuuid']);
  return boot ?? UNKNOWN;
}

/** Monotonic milliseconds since boot, the same in every process; they stand still while the machine sleeps. */
export function bootClock(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** What runs under a pid, for people: its command line, cut. */
export function commandOf(pid: number): string {
  const text =
    process.platform === 'linux'
      ? readText(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ')
      : run('ps', ['-o', 'command=', '-p', String(pid)]);
  return (text ?? '').trim().slice(0, 120);
}

/** Whether a process was given that variable when it began; only Linux tells, and only of one's own. */
export const beganWith = (pid: number, name: string, value: string): boolean =>
  readText(`/proc/${pid}/environ`)?.split('\0').includes(`${name}=${value}`) ?? false;

/** By SIGSTOP or a debugger; only Linux tells. */
export const isStopped = (pid: number): boolean => /^[Tt]$/.test(statOf(pid)?.state ?? '');

/** What Linux tells of a process. */
export interface ProcessStat {
  readonly state: string;
  /** It has ended, and its parent has not asked how. */
  readonly isZombie: boolean;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot. */
  readonly start: string;
}

/** Undefined where there is no such process, or no such kernel. */
export function statOf(pid: number): ProcessStat | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the command in brackets and may hold blanks and brackets; these are the ones after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent, group, session] = fields;
  const isZombie = state === 'Z' || state === 'X';
  return {
    state,
    isZombie,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    start: fields[19] ?? UNKNOWN,
  };
}

/** The pids of Linux, as far as this account may see them; none elsewhere. */
export function processes(): readonly number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 1);
  } catch {
    return [];
  }
}

function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return run('ps', ['-o', 'lstart=', '-p', String(pid)]);
  const stat = statOf(pid);
  return stat === undefined || stat.isZombie ? undefined : stat.start;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined; // no such process, or no such kernel
  }
}

function run(program: string, args: readonly string[]): string | undefined {
  try {
    const text = execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return text === '' ? undefined : text;
  } catch {
    return undefined; // `ps` ends with 1 where there is no such process
  }
}
