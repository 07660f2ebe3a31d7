// Identifies the holder of an abstract Unix socket. Any user may bind such a name, so the kernel is asked for the owner. Linux only.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { processes } from '../../shared/process/process-identity.ts';
import { linkOf } from '../socket/socket-sharers.ts';

/** `unknown`: the kernel does not tell. */
export type Holder = 'nobody' | 'ours' | 'stranger' | 'unknown';

export interface LockQuery {
  /** Users whose processes count as `ours`. */
  readonly users: readonly number[];
  readonly project: string;
}

export function holderOf(name: string, { users, project }: LockQuery): Holder {
  const sockets = socketsOf(name);
  if (sockets === undefined) return 'unknown';
  if (sockets.size === 0) return 'nobody';
  let isSure = true;
  for (const pid of processes()) {
    if (!users.includes(userOf(pid) ?? -1)) continue;
    const descriptors = descriptorsOf(pid);
    if (descriptors === undefined) isSure &&= !isSupervisor(pid, project);
    else if (descriptors.some((number) => sockets.has(linkOf(`/proc/${pid}/fd/${number}`) ?? ''))) return 'ours';
  }
  return isSure ? 'stranger' : 'unknown';
}

/** The sockets with this name, as /proc/<pid>/fd links to them. Undefined without /proc. Older Node pads the name with zero bytes, shown as @. */
function socketsOf(name: string): ReadonlySet<string> | undefined {
  const table = textOf('/proc/net/unix');
  const lines = table?.split('\n').filter((line) => line.replace(/@+$/, '').endsWith(` @${name}`));
  return lines && new Set(lines.map((line) => `socket:[${line.trim().split(/\s+/)[6]}]`));
}

function userOf(pid: number): number | undefined {
  const [, user] = /^Uid:\s+\d+\s+(\d+)/m.exec(textOf(`/proc/${pid}/status`) ?? '') ?? [];
  return user === undefined ? undefined : Number(user);
}

/** Undefined if unreadable: the process is root's or has capabilities. */
function descriptorsOf(pid: number): readonly string[] | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? undefined : []; // otherwise the process has ended
  }
}

/** Whether the process is a supervisor of this project. All users can read its command line. */
function isSupervisor(pid: number, project: string): boolean {
  const words = textOf(`/proc/${pid}/cmdline`)?.split('\0') ?? [];
  const folder = words[words.indexOf('--project') + 1];
  return words.includes('--worker') && folder !== undefined && isSame(folder, project);
}

function isSame(path: string, other: string): boolean {
  try {
    const [one, two] = [statSync(path), statSync(other)];
    return one.dev === two.dev && one.ino === two.ino;
  } catch {
    return false; // gone, or a folder closed to this user; our own folder is not
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // gone, or not readable
  }
}
