// The first process of a container, from its first statement on. Imported before everything else.
//
// The kernel leaves the orphans of a container to its first process, and Node waits for no process that it did not start: they would stay zombies. So a
// start makes way for a shell (init-shell.ts) that runs it as its child, where Node can replace itself (22.15, 23.11) and the image has a shell for it.
// Elsewhere it stays the first process, and the worker warns of it. The kernel keeps a signal from a first process that has no handler for it, so a stop
// that comes before the worker listens would be lost: until then it is heard here.
import { constants } from 'node:os';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { INIT_VARIABLE } from '../../../shared/process/first-process.ts';
import { INIT_SCRIPT, PROBE_SCRIPT, wantsInitShell } from './init-shell.ts';

const SHELL = '/bin/sh';

/** Of Node 22.15 and 23.11. It ends the process where the program is not there. */
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

/** Returns where there can be none. */
function makeWayForShell(): void {
  const { execve } = process as Replaceable;
  const { pid, argv, env, execPath, execArgv } = process;
  if (execve === undefined) return;
  const { isatty } = process.getBuiltinModule('node:tty'); // no other command has to load it
  if (!wantsInitShell({ pid, argv, environment: env, terminal: [0, 1, 2].some((fd) => isatty(fd)) })) return;
  if (!isShell()) return;
  const command = [execPath, ...execArgv, ...argv.slice(1)];
  try {
    execve.call(process, SHELL, [SHELL, '-c', INIT_SCRIPT, 'svc', ...command], { ...env, [INIT_VARIABLE]: 'sh' });
  } catch {} // a permission of Node forbids it
}

/** An image may have none, or one that is no good for this: found out before there is no way back. */
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
      // Nothing has been started: for a runtime that is the stop that was asked for.
      exit(process.argv.includes('start') ? EXIT.ok : 128 + constants.signals[signal]);
    });
}
