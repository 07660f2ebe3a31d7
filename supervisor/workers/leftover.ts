// Finds what a dead supervisor may have left: a live worker, or a port that another program holds. Runs before a worker is started.
//
//   LEFTOVER-1  A process is signalled only if its pid, start time and boot match a record. Strangers are never signalled; the log names them.
//               Members of its process group are signalled only if they are proven to be the worker's children.
//               A worker in another folder is no leftover: this project was copied from that folder.
//   LEFTOVER-2  A worker of another owner (foreground, systemd, …) is never ended. The error names it.
//   LEFTOVER-3  A port that is in use costs no start of the restart budget.
import { dirname } from 'node:path';
import { readOwnFile } from '../../shared/files/own-file.ts';
import { isAlive, isAliveIn, type ProcessIdentity } from '../../shared/process/process-identity.ts';
import { delay } from '../../shared/time/abort.ts';
import type { Former } from '../log/record.ts';
import type { Event, FailureKind } from '../machine/machine.ts';
import { leftBehind, membersOf } from './process-group.ts';

export interface LeftoverOptions {
  readonly former: Former | null;
  /** `.svc/worker.json`, written by the holder of the writer lock. */
  readonly workerRecord: string;
  /** Binds the address. Returns why that failed. Called once no leftover can hold the address any more. */
  readonly claim: () => Promise<string | undefined>;
  readonly say: (message: string, fields: Readonly<Record<string, unknown>>) => void;
}

const TERM_MS = 5_000;
const KILL_MS = 2_000;

/** Ends leftover processes. Returns the event for the state machine. */
export async function lookForLeftovers(options: LeftoverOptions): Promise<Event> {
  try {
    const stuck = await clearLeftovers(options);
    return stuck === undefined ? { kind: 'clear' } : { kind: 'stuck', ...stuck };
  } catch (error) {
    return { kind: 'stuck', failure: 'leftover', detail: String(error) };
  }
}

/** Returns undefined if a worker can be started. */
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

/** Describes the live worker of another owner. Undefined if there is none. */
export function otherOwner(workerRecord: string): string | undefined {
  const holder = readHolder(workerRecord);
  if (holder === undefined || holder.owner === 'daemon' || !isAliveIn(projectOf(workerRecord), holder.identity))
    return undefined;
  return `a worker started by ${holder.owner} runs already, pid ${holder.identity.pid}`;
}

const projectOf = (workerRecord: string): string => dirname(dirname(workerRecord));

/** Ends a worker with its process group, as a live supervisor would. */
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

/** Ends the group's members that outlived their worker. */
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
    // It exited in between.
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
    return undefined; // none, or damaged: the writer lock decides
  }
}
