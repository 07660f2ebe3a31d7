// Answers the commands of the control protocol on .svc/control.sock.
import type { ControlRequest } from '../shared/api/control.ts';
import { callControl } from '../shared/control/control-client.ts';
import { type ControlListener, listenForControl } from '../shared/control/control-listener.ts';
import { CONTROL_SOCKET, type ProjectPaths, projectPaths, WORKER_SOCKET } from '../shared/files/paths.ts';
import { refuseUnusableState } from '../shared/files/state-folder.ts';
import { SvcError } from '../shared/svc-error.ts';
import type { RuntimeLog } from './log/runtime-log.ts';
import type { SuccessorProgram } from './succession/handover.ts';
import type { Supervisor } from './supervisor.ts';

/** Limit for the worker's answer in ms: a blocked worker gives none. */
const CHECK_MS = 2_000;
const REFUSED: readonly string[] = ['config_invalid', 'secret_invalid', 'state_dir_unsafe'];
const CAPABILITIES = ['hello', 'status', 'start', 'stop', 'restart', 'reload', 'logs', 'mask', 'replace'];

/** Listens on the control socket. The working folder is the project. */
export function openControl(supervisor: Supervisor, log: RuntimeLog, version: string): Promise<ControlListener> {
  return listenForControl({
    path: CONTROL_SOCKET,
    capabilities: CAPABILITIES,
    answer: (request) => answer({ supervisor, log, version }, request),
    onTrouble: (message) => log.write('warn', message),
  });
}

interface Parts {
  readonly supervisor: Supervisor;
  readonly log: RuntimeLog;
  readonly version: string;
}

async function answer(
  { supervisor, log, version }: Parts,
  { command, options = {} }: ControlRequest,
): Promise<unknown> {
  const status = supervisor.status();
  switch (command) {
    case 'hello':
      return { who: 'supervisor', pid: process.pid, version };
    case 'status':
      return { ...status, supervisorVersion: version };
    case 'start':
      supervisor.dispatch({ kind: 'start' });
      return { accepted: true, state: supervisor.status().state };
    case 'stop': {
      await supervisor.stop(options['now'] === true);
      return { stopped: true, last: supervisor.status().exits.at(-1) ?? null, hadWorker: status.pid !== null };
    }
    case 'restart':
      if (status.drain === 'stop') throw new SvcError('draining', 'the runtime is stopping');
      if (status.state === 'running') await refuseBadNext(projectPaths(process.cwd()), options['checked'] === true);
      supervisor.dispatch({ kind: 'restart' });
      return { accepted: true, runtimeId: status.runtimeId, pid: status.pid, state: status.state };
    case 'reload':
      return supervisor.reload(options['orRestart'] === true);
    case 'replace':
      return { accepted: true, supervisorPid: await supervisor.replace(successorProgram(options)) };
    case 'logs':
      return { path: status.log };
    case 'mask':
      return { text: log.masked(String(options['text'] ?? '')) };
    default:
      throw new SvcError(
        'not_implemented_coding',
        `this supervisor does not know the command ${command.slice(0, 40)}`,
        { hint: 'renew it with `svc runtime restart --daemon`' },
      );
  }
}

/** Refuses a restart whose next worker would not start. The worker checks the configuration, unless the caller has done so. */
async function refuseBadNext(paths: ProjectPaths, isChecked: boolean): Promise<void> {
  refuseUnusableState(paths);
  if (isChecked) return;
  await callControl(WORKER_SOCKET, 'check', { timeoutMs: CHECK_MS }).catch((error: unknown) => {
    if (error instanceof SvcError && REFUSED.includes(error.code)) throw error;
  }); // a worker that does not answer is unwell, and a restart helps it
}

/** No check of the program is needed: a client of this socket can run programs of this account anyway. */
function successorProgram(options: Readonly<Record<string, unknown>>): SuccessorProgram {
  const { program, args, settings } = options;
  const isText = (value: unknown): boolean => typeof value === 'string';
  if (!isText(program) || !Array.isArray(args) || !args.every(isText) || typeof settings !== 'object')
    throw new SvcError('refused', 'replace needs program, args and settings');
  return { program, args, settings } as SuccessorProgram;
}
