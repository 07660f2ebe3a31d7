// Notifies an owner that listens on NOTIFY_SOCKET (sd_notify(3)): ready, reloading, stopping, status line, watchdog ping.
//
// Node has no Unix datagram sockets, and packages for them need a compiler. So messages go through the program `systemd-notify`. The
// program exists wherever systemd does and handles path and abstract sockets. Since systemd 246 it waits until a message is received. With
// `NotifyAccess=all` no message is lost. A watchdog ping is a process every third of the watchdog time, about 3 ms of CPU.
//
//   NOTIFY-1  Messages are sent one after another, in order. A ping is skipped while another message waits.
//   NOTIFY-2  The event loop sends the pings, so a blocked loop sends none.
//   NOTIFY-3  A failed notification stops nothing. Only the first failure is logged.
import { spawn } from 'node:child_process';
import type { Log } from '../../../shared/log/logger.ts';
import { INIT_VARIABLE } from '../../../shared/process/first-process.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface OwnerNotifier {
  /** An owner asked for notifications. */
  readonly heard: boolean;
  /** A long start is still working: extends the owner's start timeout. */
  goesOn(what: string): void;
  /** The server listens and the first assembly has a result. Watchdog pings begin. */
  up(): void;
  /** The status line in `systemctl status`. */
  status(text: string): void;
  /** Must be followed by `reloaded`, whatever the result. */
  reloading(): void;
  reloaded(): void;
  stopping(reason: string): void;
  /** Ends the pings. */
  close(): void;
}

export interface NotifierOptions {
  readonly environment: Environment;
  readonly log: Pick<Log['logger'], 'warn'>;
  readonly pid?: number;
}

/** Variables that belong to this process only. Children do not get these variables. */
export const OWNER_VARIABLES = [
  'NOTIFY_SOCKET',
  'WATCHDOG_USEC',
  'WATCHDOG_PID',
  'LISTEN_FDS',
  'LISTEN_PID',
  'LISTEN_FDNAMES',
  INIT_VARIABLE,
];

const PROGRAM = 'systemd-notify';
/** Extension of the owner's start timeout. The next extension must come before it ends. */
const EXTENSION_MS = 30_000;
const EXTEND_EVERY_MS = 5_000;
const LONGEST_STATUS = 200;
const PINGS_PER_SPAN = 3;
/** Time limit for one message. */
const WORD_MS = 10_000;

const SILENT: OwnerNotifier = {
  heard: false,
  goesOn: () => {},
  up: () => {},
  status: () => {},
  reloading: () => {},
  reloaded: () => {},
  stopping: () => {},
  close: () => {},
};

/** Returns a silent notifier if no owner listens. */
export function ownerNotifier({ environment, log, pid = process.pid }: NotifierOptions): OwnerNotifier {
  const socket = environment['NOTIFY_SOCKET'];
  if (socket === undefined || !/^[/@]./.test(socket)) return SILENT;
  return new Notifier({ NOTIFY_SOCKET: socket, PATH: environment['PATH'] }, pingMs(environment, pid), log);
}

/** Undefined if the watchdog is off or watches another process. */
function pingMs(environment: Environment, pid: number): number | undefined {
  const spanUs = Number(environment['WATCHDOG_USEC']);
  const watched = environment['WATCHDOG_PID'] ?? String(pid);
  if (!(spanUs > 0) || watched !== String(pid)) return undefined;
  return Math.max(1, Math.floor(spanUs / 1_000 / PINGS_PER_SPAN));
}

class Notifier implements OwnerNotifier {
  readonly heard = true;
  readonly #environment: Environment;
  readonly #pingMs: number | undefined;
  readonly #log: NotifierOptions['log'];
  readonly #waiting: string[][] = [];
  #busy = false;
  #deaf = false;
  #complained = false;
  #isStopping = false;
  #status = '';
  #pings: NodeJS.Timeout | undefined;
  #extendedAt = Number.NEGATIVE_INFINITY;

  constructor(environment: Environment, pingMs: number | undefined, log: NotifierOptions['log']) {
    this.#environment = environment;
    this.#pingMs = pingMs;
    this.#log = log;
  }

  goesOn(what: string): void {
    if (this.#isStopping || performance.now() - this.#extendedAt < EXTEND_EVERY_MS) return;
    this.#extendedAt = performance.now();
    this.#say([`EXTEND_TIMEOUT_USEC=${EXTENSION_MS * 1_000}`, `STATUS=starting: ${what}`]);
  }

  up(): void {
    this.#say(['READY=1']);
    if (this.#pingMs === undefined || this.#pings !== undefined) return;
    this.#pings = setInterval(() => {
      if (!this.#busy) this.#say(['WATCHDOG=1']);
    }, this.#pingMs);
    this.#pings.unref();
  }

  status(text: string): void {
    const line = text.replaceAll(/\s+/g, ' ').slice(0, LONGEST_STATUS);
    if (line === this.#status) return;
    this.#status = line;
    this.#say([`STATUS=${line}`]);
  }

  /** MONOTONIC_USEC is CLOCK_MONOTONIC, as required by `Type=notify-reload`. */
  reloading(): void {
    if (!this.#isStopping) this.#say(['RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1_000n}`]);
  }

  reloaded(): void {
    if (!this.#isStopping) this.#say(['READY=1']);
  }

  stopping(reason: string): void {
    this.#isStopping = true;
    this.#status = `stopping: ${reason}`;
    this.#say(['STOPPING=1', `STATUS=${this.#status.replaceAll(/\s+/g, ' ').slice(0, LONGEST_STATUS)}`]);
  }

  close(): void {
    clearInterval(this.#pings);
    this.#waiting.length = 0;
    this.#deaf = true;
  }

  #say(words: string[]): void {
    if (this.#deaf) return;
    this.#waiting.push(words);
    this.#next();
  }

  #next(): void {
    if (this.#busy) return;
    const words = this.#waiting.shift();
    if (words === undefined) return;
    this.#busy = true;
    const child = spawn(PROGRAM, words, { env: { ...this.#environment }, stdio: 'ignore', timeout: WORD_MS });
    child.unref();
    child.once('error', (error) => this.#said(error.message, true));
    child.once('exit', (code, signal) => this.#said(code === 0 ? undefined : `it ended with ${code ?? signal}`, false));
  }

  /** `error` and `exit` may both fire. A lost message does not stop the next one, but a missing program does. */
  #said(fault: string | undefined, missing: boolean): void {
    if (!this.#busy) return;
    this.#busy = false;
    if (fault !== undefined && !this.#complained) {
      this.#complained = true;
      this.#log.warn({ program: PROGRAM, fault }, 'the owner cannot be told how it goes');
    }
    if (missing) this.close();
    this.#next();
  }
}
