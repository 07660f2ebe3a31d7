// The worker's control socket, .svc/worker.sock. The socket works the same for every kind of owner.
import type { ControlRequest, RuntimeStatus } from '../../shared/api/control.ts';
import { type ControlListener, listenForControl } from '../../shared/control/control-listener.ts';
import { WORKER_SOCKET } from '../../shared/files/paths.ts';
import type { Log } from '../../shared/log/logger.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { VERSION } from '../../shared/version.ts';
import { turns } from '../core/turns.ts';
import type { RestartOwner } from '../database/writer-lock.ts';
import type { App } from '../host/app-options.ts';
import { reloadFault } from '../host/app-restart.ts';

export interface WorkerControlOptions {
  readonly owner: RestartOwner;
  /** The owner's command to stop this worker. */
  readonly ownerStop: string;
  readonly log: Log;
  /** Undefined until the app is made. */
  readonly app: () => App | undefined;
  readonly status: () => Promise<RuntimeStatus>;
  readonly stop: (code: 0 | 51, reason: string) => Promise<void>;
}

const CAPABILITIES = ['hello', 'status', 'stop', 'restart', 'reload', 'logs', 'log_lines', 'check', 'check_code'];

/** Opens after one turn of the event loop, so that the opening of the database is not delayed. */
export async function openWorkerControl(options: WorkerControlOptions): Promise<ControlListener> {
  await turns(1);
  return listenForControl({
    path: WORKER_SOCKET,
    capabilities: CAPABILITIES,
    answer: (request) => answer(options, request),
    onTrouble: (message) => options.log.logger.warn(message),
  });
}

async function answer(
  { owner, ownerStop, log, app, status, stop }: WorkerControlOptions,
  { command, options = {} }: ControlRequest,
): Promise<unknown> {
  switch (command) {
    case 'hello':
      return { who: 'worker', pid: process.pid, owner, version: VERSION };
    case 'status':
      return { ...(await status()), ownerStop };
    case 'stop':
      if (owner !== 'daemon' && owner !== 'foreground') {
        throw new SvcError('refused', `this worker belongs to ${owner}, which would start it again`, {
          hint: ownerStop,
        });
      }
      void stop(EXIT.ok, 'stop asked for over the control socket');
      return { accepted: true, pid: process.pid };
    case 'restart':
      if (owner === 'foreground')
        throw new SvcError('no_restart_owner', 'nothing would start this foreground worker again', {
          hint: 'stop it and start it again, or use `svc runtime start --daemon`',
        });
      if (owner === 'systemd') await app()?.operators.checkStarts();
      if (options['checked'] !== true) await app()?.operators.checkConfig();
      void stop(EXIT.restartRequested, 'restart asked for over the control socket');
      return { accepted: true, pid: process.pid, runtimeId: app()?.runtimeId ?? null };
    case 'reload': {
      const running = app();
      if (running === undefined) throw new SvcError('not_running', 'the host is still starting');
      try {
        return await running.reload('control', { orRestart: options['orRestart'] === true });
      } catch (error) {
        throw reloadFault(error);
      }
    }
    case 'check':
      return { valid: true, configVersion: null, ...(await app()?.operators.checkConfig()) };
    case 'check_code':
      await app()?.operators.checkCode();
      return { valid: true };
    case 'logs':
      return { ...log.recent(typeof options['after'] === 'number' ? options['after'] : 0), pid: process.pid };
    default:
      throw new SvcError('refused', `this worker does not know the command ${command.slice(0, 40)}`, {
        hint: 'its version is older than that of the command: restart it',
      });
  }
}
