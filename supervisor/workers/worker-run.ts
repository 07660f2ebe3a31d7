// One run of a worker: its process, the facts it reported, and how it ended.
import type { ExitRecord } from '../../shared/api/control.ts';
import type { WorkerMessage } from '../../shared/api/ipc.ts';
import { bootClock } from '../../shared/process/process-identity.ts';
import type { LogPosition } from '../log/runtime-log.ts';
import { countedExit, exitReason, type WorkerExit } from '../machine/exit-reason.ts';
import type { WorkerFacts } from '../machine/status.ts';
import { killedFromOutside, oomKills } from './end-hints.ts';
import { HangReport } from './hang-report.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface WorkerRunOptions {
  readonly run: number;
  readonly process: WorkerProcess;
  /** Position in the runtime log where the run's lines begin. */
  readonly logFrom: LogPosition | undefined;
}

export interface EndFacts {
  readonly wasUp: boolean;
  /** The requested or announced exit code, which may date from before the worker was up. */
  readonly asked: number | undefined;
  readonly lastLines: readonly string[];
}

export class WorkerRun {
  readonly process: WorkerProcess;
  readonly logFrom: LogPosition | undefined;
  readonly #startedAt = bootClock();
  readonly #oomKills = oomKills();
  #facts: WorkerFacts;
  #killedFor: string | undefined;
  #report: HangReport | undefined;

  constructor({ run, process, logFrom }: WorkerRunOptions) {
    this.process = process;
    this.logFrom = logFrom;
    this.#facts = { run, pid: process.pid, startedAt: new Date().toISOString(), ...UNKNOWN };
  }

  get facts(): WorkerFacts {
    return this.#facts;
  }

  learn(message: WorkerMessage): void {
    this.#facts = { ...this.#facts, ...learned(message) };
  }

  kill(cause: string): void {
    this.#killedFor = cause;
    this.process.kill();
  }

  /** Writes a report on the silent worker, seen from outside. Returns its path. */
  report(folder: string, lastLines: readonly string[]): string | undefined {
    const { run, pid, runtimeId } = this.#facts;
    this.#report = new HangReport(folder, { run, pid, runtimeId, lastLines });
    return this.#report.write();
  }

  /** Called after the exit: merges the worker's own view of the hang into the report. */
  closeReport(): void {
    this.#report?.close();
  }

  #outside(): string {
    return `signal SIGKILL: ${killedFromOutside(this.#oomKills, oomKills())}`;
  }

  /** Builds the record of the exit. `detail` is the reason for our kill (with what kept it from being up), else the worker's or Node's last message, else the code or signal. */
  ended(exit: WorkerExit, { wasUp, asked, lastLines }: EndFacts): ExitRecord {
    const { code, signal } = exit;
    const { run, pid, runtimeId, failure } = this.#facts;
    const fatal = lastLines.findLast((line) => line.startsWith('FATAL ERROR: '))?.slice(0, LAST_WORD_CHARACTERS);
    const how = signal === null ? `exit code ${code}` : signal === 'SIGKILL' ? this.#outside() : `signal ${signal}`;
    const plain = `${how}${wasUp ? '' : ' before it was up'}`;
    const killedFor = [this.#killedFor, wasUp ? null : failure].filter(Boolean).join(': ');
    return {
      run,
      pid,
      runtimeId,
      at: new Date().toISOString(),
      code,
      signal,
      reason: exitReason(countedExit(exit, asked, this.#killedFor !== undefined), wasUp || asked !== undefined),
      detail: (this.#killedFor === undefined ? failure : killedFor) ?? fatal ?? plain,
      wasUp,
      durationMs: bootClock() - this.#startedAt,
      lastLines,
    };
  }
}

const LAST_WORD_CHARACTERS = 300;
const UNKNOWN = {
  runtimeId: null,
  version: null,
  ready: false,
  generation: null,
  reasons: [],
  address: null,
  failure: null,
  progress: null,
} as const;

function learned(message: WorkerMessage): Partial<WorkerFacts> {
  switch (message.type) {
    case 'hello':
      return { runtimeId: message.runtimeId, version: message.version };
    case 'up': {
      const { host, port } = message;
      return { address: host === null || port === null ? null : { host, port }, progress: null, failure: null };
    }
    case 'progress':
      return { progress: message.what };
    case 'ready':
      return { ready: message.ready, generation: message.generation, reasons: message.reasons };
    case 'failure':
      return { failure: message.message, reasons: [message.message] };
    case 'prepared':
    case 'settings':
    case 'secrets':
    case 'log_lost':
    case 'heartbeat':
    case 'stopping':
    case 'reloaded':
      return {};
  }
}
