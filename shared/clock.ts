// Time as a dependency: wall clock, monotonic clock and timers, so that tests own them.

export interface Timer {
  /** Ends the timer; calling it again does nothing. */
  cancel(): void;
}

export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds; only differences mean anything. */
  monotonic(): number;
  /** Calls `run` once after `delayMs`; a background timer never keeps the process alive. */
  after(delayMs: number, run: () => void, options?: { readonly background?: boolean }): Timer;
}

const LONGEST_TIMEOUT_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run, { background = true } = {}) {
    const timer = setTimeout(run, Math.min(Math.max(0, delayMs), LONGEST_TIMEOUT_MS));
    if (background) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
