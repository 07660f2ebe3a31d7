// `svc runtime stop`: asks for a drain, waits for the end, says what was cut. Where an owner would start it again, that owner's command is named.

import { setTimeout as pause } from 'node:timers/promises';
import type { Cut, ExitRecord } from '../../../shared/api/control.ts';
import { EXIT } from '../../../shared/exit-codes.ts';
import { identify, isAlive, type ProcessIdentity } from '../../../shared/process-identity.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Command } from '../command.ts';
import { cutBy, findRunning, hasLiveHost, liveWorker, type RunningProject } from '../control-client.ts';
import { cutText } from '../status-text.ts';

/** A configured drain may take ten minutes. */
const LONGEST_MS = 620_000;
const POLL_MS = 25;

export const command: Command = {
  noun: 'runtime',
  verb: 'stop',
  summary: 'Stops the runtime after a drain; with nothing running that is done already',
  options: [{ flags: '--now', description: 'Under --daemon: ends the worker at once instead of draining' }],
  examples: ['svc runtime stop', 'svc runtime stop --now', 'svc runtime stop --json'],
  async run({ project, print }, _args, options) {
    const folder = project(hasLiveHost);
    const running = await findRunning(folder);
    if (running === undefined) {
      const worker = liveWorker(folder);
      if (worker !== undefined)
        throw new SvcError('timeout', `pid ${worker.pid}, started by ${worker.owner}, runs but does not answer`, {
          hint: `kill ${worker.pid}`,
        });
      print.text('nothing is running');
      print.json({ stopped: true, wasRunning: false });
      return EXIT.ok;
    }
    const { pid } = running.status;
    const cut = await stop(folder, running, { now: options['now'] === true, note: (text) => print.note(text) });
    print.text(cut.length === 0 ? print.color.good('stopped') : print.color.warn(`stopped${cutText(cut)}`));
    print.json({ stopped: true, wasRunning: true, pid, cut });
    return EXIT.ok;
  },
};

interface StopOptions {
  readonly now: boolean;
  readonly note: (text: string) => void;
}

/** Gives what was cut. */
async function stop(project: string, running: RunningProject, { now, note }: StopOptions): Promise<readonly Cut[]> {
  const { who, status } = running;
  const stopping = `stopping ${status.pid === null ? 'the supervisor' : `pid ${status.pid}`}`;
  // A supervisor answers once all is over, a worker at once: it may refuse.
  if (who === 'supervisor') note(stopping);
  const process = identify(status.supervisorPid ?? status.pid ?? 0);
  const result = await running.call('stop', { options: { now }, timeoutMs: LONGEST_MS }).catch(goneFirst);
  if (who === 'worker') note(stopping);
  if (process !== undefined) await goneOf(process);
  if (result !== undefined) return who === 'supervisor' ? cutUnder(project, result) : cutBy(project, status.runtimeId);
  const next = await findRunning(project);
  const isOver = next === undefined || next.status.state === 'stopped';
  return isOver ? cutBy(project, status.runtimeId) : stop(project, next, { now, note });
}

/** It ended before it could answer: another stop, or its death, was quicker, and what was cut is told there; or it had just been replaced. */
function goneFirst(error: unknown): undefined {
  if (error instanceof SvcError && error.code === 'not_running') return undefined;
  throw error;
}

/** A worker that had to be killed could not say what it was at: the supervisor's record tells of it. */
function cutUnder(project: string, result: unknown): readonly Cut[] {
  const { last, hadWorker } = result as { readonly last: ExitRecord | null; readonly hadWorker: boolean };
  if (!hadWorker || last === null) return [];
  if (last.signal === 'SIGKILL') return [{ name: 'worker', count: null, reason: `was killed: ${last.detail}` }];
  return cutBy(project, last.runtimeId);
}

async function goneOf(process: ProcessIdentity): Promise<void> {
  while (isAlive(process)) await pause(POLL_MS);
}
