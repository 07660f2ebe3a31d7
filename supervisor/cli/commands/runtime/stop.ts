// `svc runtime stop`: drains the host, waits for its end and reports cut work. If a process manager would restart it, names that manager's command.

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

/** Longest drain that can be configured. A supervisor's record holds the exact limit. */
const LONGEST_MS = 600_000;
const BEHIND_DRAIN_MS = 20_000;
const NOW_MS = 20_000;
/** No answer to `stop` came in time. */
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

/** No process answers or may be asked, so the host is searched for among the processes. */
function silent(folder: string, error: unknown): { readonly error: unknown } {
  const isSilence = error instanceof SvcError && (error.code === 'timeout' || error.code === 'state_dir_unsafe');
  if (!isSilence || findSilentHost(folder) === undefined) throw error;
  return { error };
}

/** Returns the pid of the ended process. Undefined if there was none. */
async function endSilent(folder: string, how: StopOptions): Promise<number | undefined> {
  const host = findSilentHost(folder);
  if (host !== undefined) {
    await endSilentHost(host, how);
    return (host.supervisor ?? host.worker)?.pid;
  }
  const worker = liveWorker(folder); // its process manager would restart it
  if (worker === undefined) return undefined;
  throw new SvcError('timeout', `pid ${worker.pid}, started by ${worker.owner}, runs but does not answer`, {
    hint: `kill ${worker.pid}`,
  });
}

/** Returns the work that was cut. */
async function stop(project: string, running: RunningProject, { now, note }: StopOptions): Promise<readonly Cut[]> {
  const { who, status } = running;
  const stopping = `stopping ${status.pid === null ? 'the supervisor' : `pid ${status.pid}`}`;
  // A supervisor answers `stop` only after the end. A worker answers at once and may refuse, so the note must wait.
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

/** The process whose end is awaited. If a daemon's worker answers in place of its supervisor, that is the supervisor. */
function processToGo(project: string, { who, status }: RunningProject): ProcessIdentity | undefined {
  const supervisor = who === 'worker' && status.owner === 'daemon' ? findSilentHost(project)?.supervisor : undefined;
  return supervisor ?? identify(status.supervisorPid ?? status.pid ?? 0);
}

/** The process ended before it answered: another stop or its death came first, or it was just replaced. */
function goneFirst(error: unknown): undefined | typeof SILENT {
  if (error instanceof SvcError && error.code === 'not_running') return undefined;
  if (error instanceof SvcError && error.code === 'timeout') return SILENT;
  throw error;
}

/** A killed worker could not report its running work. The supervisor's exit record is used instead. */
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
