// Finds the process that runs a project over its local sockets: the supervisor if there is one, else the worker.
import { existsSync, statSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { ControlCommand, Cut, RuntimeStatus } from '../../../shared/api/control.ts';
import { type ControlCallOptions, callControl } from '../../../shared/control/control-client.ts';
import { fewFilesLeftIn, INODES_REMEDY } from '../../../shared/files/free-files.ts';
import { readOwnFile } from '../../../shared/files/own-file.ts';
import { CONTROL_SOCKET, type ProjectPaths, projectPaths, WORKER_SOCKET } from '../../../shared/files/paths.ts';
import { checkStateFolder } from '../../../shared/files/state-folder.ts';
import { isAliveIn, isElsewhere, type ProcessIdentity } from '../../../shared/process/process-identity.ts';
import { SvcError } from '../../../shared/svc-error.ts';

const POLL_MS = 25;
/** Longer than the two seconds in which a supervisor recreates its socket. A successor is faster. */
const SILENCE_MS = 5_000;

export interface RunningProject {
  readonly who: 'supervisor' | 'worker';
  readonly status: RuntimeStatus & { readonly supervisorVersion?: string };
  call(command: ControlCommand, options?: ControlCallOptions): Promise<unknown>;
}

/**
 * Undefined if no process answers. Changes to the project folder, because sockets are reached by relative names.
 * While one supervisor replaces another, none answers or a stopped one does. The function waits for the successor.
 * Throws `state_dir_unsafe` if this user cannot read the folder, and `timeout` for a process that does not answer.
 */
export async function findRunning(project: string): Promise<RunningProject | undefined> {
  process.chdir(project);
  refuseHidden(projectPaths(project));
  for (const endsAt = performance.now() + SILENCE_MS; ; ) {
    const running = await whoAnswers(project);
    if (running !== undefined && running.status.state !== 'stopped') return running;
    const office = supervisorRecord(project);
    if (office === undefined || office.state === 'stopped' || !isAliveIn(project, office.supervisor)) return running;
    if (performance.now() > endsAt)
      throw noSocketYet(project, office) ?? doesNotAnswer('supervisor', { pid: office.supervisor.pid, office });
    await pause(POLL_MS);
  }
}

async function whoAnswers(project: string): Promise<RunningProject | undefined> {
  for (const [who, path] of [
    ['supervisor', CONTROL_SOCKET],
    ['worker', WORKER_SOCKET],
  ] as const) {
    if (!existsSync(path)) continue;
    try {
      const status = (await callControl(path, 'status')) as RunningProject['status'];
      return {
        who,
        status,
        call: (command, options) => callControl(path, command, options).catch(sayGone(who, status)),
      };
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== 'not_running') throw withHolder(error, project, who);
    }
  }
  return undefined;
}

/** The process has just answered, so a missing one was ended in between. */
const sayGone =
  (who: RunningProject['who'], { pid, supervisorPid }: RuntimeStatus) =>
  (error: unknown): never => {
    if (!(error instanceof SvcError) || error.code !== 'not_running' || error.hint !== undefined) throw error;
    throw new SvcError(
      'not_running',
      `the ${who}, pid ${who === 'supervisor' ? supervisorPid : pid}, ended before it had answered`,
      {
        cause: error,
        hint: '`svc runtime status` says what runs by now',
      },
    );
  };

/** Files in a folder without access look as if they were missing. */
function refuseHidden({ stateDir, writerLock }: ProjectPaths): void {
  try {
    statSync(writerLock, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return;
    checkStateFolder(stateDir);
    throw new SvcError('state_dir_unsafe', `${stateDir} cannot be looked into`, {
      cause: error,
      hint: 'run svc as the user that the host runs as',
    });
  }
}

/** Names the process that does not answer and the command that ends it, because a frozen process cannot report itself. */
function withHolder(error: unknown, project: string, who: RunningProject['who']): unknown {
  if (!(error instanceof SvcError) || error.code !== 'timeout') return error;
  const office = liveSupervisor(project);
  const holder = who === 'worker' ? liveWorker(project) : office?.supervisor;
  return holder === undefined ? error : doesNotAnswer(who, { pid: holder.pid, office }, error);
}

/** Without an inode no socket can be made. */
function noSocketYet(project: string, { supervisor: { pid } }: SupervisorFacts): SvcError | undefined {
  const fewFiles = existsSync(CONTROL_SOCKET) ? undefined : fewFilesLeftIn(projectPaths(project).stateDir);
  if (fewFiles === undefined) return undefined;
  return new SvcError('timeout', `the supervisor, pid ${pid}, runs and has no socket to answer at: ${fewFiles}`, {
    hint: `${INODES_REMEDY}: the host goes on by itself`,
    details: { pid },
  });
}

function doesNotAnswer(
  who: RunningProject['who'],
  { pid, office }: { readonly pid: number; readonly office: SupervisorFacts | undefined },
  cause?: unknown,
): SvcError {
  const last = office === undefined ? '' : `; supervisor.json says: ${office.state} since ${office.since}`;
  return new SvcError('timeout', `the ${who}, pid ${pid}, runs but does not answer`, {
    cause,
    hint: `it may be stopped (kill -CONT ${pid}) or blocked; kill -KILL ${pid} ends it, as \`svc runtime stop\` does after a while, and loses nothing that was acknowledged${last}`,
    details: { pid, ...(office === undefined ? {} : { lastKnown: { state: office.state, since: office.since } }) },
  });
}

/** Whether the process that answered is of another container, in which its pid counts. */
export function answersFromElsewhere(project: string, { who }: Pick<RunningProject, 'who'>): boolean {
  const identity = who === 'worker' ? workerRecord(project) : supervisorRecord(project)?.supervisor;
  return identity !== undefined && isElsewhere(identity);
}

/** Like `findRunning`, but waits for a process that is about to end. For commands that start another. */
export async function findStaying(project: string): Promise<RunningProject | undefined> {
  for (;;) {
    const running = await findRunning(project);
    if (running === undefined || !isEnding(running.status)) return running;
    await pause(POLL_MS);
  }
}

const isEnding = ({ state, drain }: RuntimeStatus): boolean => state === 'stopped' || drain === 'stop';

/** Like `findRunning`, but throws if no process runs. */
export async function requireRunning(project: string): Promise<RunningProject> {
  const running = await findRunning(project);
  if (running === undefined)
    throw new SvcError('not_running', 'nothing is running here', { hint: 'svc runtime start --daemon' });
  return running;
}

export interface WorkerRecordFacts extends ProcessIdentity {
  readonly runtimeId: string;
  readonly owner: string;
  readonly mode: string;
  readonly startedAt: string;
  /** Written by an orderly exit. A killed worker leaves none. */
  readonly end?: {
    readonly at: string;
    readonly reason: string;
    /** An older worker leaves it out. */
    readonly cut?: readonly Cut[];
  };
}

/** The last holder of the writer lock, from its record. */
export function workerRecord(project: string): WorkerRecordFacts | undefined {
  try {
    const record = JSON.parse(readOwnFile(projectPaths(project).workerRecord)) as WorkerRecordFacts | null;
    return typeof record?.startedAt === 'string' ? record : undefined;
  } catch {
    return undefined; // no record: the writer lock decides
  }
}

/** Work that this worker's drain cut, as it recorded at its end. */
export function cutBy(project: string, runtimeId: string | null): readonly Cut[] {
  const record = workerRecord(project);
  return (record?.runtimeId === runtimeId ? record?.end?.cut : undefined) ?? [];
}

/** The live holder, even if it does not answer. */
export function liveWorker(project: string): WorkerRecordFacts | undefined {
  const record = workerRecord(project);
  return record !== undefined && isAliveIn(project, record) ? record : undefined;
}

/** Decides by the records in the folder, so that a host is found after its svc.config.yml was removed. */
export function hasLiveHost(folder: string): boolean {
  const office = supervisorRecord(folder);
  if (office !== undefined && office.state !== 'stopped' && isAliveIn(folder, office.supervisor)) return true;
  return liveWorker(folder) !== undefined;
}

/** The live supervisor, from its record. */
export function liveSupervisor(project: string): SupervisorFacts | undefined {
  const office = supervisorRecord(project);
  return office !== undefined && isAliveIn(project, office.supervisor) ? office : undefined;
}

export interface SupervisorFacts {
  readonly state: string;
  readonly since: string;
  readonly supervisor: ProcessIdentity;
  /** An older supervisor leaves it out. */
  readonly stopMs?: number;
}

/** The current or last supervisor and its state. */
function supervisorRecord(project: string): SupervisorFacts | undefined {
  try {
    const record = JSON.parse(readOwnFile(projectPaths(project).supervisorRecord)) as Partial<SupervisorFacts>;
    const { state, supervisor } = record;
    const isWhole = typeof state === 'string' && typeof supervisor?.pid === 'number';
    return isWhole ? (record as SupervisorFacts) : undefined;
  } catch {
    return undefined; // no record, or a damaged one
  }
}
