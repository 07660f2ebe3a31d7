// What a dead supervisor may have left: a worker that is still alive, or a port that somebody else holds. Looked at before a worker is started.
//
//   O1  A process is signalled only when pid, start time and boot of a record match it; its group member by member, by what each was seen to be
//       while it led them, or after it where they are its (K4 of process-group.ts). A stranger is never signalled but named, so that nobody needs
//       to be asked over a socket who he is.
//       One that works in another folder is of the project that this one was copied from: no leftover.
//   O2  A worker of another owner (foreground, systemd, …) is never ended: it is named.
//   O3  A port that is taken (claim-address.ts) spends no start.
import { dirname } from 'node:path';
import { readOwnFile } from '../../shared/files/own-file.ts';
import { isAlive, isAliveIn, type ProcessIdentity } from '../../shared/process/process-identity.ts';
import { delay } from '../../shared/time/abort.ts';
import type { Former } from '../log/record.ts';
import type { Event, FailureKind } from '../machine/machine.ts';
import { leftBehind, membersOf } from './process-group.ts';

export interface LeftoverOptions {
  readonly former: Former | null;
  /** `.svc/worker.json`: written by the holder of the writer lock. */
  readonly workerRecord: string;
  /** Gets hold of the address; gives why that failed. Asked for once nothing is left that could hold it. */
  readonly claim: () => Promise<string | undefined>;
  readonly say: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

const TERM_MS = 5_000;
const KILL_MS = 2_000;

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
  const other = otherOwner(options.workerRecord);
  if (other !== undefined) return { failure: 'owner', detail: other };
  const holder = readHolder(options.workerRecord);
  for (const identity of [options.former?.worker, holder?.identity]) {
    if (identity === undefined || !isAliveIn(projectOf(options.workerRecord), identity)) continue;
    options.say('worker of a former supervisor found', { pid: identity.pid });
    if (!(await endProcess(identity, options)))
      return { failure: 'leftover', detail: `pid ${identity.pid}, the worker of a former supervisor, cannot be ended` };
  }
  if (options.former !== null) await endLeftBehind(options.former, options);
  const taken = await options.claim();
  return taken === undefined ? undefined : { failure: 'port', detail: taken };
}

/** O2: the live worker of another owner; undefined where there is none. */
export function otherOwner(workerRecord: string): string | undefined {
  const holder = readHolder(workerRecord);
  if (holder === undefined || holder.owner === 'daemon' || !isAliveIn(projectOf(workerRecord), holder.identity))
    return undefined;
  return `a worker started by ${holder.owner} runs already, pid ${holder.identity.pid}`;
}

const projectOf = (workerRecord: string): string => dirname(dirname(workerRecord));

/** With its group, as a live supervisor would have ended it. */
async function endProcess(identity: ProcessIdentity, { say }: LeftoverOptions): Promise<boolean> {
  const group = membersOf(identity);
  signal(identity, 'SIGTERM');
  await goneWithin([identity], TERM_MS);
  const all = [identity, ...group, ...membersOf(identity)];
  for (const each of all) signal(each, 'SIGKILL');
  if (await goneWithin(all, KILL_MS)) return true;
  sayLeft(group, say);
  return !isAlive(identity);
}

/** What its group holds after the worker itself has ended: nobody was there to end it. */
async function endLeftBehind({ worker, supervisor }: Former, { say }: LeftoverOptions): Promise<void> {
  const { members, areIts } = leftBehind(worker, supervisor);
  if (members.length === 0) return;
  const pids = members.map(({ pid }) => pid);
  if (!areIts)
    return say("processes in a group of that number are not known to be a former worker's: left alone", { pids });
  say('processes that a former worker left behind found', { worker: worker.pid, pids });
  for (const each of members) signal(each, 'SIGKILL');
  if (!(await goneWithin(members, KILL_MS))) sayLeft(members, say);
}

function sayLeft(group: readonly ProcessIdentity[], say: LeftoverOptions['say']): void {
  const pids = group.filter(isAlive).map(({ pid }) => pid);
  if (pids.length > 0) say('processes of an ended worker live on', { pids });
}

function signal(identity: ProcessIdentity, name: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, name);
  } catch {
    // it ended in between
  }
}

async function goneWithin(processes: readonly ProcessIdentity[], limitMs: number): Promise<boolean> {
  for (const endsAt = performance.now() + limitMs; performance.now() < endsAt; ) {
    if (!processes.some(isAlive)) return true;
    await delay(25);
  }
  return !processes.some(isAlive);
}

function readHolder(path: string): { readonly identity: ProcessIdentity; readonly owner: string } | undefined {
  try {
    const { pid, start, boot, owner } = JSON.parse(readOwnFile(path));
    if (typeof pid !== 'number' || typeof start !== 'string' || typeof boot !== 'string' || typeof owner !== 'string')
      return undefined;
    return { identity: { pid, start, boot }, owner };
  } catch {
    return undefined; // none, or not whole: the writer lock decides
  }
}
