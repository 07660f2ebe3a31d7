// The restart budget: the number of worker starts in a time span, and the delay of each restart after a crash.
//
//   WINDOW-1  Any span of `spanMs` holds at most `starts` starts, the first start included. A start that is exactly `spanMs` old does not count.
//   WINDOW-2  Requested restarts (exit codes 51 and 75) count like any other start.
//   WINDOW-3  The n-th crash in a row waits the n-th delay plus 0-10 %. The last delay repeats. A run of `resetAfterMs` resets the count.
//   WINDOW-4  Times are monotonic milliseconds since boot. The caller discards the window of an earlier boot.
//   WINDOW-5  A start is taken back if another program holds its port.

export interface RestartLimits {
  /** Starts allowed within the span. Default 5. */
  readonly starts: number;
  /** Length of the span in ms. Default 120 000. */
  readonly spanMs: number;
  /** Delays in ms after the first, second and later crashes in a row. Default 0, 1, 4 and 16 s. */
  readonly delaysMs: readonly number[];
  /** A worker that ran this long in ms resets the count of crashes in a row. Default 120 000. */
  readonly resetAfterMs: number;
}

export const DEFAULT_LIMITS: RestartLimits = {
  starts: 5,
  spanMs: 120_000,
  delaysMs: [0, 1_000, 4_000, 16_000],
  resetAfterMs: 120_000,
};

export interface RestartWindow {
  /** Times of the last starts, oldest first. Starts older than the span are kept, because a new configuration may have a longer span. */
  readonly starts: readonly number[];
  readonly crashesInRow: number;
}

/** The largest number of starts that a configuration may allow. */
const STARTS_KEPT = 100;

export const EMPTY_WINDOW: RestartWindow = { starts: [], crashesInRow: 0 };

/** How many more starts the budget allows now. */
export function startsLeft(window: RestartWindow, now: number, limits: RestartLimits): number {
  return Math.max(0, limits.starts - inside(window, now, limits).length);
}

export const recordStart = (window: RestartWindow, now: number): RestartWindow => ({
  ...window,
  starts: [...window.starts, now].slice(-STARTS_KEPT),
});

/** The window without its last start. */
export const takeBackStart = (window: RestartWindow): RestartWindow => ({
  ...window,
  starts: window.starts.slice(0, -1),
});

/** Records a crash of a worker that had been up for `uptimeMs`. 0 means that it never came up. */
export function recordCrash(window: RestartWindow, uptimeMs: number, limits: RestartLimits): RestartWindow {
  return { ...window, crashesInRow: uptimeMs >= limits.resetAfterMs ? 1 : window.crashesInRow + 1 };
}

/** Delay in ms before the start after the last recorded crash. `random` is in [0, 1). */
export function crashDelay(window: RestartWindow, random: number, limits: RestartLimits): number {
  const nth = Math.min(Math.max(window.crashesInRow, 1), limits.delaysMs.length) - 1;
  return Math.round((limits.delaysMs[nth] ?? 0) * (1 + random / 10));
}

/** When the budget allows a start again. `now` if it does already. */
export function roomAt(window: RestartWindow, now: number, limits: RestartLimits): number {
  const counted = inside(window, now, limits);
  const blocking = counted[counted.length - limits.starts];
  return blocking === undefined ? now : blocking + limits.spanMs;
}

// A start in the future can appear if two boots look alike and the clock was set back. It counts, and expires only after its time has come.
const inside = ({ starts }: RestartWindow, now: number, { spanMs }: RestartLimits): readonly number[] =>
  starts.filter((at) => now - at < spanMs);
