// Distinguishes a busy event loop from a hanging one. Components report here whenever a piece of work begins.
// A busy loop with late timers still reports progress; a loop stuck in one piece of work does not.

let dueAt = Number.POSITIVE_INFINITY;
let told: (now: number) => number = () => Number.POSITIVE_INFINITY;

/** Calls `tell` with the time of a due report; `tell` returns when the next is due. One listener for each process. */
export function listenToProgress(tell: (now: number) => number): void {
  told = tell;
  dueAt = 0;
}

/** Called when work begins. `now` is monotonic milliseconds. Costs one comparison. */
export function madeProgress(now: number): void {
  if (now >= dueAt) dueAt = told(now);
}
