// The link between a worker and the owner that restarts the worker. Detects the owner, notifies it, and keeps a restart limit for owners
// without one.
//
//   OWNER-1  Under the project's own supervisor nothing is sent here, because IPC carries it.
//   OWNER-2  An owner is told of every reload and every change of readiness.
//   OWNER-3  Without a supervisor, the worker itself checks its state folder and stops when the folder is lost.
import { setTimeout as pause } from 'node:timers/promises';
import type { ProjectPaths } from '../../../shared/files/paths.ts';
import { StateWatch } from '../../../shared/files/state-watch.ts';
import type { Log } from '../../../shared/log/logger.ts';
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import { coerceError } from '../../../shared/svc-error.ts';
import { isWriterLocked, type RestartOwner } from '../../database/writer-lock.ts';
import type { App } from '../../host/app-options.ts';
import { ServiceLog, type ServiceLogLimits } from '../service-log.ts';
import { type ReadinessTeller, tellReadiness } from '../worker-status.ts';
import { type OwnerNotifier, ownerNotifier } from './owner-notifier.ts';
import { DEFAULT_WINDOW, OwnerWindow, type WindowLimits } from './owner-window.ts';
import { ownerStop, restartOwner } from './restart-owner.ts';

export interface OwnerLinkOptions {
  readonly supervised: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly paths: Pick<ProjectPaths, 'stateDir' | 'restartWindow' | 'serviceLog' | 'writerLock'>;
  readonly log: Log['logger'];
  /** Requests a drain that ends with exit code 0. */
  readonly stop: (reason: string) => void;
}

const LOOK_MS = 1_000;

export class OwnerLink {
  readonly owner: RestartOwner;
  /** The owner's command to stop this worker. */
  readonly stopCommand: string;
  readonly #log: Log['logger'];
  readonly #notifier: OwnerNotifier;
  readonly #window: OwnerWindow;
  readonly #serviceLog: ServiceLog;
  readonly #stopped = new AbortController();
  readonly #options: Pick<OwnerLinkOptions, 'supervised' | 'paths' | 'stop'>;
  #folder: StateWatch | undefined;
  #look: NodeJS.Timeout | undefined;
  #teller: ReadinessTeller | undefined;

  constructor({ supervised, environment, paths, log, stop }: OwnerLinkOptions) {
    this.#options = { supervised, paths, stop };
    this.owner = restartOwner({ supervised, pid: process.pid, ppid: process.ppid, environment });
    this.stopCommand = ownerStop({ owner: this.owner, environment });
    this.#log = log;
    this.#notifier = ownerNotifier({ environment: supervised ? {} : environment, log });
    this.#window = new OwnerWindow({ paths, owner: this.owner, isTaken: () => isWriterLocked(paths) });
    this.#serviceLog = new ServiceLog({ file: paths.serviceLog, log });
  }

  /** Counts this start in the restart window, once the state folder exists. */
  begin(): void {
    this.#window.note();
  }

  /** Limits a log file to which the owner redirects stdout without a limit. */
  keepLog(limits: ServiceLogLimits): void {
    this.#serviceLog.keep(limits);
  }

  /** The state folder is locked: from here on it has to stay the same. A supervisor looks after it for its own workers. */
  holdsFolder(): void {
    const { supervised, paths } = this.#options;
    if (!supervised) this.#folder = new StateWatch(paths.stateDir);
  }

  /** True if this start may continue. In a container it waits for room in the restart window, until a stop. False ends the start. */
  async hasRoom(limits: WindowLimits): Promise<boolean> {
    this.#window.note();
    for (;;) {
      const verdict = this.#window.verdict(limits);
      switch (verdict.kind) {
        case 'room':
          return true;
        case 'spent':
          this.#log.fatal({ starts: verdict.starts, ...limits }, 'the restart window is spent: this start ends here');
          return false;
        case 'wait':
          this.#log.warn(
            { starts: verdict.starts, ms: verdict.ms },
            'the restart window is spent: waiting, without a port',
          );
          await pause(verdict.ms, undefined, { signal: this.#stopped.signal }).catch(() => {}); // a stop aborts the pause and is checked next
          if (this.#stopped.signal.aborted) return false;
      }
    }
  }

  /** True if an owner that retries for ever should stop after this failed start. */
  givesUp(error: unknown): boolean {
    const { kind } = this.#window.verdict(DEFAULT_WINDOW);
    if (kind === 'spent')
      this.#log.fatal({ err: error, code: coerceError(error).code }, 'the restart window is spent: given up');
    return kind === 'spent';
  }

  /** Reports that a long start is still working. */
  goesOn(what: string): void {
    this.#notifier.goesOn(what);
  }

  /** Reports that the worker is up, then each change of readiness. */
  up(app: App): void {
    this.#notifier.up();
    this.#lookAfterFolder();
    if (process.pid === 1)
      this.#log.warn(
        {},
        'first process here, without an init: what a child leaves behind is reaped by nobody; start the container with one (docker run --init)',
      );
    if (!this.#notifier.heard) return;
    this.#teller = tellReadiness({
      app,
      send: (message) => {
        if (message.type === 'ready') this.#notifier.status(statusLine(message));
      },
      onConfig: () => {},
    });
  }

  /** Stops the worker when its state folder is lost. */
  #lookAfterFolder(): void {
    this.#look = setInterval(() => {
      const lost = this.#folder?.lostNow();
      if (lost === undefined) return;
      this.#log.error({}, lost);
      this.#options.stop('the state folder was lost');
    }, LOOK_MS);
    this.#look.unref();
  }

  reload(phase: 'begun' | 'ended'): void {
    if (phase === 'begun') this.#notifier.reloading();
    else this.#notifier.reloaded();
  }

  stopping(reason: string): void {
    this.#stopped.abort();
    clearInterval(this.#look);
    this.#teller?.stop();
    this.#notifier.stopping(reason);
  }

  ended(code: ExitCode): void {
    this.#teller?.stop();
    this.#notifier.close();
    this.#serviceLog.close();
    if (code === EXIT.ok) this.#window.empty();
  }
}

interface Readiness {
  readonly ready: boolean;
  readonly generation: number | null;
  readonly reasons: readonly string[];
}

const statusLine = ({ ready, generation, reasons }: Readiness): string =>
  `${ready ? 'ready' : `not ready: ${reasons.join('; ')}`}${generation === null ? '' : `, generation ${generation}`}`;
