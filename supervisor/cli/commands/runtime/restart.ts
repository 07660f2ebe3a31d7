// `svc runtime restart`: the worker drains and exits with 51 under any process manager. Returns when the next worker is ready.
// With --daemon the supervisor is replaced, too. An invalid configuration or a broken plugin stops nothing.
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command } from '../../command.ts';
import { requireRunning } from '../../connect/control-client.ts';
import { untilNextWorker } from '../../connect/next-worker.ts';
import { refuseBrokenRestart } from '../../connect/running-configuration.ts';
import { DAEMON_STOPPED, goneProcess } from '../../connect/wait-for-ready.ts';

const DEFAULT_SECONDS = 60;

export const command: Command = {
  noun: 'runtime',
  verb: 'restart',
  summary: 'Restarts the worker, and waits until the new one is ready; a failed runtime gets a new budget of starts',
  options: [
    { flags: '--daemon', description: 'Replaces the supervisor too, after an upgrade; nobody is refused meanwhile' },
    { flags: '--timeout <seconds>', description: 'How long to wait for the new worker', default: DEFAULT_SECONDS },
  ],
  examples: ['svc runtime restart', 'svc runtime restart --daemon', 'svc runtime restart --timeout 120 --json'],
  async run(context, _args, options) {
    const { project, print } = context;
    const folder = project();
    const seconds = Number(options['timeout']);
    if (!(seconds > 0)) throw new SvcError('usage', '--timeout needs a number of seconds');
    const running = await requireRunning(folder);
    const supervisorPid =
      options['daemon'] === true
        ? await (await import('../../start/replace-daemon.ts')).replaceDaemon(folder, { running, context })
        : undefined;
    if (supervisorPid === undefined) {
      if (running.status.state !== 'running') (await import('../../../../shared/sqlite.ts')).trySqlite(); // nobody to ask
      await refuseBrokenRestart(running.status);
      await running.call('restart', { options: { checked: true } });
    }
    return untilNextWorker(print, {
      project: folder,
      former: running.status.runtimeId,
      timeoutMs: seconds * 1_000,
      givenUp: goneProcess(supervisorPid ?? running.status.supervisorPid, DAEMON_STOPPED),
      ...(supervisorPid === undefined ? {} : { supervisorPid }),
    });
  },
};
