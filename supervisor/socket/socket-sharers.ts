// Finds other processes that hold the listening socket. A dead worker may have passed it to a child that left the process group.
// Such a process would take connections, or keep them waiting. Only Linux tells (/proc), and only for processes of this account.
import { readdirSync, readlinkSync } from 'node:fs';
import { commandOf, processes, statOf } from '../../shared/process/process-identity.ts';
import { delay } from '../../shared/time/abort.ts';

export interface SharerQuery {
  /** Link target of the socket's descriptor: `socket:[…]`. */
  readonly link: string;
  /** Start of the dead worker in clock ticks. Older processes are not its children. */
  readonly since: string;
  /** Processes that may hold the socket, with their children: a child holds all descriptors between fork and exec. */
  readonly owners: readonly number[];
}

/** Processes per batch. Other work gets a turn between batches. */
const AT_A_TIME = 64;
/** Attempts before a process counts as a sharer: a killed one may take time to exit. */
const LOOKS = 20;
const PAUSE_MS = 50;

/** Pid and command line. Undefined if no other process has the socket. */
export async function findSharer(query: SharerQuery): Promise<string | undefined> {
  const pids = processes();
  for (let next = 0; next < pids.length; next += AT_A_TIME) {
    for (const pid of pids.slice(next, next + AT_A_TIME))
      if (shares(pid, query) && (await keepsIt(pid, query))) return `pid ${pid} (${commandOf(pid)})`;
    await delay(0); // yields to the event loop
  }
  return undefined;
}

/** Link target of a /proc descriptor. Undefined if the system does not tell. */
export function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // closed in between, or not Linux
  }
}

async function keepsIt(pid: number, query: SharerQuery): Promise<boolean> {
  for (let look = 0; look < LOOKS; look += 1) {
    await delay(PAUSE_MS);
    if (!shares(pid, query)) return false;
  }
  return true;
}

function shares(pid: number, { link, since, owners }: SharerQuery): boolean {
  const stat = statOf(pid);
  if (stat === undefined || owners.includes(pid) || owners.includes(stat.parent)) return false;
  if (!(Number(stat.start) >= Number(since))) return false;
  return namesIn(`/proc/${pid}/fd`).some((descriptor) => linkOf(`/proc/${pid}/fd/${descriptor}`) === link);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // gone, or another user's
  }
}
