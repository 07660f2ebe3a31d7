// `svc runtime restart --daemon`: replaces the running supervisor by one of this version, which takes over lock, socket and restart budget.
import type { SupervisorSettings } from '../../../shared/api/ipc.ts';
import { supervisorSettings } from '../../../shared/config/supervisor-settings.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext } from '../command.ts';
import type { RunningProject } from '../connect/control-client.ts';
import { canJudge, refuseBrokenRestart } from '../connect/running-configuration.ts';
import { supervisorArguments } from './start-daemon.ts';
import { loadTasks } from './worker-entry.ts';

/** Covers the ten seconds in which a successor must get ready. */
const PREPARE_MS = 15_000;

export interface ReplaceOptions {
  readonly running: RunningProject;
  readonly context: Pick<CommandContext, 'env' | 'end'>;
}

/** Returns the new supervisor's pid. Throws for an invalid configuration (exit code 78), without a daemon, and for one that cannot be replaced. */
export async function replaceDaemon(project: string, { running, context }: ReplaceOptions): Promise<number> {
  if (running.who !== 'supervisor')
    throw new SvcError('not_running', `no daemon runs here, but a worker started by ${running.status.owner}`, {
      hint:
        running.status.owner === 'foreground'
          ? 'stop it and start it again, or use `svc runtime start --daemon`'
          : 'svc runtime restart',
    });
  const options = {
    program: process.execPath,
    args: [...supervisorArguments(project, context.env), '--successor'],
    settings: await checkedSettings(project, { running, context }),
  };
  const { supervisorPid } = (await running.call('replace', { options, timeoutMs: PREPARE_MS })) as {
    readonly supervisorPid: number;
  };
  return supervisorPid;
}

/** New settings for the supervisor. A running worker has sent them, and it knows variables that this shell may lack. */
async function checkedSettings(
  project: string,
  { running: { status }, context }: ReplaceOptions,
): Promise<Partial<SupervisorSettings>> {
  if (canJudge(status)) {
    await refuseBrokenRestart(status);
    return {};
  }
  const { checkProject } = await loadTasks(context);
  const { loaded } = await checkProject({ project, mode: 'production', environment: context.env, builtInOnly: true });
  return status.state === 'running' ? {} : supervisorSettings(loaded);
}
