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

/** 24.8 days: Node ends a longer timeout at once. */
const LONGEST_TIMEOUT_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, run, { background = true } = {}) {
    let leftMs = Math.max(0, delayMs);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = (): void => {
      const partMs = Math.min(leftMs, LONGEST_TIMEOUT_MS);
      leftMs -= partMs;
      timer = setTimeout(leftMs > 0 ? wait : run, partMs);
      if (background) timer.unref();
    };
    wait();
    return { cancel: () => clearTimeout(timer) };
  },
};
