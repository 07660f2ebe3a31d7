// How a keeper deals with a program that dies: how often it starts it in a crash loop and what that costs, what it keeps of last words,
// what restarts leave in its memory. Written against `Keeper`, so that it measures svc and others alike.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { bundlePrograms } from '../../support/process/bundle.ts';
import { fixtureProgram } from '../../support/process/fixture-programs.ts';
import { lives } from '../../support/process/supervised.ts';
import { until } from '../../support/until.ts';
import type { Keeper, KeptProgram } from './keeper.ts';
import { residentMiB } from './support.ts';

export interface CrashLoop {
  readonly kind: string;
  readonly starts: number;
  readonly cpuSeconds: number;
}

const KINDS = ['crashes at start', 'crashes after 1.2 s', 'crashes at start after 22 s of health'] as const;
const LOOP_MS = 30_000;
const SETTLE_MS = 2_000;
/** V8 gives back what many starts in a row took for young objects (2 MiB) at a collection before which little was allocated for 5 s. */
const QUIET_MS = 15_000;
const DEATHS = 40;
const LINES = 2_000;
const CLOCK_TICKS = 100;

async function programOf(name: 'kept-up' | 'kept-logger'): Promise<string> {
  const programs = await bundlePrograms([fixtureProgram(name)]);
  return programs.get(name) ?? '';
}

/** 30 s of each kind, at the same time; the healthy one counts from its first death on. */
export async function crashLoops(keeper: Pick<Keeper, 'program'>): Promise<readonly CrashLoop[]> {
  const file = await programOf('kept-up');
  return Promise.all(
    KINDS.map(async (kind) => {
      const kept = await keeper.program({ file, env: { KEPT_AS: kind } });
      try {
        const before = cpuSeconds(kept.keeperPid);
        await until(() => startsOf(kept) > 0, { what: 'a first start', timeoutMs: LOOP_MS });
        const wasHealthy = kind.endsWith('health');
        if (wasHealthy) await until(() => startsOf(kept) > 1, { what: 'the first death', timeoutMs: 2 * LOOP_MS });
        await pause(LOOP_MS);
        return { kind, starts: startsOf(kept), cpuSeconds: cpuSeconds(kept.keeperPid) - before };
      } finally {
        await kept.stop();
      }
    }),
  );
}

/** Lines that are not in the log after 40 deaths: by exit, an exception, an abort, want of memory. */
export async function lostLastWords(keeper: Keeper): Promise<{ readonly lost: number; readonly deaths: number }> {
  const file = await programOf('kept-up');
  const env = { KEPT_AS: 'has last words', KEPT_STARTS: String(DEATHS) };
  const kept = await keeper.program({ file, env, nodeOptions: ['--max-old-space-size=16'], always: true });
  try {
    await until(() => startsOf(kept) > DEATHS, { what: `${DEATHS} deaths`, timeoutMs: 120_000 });
    await pause(SETTLE_MS);
    const found = new Set([...kept.printed().matchAll(/word (\d+) (\d+) before the end$/gm)].map(([line]) => line));
    const of = (start: number): number =>
      Array.from({ length: LINES }, (_, n) => found.has(`word ${start} ${n} before the end`)).filter(Boolean).length;
    const losses = Array.from({ length: DEATHS }, (_, index) => LINES - of(index + 1));
    return { lost: losses.reduce((sum, lost) => sum + lost, 0), deaths: losses.filter((lost) => lost > 0).length };
  } finally {
    await kept.stop();
  }
}

/** Stamped lines of a program from its first to the last in the log, in MB a second. */
export async function printSpeed(keeper: Keeper): Promise<number> {
  const file = await programOf('kept-up');
  const { bytes, seconds } = await spoken(keeper, { file, env: { KEPT_AS: 'talks a lot' } });
  return bytes / 1e6 / seconds;
}

/** JSON lines a second in the log, of the logger that a program has there: of a worker with redaction, or pino without. */
export async function jsonSpeed(keeper: Keeper, logger: 'own' | 'pino'): Promise<number> {
  const { lines, seconds } = await spoken(keeper, {
    file: await programOf('kept-logger'),
    env: { KEPT_LOGGER: logger },
  });
  return lines / seconds;
}

async function spoken(
  keeper: Keeper,
  program: { readonly file: string; readonly env: Readonly<Record<string, string>> },
): Promise<{ readonly bytes: number; readonly lines: number; readonly seconds: number }> {
  const kept = await keeper.program({ ...program, always: true });
  try {
    await until(() => existsSync(join(kept.folder, 'spoken')), { what: 'the lines', timeoutMs: 120_000 });
    const told = JSON.parse(readFileSync(join(kept.folder, 'spoken'), 'utf8')) as {
      readonly bytes: number;
      readonly lines: number;
      readonly startedAt: number;
    };
    await until(() => kept.printedBytes() >= told.bytes, { what: 'the lines in the log', timeoutMs: 60_000 });
    return { ...told, seconds: (Date.now() - told.startedAt) / 1_000 };
  } finally {
    await kept.stop();
  }
}

export interface MemoryOverRestarts {
  readonly beforeMiB: number;
  readonly afterMiB: number;
  readonly restarts: number;
}

/** Resident memory of the keeper before and after so many restarts that its program asked for, or as many as there are in a time. */
export async function memoryOverRestarts(
  keeper: Keeper,
  { restarts, withinMs = restarts * 1_000 }: { readonly restarts: number; readonly withinMs?: number },
): Promise<MemoryOverRestarts> {
  const file = await programOf('kept-up');
  const env = { KEPT_AS: 'asks for restarts', KEPT_STARTS: String(restarts + 1) };
  const kept = await keeper.program({ file, env, always: true });
  const go = join(kept.folder, 'go');
  try {
    await until(() => startsOf(kept) > 0, { what: 'a first start', timeoutMs: LOOP_MS });
    await pause(QUIET_MS);
    const beforeMiB = residentMiB(kept.keeperPid);
    writeFileSync(go, '');
    const endsAt = performance.now() + withinMs;
    await until(() => startsOf(kept) > restarts || performance.now() > endsAt, {
      what: `${restarts} restarts`,
      timeoutMs: 2 * withinMs,
    });
    rmSync(go);
    await pause(QUIET_MS);
    return { beforeMiB, afterMiB: residentMiB(kept.keeperPid), restarts: startsOf(kept) - 1 };
  } finally {
    await kept.stop();
  }
}

const startsOf = ({ folder }: KeptProgram): number =>
  existsSync(join(folder, 'starts')) ? readFileSync(join(folder, 'starts')).length : 0;

/** Of a process and all its children that it has waited for. */
export function cpuSeconds(pid: number): number {
  if (!lives(pid)) return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / CLOCK_TICKS;
}
