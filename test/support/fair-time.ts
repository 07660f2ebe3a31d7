// Limits of time in tests that are fair to a machine which has others to serve.
import assert from 'node:assert/strict';
import { availableParallelism, loadavg } from 'node:os';

/** The limit on a machine that is idle; more by as much as others want its processors. */
export function fairMs(limitMs: number): number {
  const [lastMinute = 0] = loadavg();
  return limitMs * Math.max(1, (2 * lastMinute) / availableParallelism());
}

/** Processor time of this process so far: what it did itself, however long it was kept waiting. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

export interface Rounds {
  readonly limitMs: number;
  readonly count: number;
}

/** A timer of a process that has nothing to do comes this late where the machine did not let it run. */
const LATE_MS = 20;
const TICK_MS = 5;

/**
 * Each of some rounds has to keep the limit. `prepare` gives what is timed; that tells its milliseconds. One that took longer is played again
 * where the machine itself stood still meanwhile (more wanted to run than it has processors, or a timer of this process came late), and fails
 * anywhere else; one has to keep the limit on any machine.
 */
export async function eachWithin(
  { limitMs, count }: Rounds,
  prepare: () => Promise<() => Promise<number>>,
): Promise<void> {
  const times: string[] = [];
  let kept = 0;
  for (let round = 0; kept < count && round < 3 * count; round += 1) {
    const play = await prepare();
    const latestMs = watchTimer();
    const ms = await play();
    const lateMs = latestMs();
    times.push(`${Math.round(ms)}${lateMs > LATE_MS ? ` (machine late by ${Math.round(lateMs)})` : ''}`);
    if (ms <= limitMs) kept += 1;
    else assert.ok(lateMs > LATE_MS || isBusy(), `more than ${limitMs} ms on a machine at rest: ${times.join(', ')}`);
  }
  assert.ok(kept > 0, `never within ${limitMs} ms: ${times.join(', ')}`);
}

/** Whether more wants to run than there are processors: then no single time says anything of us. */
export function isBusy(): boolean {
  const [lastMinute = 0] = loadavg();
  return lastMinute > availableParallelism();
}

/** Gives by how much a timer came late at most, up to the call. */
function watchTimer(): () => number {
  let latestMs = 0;
  let at = performance.now();
  const look = (): void => {
    latestMs = Math.max(latestMs, performance.now() - at - TICK_MS);
    at = performance.now();
  };
  const timer = setInterval(look, TICK_MS);
  return () => {
    clearInterval(timer);
    look();
    return latestMs;
  };
}
