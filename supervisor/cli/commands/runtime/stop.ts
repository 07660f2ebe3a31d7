// `svc runtime stop`: asks for a drain, waits for the end, says what was cut. Where an owner would start it again, that owner's command is named.

import { setTimeout as pause } from 'node:timers/promises';
import type { Cut, ExitRecord } from '../../../../shared/api/control.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { identify, isAlive, type ProcessIdentity } from '../../../../shared/process/process-identity.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command } from '../../command.ts';
import {
  cutBy,
  findRunning,
  hasLiveHost,
  liveSupervisor,
  liveWorker,
  type RunningProject,
} from '../../connect/control-client.ts';
import { endSilentHost, findSilentHost } from '../../connect/last-resort.ts';
import { cutText } from '../../output/status-text.ts';

/** A configured drain may take ten minutes; of a supervisor it is known. */
const LONGEST_MS = 600_000;
const BEHIND_DRAIN_MS = 20_000;
const NOW_MS = 20_000;
/** The answer to `stop` did not come. */
const SILENT = Symbol('silent');
const POLL_MS = 25;

export const command: Command = {
  noun: 'runtime',
  verb: 'stop',
  summary: 'Stops the runtime after a drain; with nothing running that is done already',
  options: [{ flags: '--now', description: 'Under --daemon: ends the worker at once instead of draining' }],
  examples: ['svc runtime stop', 'svc runtime stop --now', 'svc runtime stop --json'],
  async run({ project, print }, _args, options) {
    const folder = project(hasLiveHost);
    const how = { now: options['now'] === true, note: (text: string) => print.note(text) };
    const running = await findRunning(folder).catch((error: unknown) => silent(folder, error));
    if (running === undefined || 'error' in running) {
      const ended = await endSilent(folder, how);
      if (ended === undefined && running !== undefined) throw running.error;
      print.text(
        ended === undefined ? 'nothing is running' : print.color.warn('stopped, without a drain that could be seen'),
      );
      print.json({ stopped: true, wasRunning: ended !== undefined, ...(ended === undefined ? {} : { pid: ended }) });
      return EXIT.ok;
    }
    const { pid } = running.status;
    const cut = await stop(folder, running, how);
    print.text(cut.length === 0 ? print.color.good('stopped') : print.color.warn(`stopped${cutText(cut)}`));
    print.json({ stopped: true, wasRunning: true, pid, cut });
    return EXIT.ok;
  },
};

interface StopOptions {
  readonly now: boolean;
  readonly note: (text: string) => void;
}

/** Nobody answers, or nobody can be asked: what is there is looked for among the processes. */
function silent(folder: string, error: unknown): { readonly error: unknown } {
  const isSilence = error instanceof SvcError && (error.code === 'timeout' || error.code === 'state_dir_unsafe');
  if (!isSilence || findSilentHost(folder) === undefined) throw error;
  return { error };
}

/** The pid of what was ended; undefined where there was nothing. */
async function endSilent(folder: string, how: StopOptions): Promise<number | undefined> {
  const host = findSilentHost(folder);
  if (host !== undefined) {
    await endSilentHost(host, how);
    return (host.supervisor ?? host.worker)?.pid;
  }
  const worker = liveWorker(folder); // its owner would start it again
  if (worker === undefined) return undefined;
  throw new SvcError('timeout', `pid ${worker.pid}, started by ${worker.owner}, runs but does not answer`, {
    hint: `kill ${worker.pid}`,
  });
}

/** Gives what was cut. */
async function stop(project: string, running: RunningProject, { now, note }: StopOptions): Promise<readonly Cut[]> {
  const { who, status } = running;
  const stopping = `stopping ${status.pid === null ? 'the supervisor' : `pid ${status.pid}`}`;
  // A supervisor answers once all is over, a worker at once: it may refuse.
  if (who === 'supervisor') note(stopping);
  const process = processToGo(project, running);
  const limitMs = now ? NOW_MS : (liveSupervisor(project)?.stopMs ?? LONGEST_MS) + BEHIND_DRAIN_MS;
  const result = await running.call('stop', { options: { now }, timeoutMs: limitMs }).catch(goneFirst);
  if (who === 'worker') note(stopping);
  if (result === SILENT || (process !== undefined && !(await isGone(process, limitMs)))) {
    await endSilent(project, { now: true, note });
    return [{ name: 'worker', count: null, reason: 'was killed with its host, which had not stopped' }];
  }
  if (result !== undefined) return who === 'supervisor' ? cutUnder(project, result) : cutBy(project, status.runtimeId);
  const next = await findRunning(project);
  const isOver = next === undefined || next.status.state === 'stopped';
  return isOver ? cutBy(project, status.runtimeId) : stop(project, next, { now, note });
}

/** Whose end is the end: of a worker that answers in place of its supervisor that one's, too. */
function processToGo(project: string, { who, status }: RunningProject): ProcessIdentity | undefined {
  const supervisor = who === 'worker' && status.owner === 'daemon' ? findSilentHost(project)?.supervisor : undefined;
  return supervisor ?? identify(status.supervisorPid ?? status.pid ?? 0);
}

/** It ended before it could answer: another stop, or its death, was quicker, and what was cut is told there; or it had just been replaced. */
function goneFirst(error: unknown): undefined | typeof SILENT {
  if (error instanceof SvcError && error.code === 'not_running') return undefined;
  if (error instanceof SvcError && error.code === 'timeout') return SILENT;
  throw error;
}

/** A worker that had to be killed could not say what it was at: the supervisor's record tells of it. */
function cutUnder(project: string, result: unknown): readonly Cut[] {
  const { last, hadWorker } = result as { readonly last: ExitRecord | null; readonly hadWorker: boolean };
  if (!hadWorker || last === null) return [];
  if (last.signal === 'SIGKILL') return [{ name: 'worker', count: null, reason: `was killed: ${last.detail}` }];
  return cutBy(project, last.runtimeId);
}

async function isGone(process: ProcessIdentity, limitMs: number): Promise<boolean> {
  for (const endsAt = performance.now() + limitMs; isAlive(process); await pause(POLL_MS))
    if (performance.now() > endsAt) return false;
  return true;
}
