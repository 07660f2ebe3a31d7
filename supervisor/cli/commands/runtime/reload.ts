// `svc runtime reload`: reads configuration, tokens and .env again. Prints the new generation, or why the old one stays.
// It ends with 1 if the host is not ready with the new generation.
import type { ReloadResult, RuntimeStatus } from '../../../../shared/api/control.ts';
import { ERRORS } from '../../../../shared/error-codes.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command } from '../../command.ts';
import { type RunningProject, requireRunning } from '../../connect/control-client.ts';
import { untilNextWorker } from '../../connect/next-worker.ts';
import { DAEMON_STOPPED, goneProcess } from '../../connect/wait-for-ready.ts';

const TIMEOUT_MS = 35_000;
const RESTART_MS = 60_000;

export const command: Command = {
  noun: 'runtime',
  verb: 'reload',
  summary: 'Takes in a changed configuration without a restart; refused where code has changed',
  options: [{ flags: '--or-restart', description: 'Restart the worker (75) where a reload cannot take the change in' }],
  examples: ['svc runtime reload', 'svc runtime reload --or-restart'],
  async run({ project, print }, _args, options) {
    const folder = project();
    const running = await requireRunning(folder);
    const orRestart = options['orRestart'] === true;
    try {
      const result = await running.call('reload', { options: { orRestart }, timeoutMs: TIMEOUT_MS });
      const { generation, warnings = [] } = result as ReloadResult;
      const status = (await running.call('status').catch(() => undefined)) as RuntimeStatus | undefined;
      const { ready = true, reasons = [] } = status ?? {}; // an unknown status does not undo the reload
      if (ready) print.text(print.color.good(`generation ${generation}`));
      else
        print.text(
          print.color.bad(`generation ${generation} serves, but the host is not ready: ${reasons.join('; ')}`),
        );
      print.json({ reloaded: true, generation, ready, reasons, warnings });
      for (const warning of warnings) print.note(print.color.warn(`warning: ${warning}`));
      if (!ready) print.note('mend what the reasons name, then: svc runtime reload');
      return ready ? EXIT.ok : EXIT.failed;
    } catch (error) {
      if (error instanceof SvcError && ERRORS[error.code].exit === EXIT.config) throw unreloaded(error);
      if (!orRestart || !(error instanceof SvcError) || error.code !== 'restart_required') throw error;
      print.note(error.message);
      const former = running.status.runtimeId;
      return untilNextWorker(print, { project: folder, former, timeoutMs: RESTART_MS, givenUp: nobodyStarts(running) });
    }
  },
};

/** Exit code 78, as for every command that an invalid configuration stops. */
const unreloaded = (error: SvcError): SvcError =>
  new SvcError(error.code, error.message, {
    cause: error,
    hint: 'nothing was reloaded: the generation that serves goes on; `svc config check` checks the file',
  });

/** Under a process manager whose end is not visible here, only the time limit decides. */
function nobodyStarts({ who, status }: RunningProject): () => string | undefined {
  if (who === 'supervisor') return goneProcess(status.supervisorPid, DAEMON_STOPPED);
  return goneProcess(
    status.owner === 'foreground' ? status.pid : null,
    'the worker has ended, and nothing starts it again',
  );
}
