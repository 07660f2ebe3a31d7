// `svc runtime restart --daemon`: the supervisor of this version takes the place of the running one, with its lock, its socket and its budget.
import type { SupervisorSettings } from '../../../shared/api/ipc.ts';
import { supervisorSettings } from '../../../shared/config/supervisor-settings.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext } from '../command.ts';
import type { RunningProject } from '../connect/control-client.ts';
import { canJudge, refuseBrokenRestart } from '../connect/running-configuration.ts';
import { supervisorArguments } from './start-daemon.ts';
import { loadTasks } from './worker-entry.ts';

/** A successor has ten seconds to get ready. */
const PREPARE_MS = 15_000;

export interface ReplaceOptions {
  readonly running: RunningProject;
  readonly context: Pick<CommandContext, 'env' | 'end'>;
}

/** Gives the pid of the new supervisor. Throws what is wrong with the configuration (78), and where there is no daemon, or one that cannot be replaced. */
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

/** What the supervisor has to know anew. That of a worker that runs knows all of it, by variables that this shell may not have. */
async function checkedSettings(
  project: string,
  { running: { status }, context }: ReplaceOptions,
): Promise<Partial<SupervisorSettings>> {
  if (canJudge(status)) {
    await refuseBrokenRestart(status);
    return {};
  }
  const { checkProject } = await loadTasks(context);
  const { loaded } = await checkProject({ project, mode: 'production', environment: context.env });
  return status.state === 'running' ? {} : supervisorSettings(loaded);
}
