// Identifies a process by pid, start time and boot, because pids are reused. A process is never signalled by its pid alone.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot (Linux), or the start time as `ps` prints it. `unknown` if neither is available. */
  readonly start: string;
  readonly boot: string;
  /** In which the pid counts; a container has its own. Missing in records of older versions, and where /proc does not tell. */
  readonly namespace?: string;
}

/** The identity of a live process. Undefined if there is none with that pid. */
export function identify(pid: number): ProcessIdentity | undefined {
  const start = startOf(pid);
  const namespace = pidNamespace();
  return start === undefined
    ? undefined
    : { pid, start, boot: bootId(), ...(namespace === undefined ? {} : { namespace }) };
}

/** Whether exactly that process is alive. A zombie is not. False for a process of another container. */
export function isAlive(identity: ProcessIdentity): boolean {
  return isThisBoot(identity.boot) && !isElsewhere(identity) && startOf(identity.pid) === identity.start;
}

/** Whether the pid is one of another container: here it names another process, or none. */
export const isElsewhere = ({ namespace }: Pick<ProcessIdentity, 'namespace'>): boolean =>
  namespace !== undefined && pidNamespace() !== undefined && namespace !== pidNamespace();

/** Undefined where there are none, or /proc is hidden. */
function pidNamespace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/**
 * Whether the process is alive and works in that project folder. In a copied project, records name processes of the original.
 * Only Linux tells the folder. If it is unknown, the process counts as this project's.
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

/** A hardened systemd unit hides the boot id. Then pid and start time alone must match. */
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

/** Monotonic milliseconds since boot, the same in every process. The clock stops while the machine is suspended. */
export function bootClock(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** The truncated command line of a process, for messages. */
export function commandOf(pid: number): string {
  const text =
    process.platform === 'linux'
      ? readText(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ')
      : run('ps', ['-o', 'command=', '-p', String(pid)]);
  return (text ?? '').trim().slice(0, 120);
}

/** Whether a process started with that environment variable. Linux only, and only for this user's processes. */
export const beganWith = (pid: number, name: string, value: string): boolean =>
  readText(`/proc/${pid}/environ`)?.split('\0').includes(`${name}=${value}`) ?? false;

/** Whether the process was stopped by SIGSTOP or a debugger. Linux only. */
export const isStopped = (pid: number): boolean => /^[Tt]$/.test(statOf(pid)?.state ?? '');

/** Fields of /proc/<pid>/stat. */
export interface ProcessStat {
  readonly state: string;
  /** The process has exited, and its parent has not reaped it. */
  readonly isZombie: boolean;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since boot. */
  readonly start: string;
}

/** Undefined if there is no such process, or no /proc. */
export function statOf(pid: number): ProcessStat | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The second field is the command in parentheses, which may contain spaces and parentheses. These are the fields after it.
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

/** All pids visible to this user on Linux. Empty elsewhere. */
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
    return undefined; // no such process, or no /proc
  }
}

function run(program: string, args: readonly string[]): string | undefined {
  try {
    const text = execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return text === '' ? undefined : text;
  } catch {
    return undefined; // `ps` exits with 1 if there is no such process
  }
}
