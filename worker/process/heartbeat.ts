// The heartbeat to the supervisor, sent once a second by a timer. If timers are late on a busy event loop, progress sends it instead.
// So a busy host is not mistaken for a hung one.
//
//   HEARTBEAT-1  Progress counts only while the timer is late, and only for BUSY_LIMITS times the watchdog's time. A host may not stay busy
//                for ever.
//   HEARTBEAT-2  A loop stuck in one piece of work makes no progress and sends no heartbeat.
import { listenToProgress } from '../../shared/process/loop-progress.ts';

export const HEARTBEAT_MS = 1_000;
/** The timer is late, beyond its usual jitter. */
const LATE_MS = 1_500;
/** Multiple of the watchdog's time for which the loop may be too busy to run its timers. */
export const BUSY_LIMITS = 4;

export interface HeartbeatOptions {
  readonly beat: () => void;
  /** The supervisor kills the worker after that time without a heartbeat. */
  readonly watchdogMs: () => number;
  readonly now?: () => number;
}

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #timer: NodeJS.Timeout;
  #timedAt: number;
  #beatAt: number;

  constructor(options: HeartbeatOptions) {
    const { beat, now = () => performance.now() } = options;
    this.#options = options;
    this.#timedAt = now();
    this.#beatAt = this.#timedAt;
    this.#timer = setInterval(() => {
      this.#timedAt = now();
      this.#beatAt = this.#timedAt;
      beat();
    }, HEARTBEAT_MS);
    listenToProgress((at) => this.progress(at));
  }

  /** Returns the time from which progress is worth reporting again. */
  progress(at: number): number {
    if (at - this.#timedAt > BUSY_LIMITS * this.#options.watchdogMs()) return at + HEARTBEAT_MS; // busy for too long
    if (at - this.#beatAt >= LATE_MS) {
      this.#beatAt = at;
      this.#options.beat();
    }
    return this.#beatAt + LATE_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
    listenToProgress(() => Number.POSITIVE_INFINITY);
  }
}
