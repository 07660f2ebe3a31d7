// Ends the process group of a worker as a whole, and waits for that end before another worker starts.
//
//   PROCESS-GROUP-1  A group is signalled only while its number cannot be reused: from the start of the leader, our child, until we reap it.
//                    Remaining members keep the number from being reused. Without members the signal reaches no process.
//   PROCESS-GROUP-2  A zombie counts as ended, because its parent may never reap it.
//   PROCESS-GROUP-3  A process that SIGKILL cannot end (blocked in a system call, or another user's) delays the caller for at most 2 s.
//   PROCESS-GROUP-4  If another process reaped the leader, its number may have been reused. A member is then identified by its environment.
//                    The environment names the supervisor. While one such member lives, the number stays the worker's and all members are its.

import {
  beganWith,
  identify,
  isAlive,
  isThisBoot,
  type ProcessIdentity,
  processes,
  statOf,
} from '../../shared/process/process-identity.ts';
import { delay } from '../../shared/time/abort.ts';

const GROUP_MS = 2_000;
const LONGEST_PAUSE_MS = 25;

/**
 * Kills the rest of the group of a leader that was reaped just now. Resolves when the group is empty.
 * After 2 s it resolves with the pids that are left, if the system tells them. An empty group costs one system call.
 */
export async function endGroup(leader: number): Promise<readonly number[] | undefined> {
  if (!signalGroup(leader, 'SIGKILL')) return undefined;
  const endsAt = performance.now() + GROUP_MS;
  let left: readonly number[] | undefined;
  for (let pauseMs = 1; performance.now() < endsAt; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    await delay(pauseMs);
    if (!signalGroup(leader, 0)) return undefined;
    if (process.platform !== 'linux') continue;
    left = (left ?? processes()).filter((pid) => isLiveIn(leader, pid));
    if (left.length === 0) return undefined;
  }
  return left ?? [];
}

/** Environment for the worker and its children: it names the supervisor, so that members of the group can be identified later. */
export const supervisedBy = ({ pid, start, boot }: ProcessIdentity): Readonly<Record<string, string>> => ({
  [SUPERVISOR]: `${pid} ${start} ${boot}`,
});
const SUPERVISOR = 'SVC_SUPERVISOR';

/** Members of a dead worker's group after its supervisor died too. `areIts` says whether they are proven to be that worker's. */
export function leftBehind(
  worker: ProcessIdentity,
  supervisor: ProcessIdentity,
): { readonly members: readonly ProcessIdentity[]; readonly areIts: boolean } {
  const holder = statOf(worker.pid)?.start ?? worker.start;
  if (!isThisBoot(worker.boot) || holder !== worker.start || isAlive(worker)) return { members: [], areIts: false };
  const pids = processes().filter((pid) => isLiveIn(worker.pid, pid) && statOf(pid)?.session === worker.pid);
  const members = pids.map(identify).filter((member) => member !== undefined);
  const [[name, value] = ['', '']] = Object.entries(supervisedBy(supervisor));
  return { members, areIts: members.some(({ pid }) => beganWith(pid, name, value)) };
}

/** Other members of a live leader's group. Empty if the leader has ended or the system does not tell. */
export function membersOf(leader: ProcessIdentity): readonly ProcessIdentity[] {
  const pids = processes().filter((pid) => pid !== leader.pid && isLiveIn(leader.pid, pid));
  const members = pids.map(identify).filter((member) => member !== undefined);
  return isAlive(leader) ? members : []; // the number may have been reused
}

/** Returns false if the group is empty. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  if (leader <= 1) return false;
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isLiveIn(leader: number, pid: number): boolean {
  const stat = statOf(pid);
  return stat?.group === leader && !stat.isZombie;
}
