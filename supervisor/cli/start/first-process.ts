// The first process (pid 1) of a container. Imported before all other modules.
//
// The kernel gives the orphans of a container to pid 1. Node does not reap processes that it did not start, so they would stay zombies.
// A start therefore execs a shell that runs it as a child. Node must be able to replace itself (22.15, 23.11), and the image needs a suitable shell.
// Otherwise Node stays pid 1, and the worker warns about it.
// The kernel drops signals for pid 1 without a handler. A stop before the worker listens would be lost, so this module listens until then.
import { constants } from 'node:os';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { INIT_VARIABLE } from '../../../shared/process/first-process.ts';
import { INIT_SCRIPT, PROBE_SCRIPT, wantsInitShell } from './init-shell.ts';

const SHELL = '/bin/sh';

/** From Node 22.15 and 23.11. A missing program ends the process. */
interface Replaceable {
  readonly execve?: (
    file: string,
    args: readonly string[],
    environment: Readonly<Record<string, string | undefined>>,
  ) => never;
}

if (process.pid === 1) {
  makeWayForShell();
  listenUntilTheWorkerDoes();
}

/** Returns if no shell can be used. */
function makeWayForShell(): void {
  const { execve } = process as Replaceable;
  const { pid, argv, env, execPath, execArgv } = process;
  if (execve === undefined) return;
  const { isatty } = process.getBuiltinModule('node:tty'); // loaded here, so that other commands need not load it
  if (!wantsInitShell({ pid, argv, environment: env, terminal: [0, 1, 2].some((fd) => isatty(fd)) })) return;
  if (!isShell()) return;
  const command = [execPath, ...execArgv, ...argv.slice(1)];
  try {
    execve.call(process, SHELL, [SHELL, '-c', INIT_SCRIPT, 'svc', ...command], { ...env, [INIT_VARIABLE]: 'sh' });
  } catch {} // Node's permission model forbids it
}

/** Tests the image's shell before the exec, which cannot be undone. An image may have none or an unsuitable one. */
function isShell(): boolean {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { status } = spawnSync(SHELL, ['-c', PROBE_SCRIPT], { stdio: 'ignore' });
  return status === EXIT.restartRequested;
}

function listenUntilTheWorkerDoes(): void {
  const exit = process.exit.bind(process);
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      if (process.listenerCount(signal) > 0) return; // the worker listens by now
      // Nothing was started yet, so the requested stop of a runtime has succeeded.
      exit(process.argv.includes('start') ? EXIT.ok : 128 + constants.signals[signal]);
    });
}
