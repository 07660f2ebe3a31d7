// Runs the spare worker: a process that has loaded all code but waits, without side effects, until a start takes it.
import { closeSync, statSync } from 'node:fs';
import type { WorkerMessage } from '../../shared/api/ipc.ts';
import { isStopped } from '../../shared/process/process-identity.ts';
import { messageOf } from '../../shared/svc-error.ts';
import type { RuntimeLog, WorkerOutput } from '../log/runtime-log.ts';
import { NO_SPARE, type SpareEffect, type SpareEvent, type SpareState, stepSpare } from '../machine/spare-machine.ts';
import { WorkerProcess, type WorkerSpec } from './worker-process.ts';

type Hello = Extract<WorkerMessage, { type: 'hello' }>;

export interface SpareOptions {
  readonly log: RuntimeLog;
  readonly spec: Omit<WorkerSpec, 'output'>;
  /** Passed to the process over IPC only. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Files that identify the program. A spare that loaded other versions of them is not used. */
  readonly files: readonly string[];
  readonly now: () => number;
}

/** A spare that becomes the worker. */
export interface TakenSpare {
  readonly process: WorkerProcess;
  readonly output: WorkerOutput;
  /** Undefined if the spare is still loading. The message then arrives later, as from any worker. */
  readonly hello: Hello | undefined;
}

interface Waiting {
  readonly process: WorkerProcess;
  readonly output: WorkerOutput;
  readonly stamp: string;
  hello: Hello | undefined;
}

export class Spare {
  readonly #options: SpareOptions;
  #state: SpareState = NO_SPARE;
  #waiting: Waiting | undefined;

  constructor(options: SpareOptions) {
    this.#options = options;
  }

  get kind(): SpareState['kind'] {
    return this.#state.kind;
  }

  dispatch(event: SpareEvent): SpareEffect | undefined {
    const { spare, effect } = stepSpare(this.#state, event, this.#options.now());
    this.#state = spare;
    if (effect === 'start') this.#start();
    if (effect === 'end') this.#end();
    return effect;
  }

  /** Takes the spare for a start. Undefined if there is none that may be used. */
  take(): TakenSpare | undefined {
    const waiting = this.#waiting;
    if (waiting === undefined) return undefined;
    const { pid, isAlive } = waiting.process;
    const facts = { hasEnded: !isAlive, isStopped: isStopped(pid), isOutdated: waiting.stamp !== this.#stamp() };
    if (facts.isStopped) this.#options.log.write('warn', 'spare worker is stopped: another one is started', { pid });
    if (this.dispatch({ kind: 'asked', ...facts }) !== 'give') return undefined;
    this.#waiting = undefined;
    return waiting;
  }

  #start(): void {
    const { log, spec } = this.#options;
    let output: WorkerOutput | undefined;
    try {
      output = log.forSpare();
      const process: WorkerProcess = new WorkerProcess(
        { ...spec, args: [...spec.args, '--standby'], output: output.descriptor },
        {
          message: (message) => this.#heard(process, message),
          exited: ({ code, signal }) => this.#lost(process, signal ?? `exit code ${code}`),
          spawnFailed: ({ message }) => this.#lost(process, message),
        },
      );
      this.#waiting = { process, output, stamp: this.#stamp(), hello: undefined };
    } catch (error) {
      this.dispatch({ kind: 'ended' });
      log.write('warn', 'spare worker not started', { reason: messageOf(error) });
      if (output !== undefined) forget(output);
    }
  }

  #heard(process: WorkerProcess, message: WorkerMessage): void {
    if (this.#waiting?.process !== process) return;
    if (message.type === 'prepared') return this.#ready(process);
    if (message.type !== 'hello') return;
    this.#waiting.hello = message;
    if (message.capabilities.includes('prepare')) process.send({ type: 'prepare', environment: this.#options.secrets });
    if (!message.capabilities.includes('prepared')) this.#ready(process); // an older version that does not report `prepared`
  }

  #ready({ pid }: WorkerProcess): void {
    this.dispatch({ kind: 'ready' });
    this.#options.log.write('info', 'spare worker ready', { pid });
  }

  #lost(process: WorkerProcess, reason: string): void {
    if (this.#waiting?.process !== process) return;
    const { output } = this.#waiting;
    this.#waiting = undefined;
    this.dispatch({ kind: 'ended' });
    this.#options.log.write('warn', 'spare worker lost', { pid: process.pid, reason });
    forget(output);
  }

  #end(): void {
    if (this.#waiting === undefined) return;
    const { process, output } = this.#waiting;
    this.#waiting = undefined;
    process.kill();
    forget(output);
  }

  #stamp(): string {
    return this.#options.files.map(stampOf).join(' ');
  }
}

function forget({ reading }: WorkerOutput): void {
  if (reading !== undefined) closeSync(reading);
}

function stampOf(path: string): string {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat === undefined ? '-' : `${stat.ino}-${stat.size}-${stat.mtimeMs}`;
  } catch (error) {
    return messageOf(error); // the files cannot be compared, so the spare counts as outdated
  }
}
