// What tells a busy event loop from one that hangs: parts that do one thing after the other tell here when one of them begins. A loop that is so
// busy that its timers are late still makes progress; one that is stuck in a single piece of work tells nothing.

let dueAt = Number.POSITIVE_INFINITY;
let told: (now: number) => number = () => Number.POSITIVE_INFINITY;

/** `tell` is called with the time of a progress that is due, and gives when the next one is. One listener a process. */
export function listenToProgress(tell: (now: number) => number): void {
  told = tell;
  dueAt = 0;
}

/** To be called when work begins; `now` is monotonic milliseconds. Costs a comparison. */
export function madeProgress(now: number): void {
  if (now >= dueAt) dueAt = told(now);
}
