// The restart window: how many starts of a worker fit in a span of time, and how long the n-th crash in a row waits.
//
//   W1  At most `starts` starts lie in any span of `spanMs`, the first included; a start exactly `spanMs` old does not count.
//   W2  Asked-for restarts (51, 75) count like any other start.
//   W3  The n-th crash in a row waits the n-th delay (the last one from then on) plus 0-10 %; a run of `resetAfterMs` makes the next crash the first again.
//   W4  Times are monotonic milliseconds of one boot; the caller throws a window of another boot away.
//   W5  A start that came to nothing because a stranger has its port is taken back.

export interface RestartLimits {
  /** Starts within the span. Default 5. */
  readonly starts: number;
  /** Default 120 000. */
  readonly spanMs: number;
  /** Default 0, 1, 4, 16 s. */
  readonly delaysMs: readonly number[];
  /** How long a worker has to run before its crash counts as the first. Default 120 000. */
  readonly resetAfterMs: number;
}

export const DEFAULT_LIMITS: RestartLimits = {
  starts: 5,
  spanMs: 120_000,
  delaysMs: [0, 1_000, 4_000, 16_000],
  resetAfterMs: 120_000,
};

export interface RestartWindow {
  /** When each of the last starts was, oldest first, those before the present span included: another configuration may have a longer one. */
  readonly starts: readonly number[];
  readonly crashesInRow: number;
}

/** The most that a configuration may allow within its span. */
const STARTS_KEPT = 100;

export const EMPTY_WINDOW: RestartWindow = { starts: [], crashesInRow: 0 };

/** Starts that may follow now without leaving the budget. */
export function startsLeft(window: RestartWindow, now: number, limits: RestartLimits): number {
  return Math.max(0, limits.starts - inside(window, now, limits).length);
}

/** The window after one more start. */
export const recordStart = (window: RestartWindow, now: number): RestartWindow => ({
  ...window,
  starts: [...window.starts, now].slice(-STARTS_KEPT),
});

/** The window without the last start that was recorded (W5). */
export const takeBackStart = (window: RestartWindow): RestartWindow => ({
  ...window,
  starts: window.starts.slice(0, -1),
});

/** The window after a crash of a worker that had been up for `uptimeMs` (0: never). */
export function recordCrash(window: RestartWindow, uptimeMs: number, limits: RestartLimits): RestartWindow {
  return { ...window, crashesInRow: uptimeMs >= limits.resetAfterMs ? 1 : window.crashesInRow + 1 };
}

/** How long the next start waits after the last recorded crash; `random` is in [0, 1). */
export function crashDelay(window: RestartWindow, random: number, limits: RestartLimits): number {
  const nth = Math.min(Math.max(window.crashesInRow, 1), limits.delaysMs.length) - 1;
  return Math.round((limits.delaysMs[nth] ?? 0) * (1 + random / 10));
}

/** When the budget has room again; `now` when it has. */
export function roomAt(window: RestartWindow, now: number, limits: RestartLimits): number {
  const counted = inside(window, now, limits);
  const blocking = counted[counted.length - limits.starts];
  return blocking === undefined ? now : blocking + limits.spanMs;
}

// A start "in the future" comes from a clock that was set back between two boots that look alike: it counts, but only once it is past does it age.
const inside = ({ starts }: RestartWindow, now: number, { spanMs }: RestartLimits): readonly number[] =>
  starts.filter((at) => now - at < spanMs);
