// Entry of a worker process: node dist/worker.js --supervised --parent PID --project DIR --mode MODE [--standby], started by the supervisor.
// The foreground imports `runForeground` from here instead, in the process that the owner started: no wrapper lies between them (but a shell as
// first process of a container: supervisor/cli/start/first-process.ts).
// Either way the process is ended by what was handed over for it, and by nothing that a plugin calls.

import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import type { Worker } from 'node:worker_threads';
import type { WorkerMessage } from '../shared/api/ipc.ts';
import { processEnvironment } from '../shared/config/environment.ts';
import type { Mode } from '../shared/config/mode.ts';
import type { Log } from '../shared/log/logger.ts';
import type { ExitCode } from '../shared/process/exit-codes.ts';
import { refuseExit } from '../shared/process/exit-guard.ts';
import { kernelGuard } from '../shared/process/parent-guard.ts';
import type { SvcError } from '../shared/svc-error.ts';
import { startWriterThread } from './database/sqlite/start-thread.ts';
import { createApp } from './host/app.ts';
import { OWNER_VARIABLES } from './process/owner/owner-notifier.ts';
import { runWorker } from './process/run-worker.ts';
import type { WorkerOptions } from './process/worker-options.ts';
import { endBusyCode, tellBusyCode } from './runtime/loading/busy-code.ts';
import { guardLoop } from './watchdog/loop-guard.ts';
import type { ParentOrder } from './watchdog/parent-watch.ts';

export interface ForegroundOptions {
  readonly project: string;
  readonly mode: Mode;
  readonly watch: boolean;
  /** The log is lines of JSON on a terminal, too. */
  readonly json?: boolean;
  readonly exit: (code: ExitCode) => void;
}

/** Runs the worker in this process. Resolves once up; throws when the start fails; `exit` is called at the end. */
export async function runForeground({ project, mode, watch, json = false, exit }: ForegroundOptions): Promise<void> {
  const environment = processEnvironment();
  const allowExit = refuseExit();
  // Words and sockets of the owner are this process's own: no child may speak for it.
  for (const name of OWNER_VARIABLES) delete process.env[name];
  try {
    await runWorker({
      project,
      mode,
      watch,
      supervised: false,
      environment,
      terminal: process.stdout.isTTY,
      plainLog: json,
      // A developer's debugger may hold the loop as long as it likes.
      ...appMaker({
        guarded: mode !== 'development',
        onBusyCode: mode === 'development' ? tellBusyCode : undefined,
      }),
      exit(code) {
        allowExit();
        exit(code);
      },
    });
  } catch (error) {
    allowExit();
    throw error;
  }
}

/** Whoever waits for the host to be up gets the first answer before its thread takes a core. */
const THREAD_AFTER_UP_MS = 25;

/** A start has then kept its compiled code (built-main.ts): Node below 24 refuses code that was kept under other flags of V8. */
const COLLECT_SOONER_AFTER_MS = 5_000;
/**
 * V8 lets a small heap grow to several times its live size before a full collection, so strangers fill the old generation with garbage.
 * The limit costs no CPU that could be measured in a flood of deliveries. A version of V8 without the flag prints an error and goes on.
 */
const HEAP_GROWTH = '--heap-growing-percent=50';

interface MakerOptions {
  /** A spare has the time to have the thread at hand from the start. */
  readonly standby?: boolean;
  readonly parent?: number | undefined;
  readonly guarded?: boolean;
  /** Gets the error that names the plugin, if code of one keeps the start from going on. Called from within that code. */
  readonly onBusyCode?: ((error: SvcError, log: Log) => void) | undefined;
}

type Maker = Pick<WorkerOptions, 'createApp' | 'guard'> & { readonly writerThread: Worker | undefined };

/** A start takes its writer thread once up: until then the app writes by itself. */
function appMaker({ standby = false, parent, guarded = true, onBusyCode }: MakerOptions): Maker {
  const watched = parent !== undefined && kernelGuard() === undefined ? parent : undefined;
  const writerThread = standby || watched !== undefined ? startWriterThread() : undefined;
  if (watched !== undefined) writerThread?.postMessage({ kind: 'watch_parent', pid: watched } satisfies ParentOrder);
  let come = (_thread: Worker): void => {};
  const coming = new Promise<Worker>((resolve) => {
    come = resolve;
  });
  let isUp = (): void => {};
  return {
    writerThread,
    createApp(options) {
      const { project, mode, loaded } = options;
      if (onBusyCode !== undefined && loaded !== undefined)
        isUp = endBusyCode({ project, mode, loaded, end: (error) => onBusyCode(error, options.log) });
      return createApp({ ...options, writerThread: writerThread ?? coming });
    },
    guard(runtimeId, options) {
      isUp();
      up();
      setTimeout(() => setFlagsFromString(HEAP_GROWTH), COLLECT_SOONER_AFTER_MS).unref();
      const begin = (thread: Worker): void => {
        come(thread);
        if (guarded) guardLoop(thread, { runtimeId, ...options });
      };
      if (writerThread === undefined) setTimeout(() => begin(startWriterThread()), THREAD_AFTER_UP_MS);
      else begin(writerThread);
    },
  };
}

let up = (): void => {};
/** Called once the worker is up: what comes then holds up nobody. */
export function whenUp(callback: () => void): void {
  up = callback;
}

/** Runs the worker that the arguments of the process ask for, under a supervisor. */
export async function runSupervised(): Promise<void> {
  const { values } = parseArgs({
    options: {
      supervised: { type: 'boolean' },
      parent: { type: 'string' },
      project: { type: 'string' },
      mode: { type: 'string' },
      standby: { type: 'boolean', default: false },
    },
  });
  const { project, mode, parent, standby } = values;
  if (values.supervised !== true || project === undefined || !isMode(mode)) {
    process.stderr.write('svc worker: this is started by the supervisor; use `svc runtime start`\n');
    process.exit(2);
  }
  const allowExit = refuseExit();
  const maker = appMaker({
    standby,
    parent: parent === undefined ? undefined : Number(parent),
    onBusyCode: standby ? undefined : tellSupervisor, // a spare has assembled nothing before its turn
  });
  const environment = processEnvironment();
  if (maker.writerThread !== undefined && standby) {
    const { preload } = await import('./process/preload.ts');
    await preload(createApp, maker.writerThread);
  }
  await runWorker({
    project,
    mode,
    watch: false,
    supervised: true,
    standby,
    ...(parent === undefined ? {} : { parent: Number(parent) }),
    environment,
    terminal: false,
    ...maker,
    exit(code) {
      allowExit();
      process.exit(code);
    },
  });
}

/** The supervisor ends a start that takes too long, and then says why. The thread is blocked, so all of this is written at once. */
function tellSupervisor({ code, message, hint, details }: SvcError, log: Log): void {
  if (details['plugin'] === undefined) return; // code of svc is at work: a migration may take long
  log.logger.error({ code, reason: message, hint }, 'the start is held up');
  log.flush();
  process.send?.({ type: 'failure', message } satisfies WorkerMessage);
}

const isMode = (text: string | undefined): text is Mode =>
  text === 'development' || text === 'production' || text === 'test';

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  void runSupervised();
