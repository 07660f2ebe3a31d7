// Time as a dependency, so that tests control it: wall clock, monotonic clock and timers.

export interface Timer {
  /** Stops the timer. A second call does nothing. */
  cancel(): void;
}

export interface Clock {
  /** Wall clock in epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds. Only differences are meaningful. */
  monotonic(): number;
  /** Calls `run` once after `delayMs`. A background timer does not keep the process alive. */
  after(delayMs: number, run: () => void, options?: { readonly background?: boolean }): Timer;
}

/** 24.8 days: Node fires a longer timeout at once. */
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
