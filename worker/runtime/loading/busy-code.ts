// Detects plugin code that blocks the thread (an endless loop) while a command assembles plugins.
// Timers of that thread do not run then, so the time limits of modules and of `setup` have no effect. A worker has its supervisor for that.
//
//   BUSY-1  Another thread detects that the event loop stands still. Through the inspector it makes the blocked thread end the command from
//           within the looping code.
//   BUSY-2  Silence is counted in checks, so a machine that slept is not taken for an endless loop.
import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { LoadedConfig } from '../../../shared/config/load.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { componentOf } from '../generations/stray-errors.ts';
import { BUILT_INS } from './built-ins.ts';
import type { LoaderOptions } from './plugin-loader.ts';

export interface BusyCodeOptions extends Pick<LoaderOptions, 'project' | 'mode'> {
  readonly loaded: LoadedConfig;
  /** Ends the process. If it returns, the looping code continues. */
  readonly end: (error: SvcError) => void;
  /** Default 15 s, as for loading a module. */
  readonly limitMs?: number;
}

const LIMIT_MS = 15_000;
const LOOKS = 15;
const ENDS = Symbol.for('svc.busy-code');

/** The thread's source as text, because a file would have different paths beside sources and beside the bundle. */
const WATCH = `
const { workerData: { pulse, looks, everyMs } } = require('node:worker_threads');
const { Session } = require('node:inspector');
let seen = -1;
let silent = 0;
setInterval(() => {
  const now = Atomics.load(pulse, 0);
  silent = now === seen ? silent + 1 : 0;
  seen = now;
  if (silent !== looks) return;
  const session = new Session();
  session.connectToMainThread();
  session.post('Runtime.evaluate', { expression: 'globalThis[Symbol.for("svc.busy-code")]?.()' }, () => session.disconnect());
}, everyMs);
`;

/** Watches until the returned function is called. Nothing is watched if all plugins are part of svc. */
export function endBusyCode({ loaded, end, limitMs = LIMIT_MS, ...options }: BusyCodeOptions): () => void {
  if (Object.entries(loaded.config.plugins).every(isBuiltIn)) return () => {};
  const everyMs = limitMs / LOOKS;
  const pulse = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const beat = setInterval(() => Atomics.add(pulse, 0, 1), everyMs / 2);
  beat.unref();
  Reflect.set(globalThis, ENDS, () => end(busyError(componentOf(deepStack(), loaded, options), limitMs)));
  const thread = new Worker(WATCH, { eval: true, execArgv: [], workerData: { pulse, looks: LOOKS, everyMs } });
  thread.on('error', () => {}); // Node without inspector: nothing is watched
  thread.unref();
  return () => {
    clearInterval(beat);
    Reflect.deleteProperty(globalThis, ENDS);
    void thread.terminate();
  };
}

/** Reports the block and lets the code continue, because it may only be slow. */
export function tellBusyCode({ message, hint }: SvcError): void {
  writeSync(2, `${message}; ${hint ?? ''}\n`); // a stream would wait for the event loop
}

const isBuiltIn = ([slot, { enabled, use = slot }]: [string, LoadedConfig['config']['plugins'][string]]): boolean =>
  !enabled || Object.hasOwn(BUILT_INS, use);

/** An unlimited stack, because the plugin's file may be below many calls. */
function deepStack(): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  const error = new Error('busy');
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}

function busyError(component: string, limitMs: number): SvcError {
  const whose = component === 'root' ? 'code of a plugin' : component;
  return new SvcError(
    'plugin_failed',
    `${whose} runs without an end: it has kept the process busy for ${limitMs / 1_000} s`,
    {
      hint: 'look for a loop outside any function of its module, or in setup',
      details: component === 'root' ? {} : { plugin: component.slice('root/'.length) },
    },
  );
}
