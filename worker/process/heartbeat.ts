// The sign of life for the supervisor: once a second by a timer. A loop that is so busy that its timers are late beats by its progress in their
// place, so that a busy host is not taken for one that hangs.
//
//   B1  Progress beats only where the timer is late, and for as long as the limit says: being busy does not excuse for ever.
//   B2  A loop that is stuck in one piece of work makes no progress, and does not beat.
import { listenToProgress } from '../../shared/process/loop-progress.ts';

export const HEARTBEAT_MS = 1_000;
/** The timer is late by more than its jitter. */
const LATE_MS = 1_500;
/** Of the watchdog's time: so long may a loop be busy without once coming to its timers. */
export const BUSY_LIMITS = 4;

export interface HeartbeatOptions {
  readonly beat: () => void;
  /** After so long without a beat the supervisor ends the worker. */
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

  /** Gives when progress is worth telling again. */
  progress(at: number): number {
    if (at - this.#timedAt > BUSY_LIMITS * this.#options.watchdogMs()) return at + HEARTBEAT_MS; // B1
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
