// Between a worker and whoever starts it again: who that is, what it is told, and the limit that is kept for one that has none.
//
//   K1  Under our own supervisor all of it is silent: IPC says it there.
//   K2  An owner hears of a reload, whoever asked for it, and of every change of readiness.
//   K3  Without a supervisor who looks, the worker itself stops when its state folder is lost.
import { setTimeout as pause } from 'node:timers/promises';
import type { ProjectPaths } from '../../../shared/files/paths.ts';
import { StateWatch } from '../../../shared/files/state-watch.ts';
import type { Log } from '../../../shared/log/logger.ts';
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import { coerceError } from '../../../shared/svc-error.ts';
import type { RestartOwner } from '../../database/writer-lock.ts';
import type { App } from '../../host/app-options.ts';
import { ServiceLog, type ServiceLogLimits } from '../service-log.ts';
import { type ReadinessTeller, tellReadiness } from '../worker-status.ts';
import { type OwnerNotifier, ownerNotifier } from './owner-notifier.ts';
import { DEFAULT_WINDOW, OwnerWindow, type WindowLimits } from './owner-window.ts';
import { ownerStop, restartOwner } from './restart-owner.ts';

export interface OwnerLinkOptions {
  readonly supervised: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly paths: Pick<ProjectPaths, 'stateDir' | 'restartWindow' | 'serviceLog'>;
  readonly log: Log['logger'];
  /** Asks for a drain that ends with 0. */
  readonly stop: (reason: string) => void;
}

const LOOK_MS = 1_000;

export class OwnerLink {
  readonly owner: RestartOwner;
  /** The owner's own command for a stop. */
  readonly stopCommand: string;
  readonly #log: Log['logger'];
  readonly #notifier: OwnerNotifier;
  readonly #window: OwnerWindow;
  readonly #serviceLog: ServiceLog;
  readonly #stopped = new AbortController();
  readonly #options: Pick<OwnerLinkOptions, 'supervised' | 'paths' | 'stop'>;
  #look: NodeJS.Timeout | undefined;
  #teller: ReadinessTeller | undefined;

  constructor({ supervised, environment, paths, log, stop }: OwnerLinkOptions) {
    this.#options = { supervised, paths, stop };
    this.owner = restartOwner({ supervised, pid: process.pid, ppid: process.ppid, environment });
    this.stopCommand = ownerStop({ owner: this.owner, environment });
    this.#log = log;
    this.#notifier = ownerNotifier({ environment: supervised ? {} : environment, log });
    this.#window = new OwnerWindow({ paths, owner: this.owner });
    this.#serviceLog = new ServiceLog({ file: paths.serviceLog, log });
  }

  /** The start counts from here on, as soon as there is a folder to note it in. */
  begin(): void {
    this.#window.note();
  }

  /** What an owner writes of it to a file without a limit gets one. */
  keepLog(limits: ServiceLogLimits): void {
    this.#serviceLog.keep(limits);
  }

  /** Whether this start may go on; in a container it waits until it may, or is stopped. */
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
          await pause(verdict.ms, undefined, { signal: this.#stopped.signal }).catch(() => {}); // a stop is looked for next
          if (this.#stopped.signal.aborted) return false;
      }
    }
  }

  /** Whether an owner that knows no end should take this failed start for one. */
  givesUp(error: unknown): boolean {
    const { kind } = this.#window.verdict(DEFAULT_WINDOW);
    if (kind === 'spent')
      this.#log.fatal({ err: error, code: coerceError(error).code }, 'the restart window is spent: given up');
    return kind === 'spent';
  }

  /** A start that takes long is at work. */
  goesOn(what: string): void {
    this.#notifier.goesOn(what);
  }

  /** Up: told, and from now on each change of readiness. */
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

  /** K3. */
  #lookAfterFolder(): void {
    const { supervised, paths, stop } = this.#options;
    if (supervised) return;
    const watch = new StateWatch(paths.stateDir);
    this.#look = setInterval(() => {
      const lost = watch.lostNow();
      if (lost === undefined) return;
      this.#log.error({}, lost);
      stop('the state folder was lost');
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
