// The process group of a worker: ended as a whole, and seen to have ended, before anything else of the host begins.
//
//   K1  It is signalled by its number alone, and only while that number is its own: from the start of its leader, our child, to the moment in which
//       we reap it. Whoever is left in the group then keeps the number from everybody else; where nobody is, the signal reaches nobody.
//       No nonce is needed for that, nor for anything else that the host signals: its own children, and what leftover.ts has verified.
//   K2  A zombie has ended: who should reap it may never do so.
//   K3  What no signal ends (it is in the middle of a call of the system, or another user's) holds nobody up for longer than 2 s.
//   K4  Where nobody of us reaped the leader, its number says nothing: a process led by one long gone may have it by now. But whoever was born in the
//       group has the name of its supervisor in its environment, and while one of those lives nobody else gets the number: all of them are its.

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
 * Kills what is left in the group of a leader that was reaped in this very moment. Resolves when nobody lives in it any more; after 2 s with
 * the pids of those who do, as far as the system tells them. An empty group, which is the normal case, costs one call of the system.
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

/** What a worker is given for its children: who its supervisor is (K4). */
export const supervisedBy = ({ pid, start, boot }: ProcessIdentity): Readonly<Record<string, string>> => ({
  [SUPERVISOR]: `${pid} ${start} ${boot}`,
});
const SUPERVISOR = 'SVC_SUPERVISOR';

/** Who lives in the group of a worker that has ended under a supervisor that has ended, and whether all of them are that worker's (K4). */
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

/** Who else is in the group of a process that leads one; nobody where that one is gone, or the system does not tell. */
export function membersOf(leader: ProcessIdentity): readonly ProcessIdentity[] {
  const pids = processes().filter((pid) => pid !== leader.pid && isLiveIn(leader.pid, pid));
  const members = pids.map(identify).filter((member) => member !== undefined);
  return isAlive(leader) ? members : []; // its number may be somebody else's by now
}

/** False where nobody is in the group. */
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
