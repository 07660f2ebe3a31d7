// Limits of time in tests that are fair to a machine which has others to serve.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
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
 * Each of some rounds has to keep the limit. `prepare` gives what is timed; that tells its milliseconds. The machine's own lateness is added to the
 * limit: how long a plain process, killed in the same moment or just after, takes to be gone. One that took longer still is played again where a timer
 * of this process came late meanwhile, or something waited for a processor for as long as it was late, and fails anywhere else. So
 * many have to keep it on any machine, of three times as many.
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
    const waitedMs = watchWaits();
    const [ms, beside] = await Promise.all([play(), goneAfterMs()]);
    const [lateMs, waits] = [latestMs(), waitedMs()];
    const ownMs = Math.max(beside, await goneAfterMs());
    const control = `a plain process ${Math.round(ownMs)}, timers late by ${Math.round(lateMs)}`;
    times.push(`${Math.round(ms)} (${control}, waits for a processor ${Math.round(waits ?? Number.NaN)})`);
    const overMs = ms - limitMs - ownMs;
    if (overMs <= 0) kept += 1;
    else {
      const isExcused = lateMs > LATE_MS || (waits === undefined ? isBusy() : waits >= overMs);
      assert.ok(isExcused, `more than ${limitMs} ms on a machine at rest: ${times.join(', ')}`);
    }
  }
  assert.ok(kept === count, `too seldom within ${limitMs} ms: ${times.join(', ')}`);
}

/** More than this many failures of what a machine may spoil are none of the machine's. */
const MOST_PLAYS = 5;
/** After so long none is played again: a file has ten minutes for all its tests. */
const PLAYING_MS = 180_000;

/**
 * Plays what a machine that stands still spoils, such as work that ends shortly before a limit. Where it failed and something was held up meanwhile for
 * longer than it has to spare, it is played again, five times in all: what fails on a machine at rest, or each time, fails.
 */
export async function playedFairly(spareMs: number, play: () => Promise<void>): Promise<void> {
  const endsAt = performance.now() + PLAYING_MS;
  for (let plays = 1; ; plays += 1) {
    const latestMs = watchTimer();
    const waits = [watchWaits(), watchWaits('io')];
    try {
      return await play();
    } catch (error) {
      const heldUpMs = [
        latestMs(),
        ...waits.map((waitedMs) => waitedMs() ?? (isBusy() ? Number.POSITIVE_INFINITY : 0)),
      ];
      if (plays === MOST_PLAYS || performance.now() > endsAt || Math.max(...heldUpMs) <= spareMs) throw error;
    } finally {
      latestMs();
    }
  }
}

/** From SIGKILL of a process that has nothing to do to its end, as this process sees it. */
async function goneAfterMs(): Promise<number> {
  const child = spawn('sleep', ['3600'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const gone = once(child, 'exit');
  const from = performance.now();
  child.kill('SIGKILL');
  await gone;
  return performance.now() - from;
}

/** Gives for how many milliseconds something on this machine waited for a processor, or a disk, up to the call; undefined where the kernel does not tell. */
export function watchWaits(of: 'cpu' | 'io' = 'cpu'): () => number | undefined {
  const before = waitsUs(of);
  return () => {
    const now = waitsUs(of);
    return before === undefined || now === undefined ? undefined : (now - before) / 1_000;
  };
}

/** Since the kernel began, at most: it tells the average of its processors. */
function waitsUs(of: 'cpu' | 'io'): number | undefined {
  try {
    const [, total] = /^some .*total=(\d+)$/m.exec(readFileSync(`/proc/pressure/${of}`, 'utf8')) ?? [];
    return total === undefined ? undefined : Number(total) * availableParallelism();
  } catch {
    return undefined;
  }
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
