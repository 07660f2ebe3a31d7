// Who else has the listening socket: a process that a dead worker handed it to and that left its group, so that no end of the group reached it.
// It would take connections, or keep them waiting once nobody else listens. Only Linux tells (/proc), and only of processes of this account.
import { readdirSync, readlinkSync } from 'node:fs';
import { commandOf, processes, statOf } from '../../shared/process/process-identity.ts';
import { delay } from '../../shared/time/abort.ts';

export interface SharerQuery {
  /** What a descriptor of the socket links to: `socket:[…]`. */
  readonly link: string;
  /** Start of the dead worker in clock ticks: nothing that it left is older. */
  readonly since: string;
  /** Processes that have it rightly, and with them their children: each has all descriptors between its fork and its program. */
  readonly owners: readonly number[];
}

/** Processes are looked at so many at a time, so that nobody else waits for it. */
const AT_A_TIME = 64;
/** What was killed with its group may take its time to go. */
const LOOKS = 20;
const PAUSE_MS = 50;

/** Pid and command line; undefined where nobody else has it. */
export async function findSharer(query: SharerQuery): Promise<string | undefined> {
  const pids = processes();
  for (let next = 0; next < pids.length; next += AT_A_TIME) {
    for (const pid of pids.slice(next, next + AT_A_TIME))
      if (shares(pid, query) && (await keepsIt(pid, query))) return `pid ${pid} (${commandOf(pid)})`;
    await delay(0); // others first
  }
  return undefined;
}

/** What the descriptor of this process links to; undefined where the system does not tell. */
export function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // closed meanwhile, or not Linux
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
    return []; // gone, or not ours
  }
}
