// What a process takes, second by second (Linux), and whether that stays flat.
import { readdirSync, readFileSync } from 'node:fs';

export interface Sample {
  /** Seconds since the run began. */
  readonly at: number;
  readonly pid: number;
  readonly residentMiB: number;
  readonly descriptors: number;
}

const PAGE_MIB = 4_096 / 1_048_576;

/** Undefined for a process that is gone, and where there is no /proc. */
export function sampleOf(pid: number, at: number): Sample | undefined {
  try {
    const resident = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return { at, pid, residentMiB: resident * PAGE_MIB, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined;
  }
}

const TELLING_MINUTES = 3;

export interface Growth {
  /** Medians of the first and the last third. */
  readonly residentMiB: readonly [first: number, last: number];
  readonly descriptors: readonly [first: number, last: number];
  /** Of a straight line through all samples. */
  readonly mibPerMinute: number;
  readonly minutes: number;
}

export function growthOf(samples: readonly Sample[]): Growth {
  const third = Math.max(1, Math.floor(samples.length / 3));
  const ends = (of: (sample: Sample) => number): readonly [number, number] => [
    median(samples.slice(0, third).map(of)),
    median(samples.slice(-third).map(of)),
  ];
  return {
    residentMiB: ends(({ residentMiB }) => residentMiB),
    descriptors: ends(({ descriptors }) => descriptors),
    mibPerMinute: slope(samples) * 60,
    minutes: ((samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0)) / 60,
  };
}

export interface Bounds {
  readonly residentMiB: number;
  /** Held to where there are minutes to tell it from noise. */
  readonly mibPerMinute: number;
  readonly descriptors: number;
}

/** What grew by more than it may, in words. */
export function judgeGrowth(name: string, growth: Growth, bounds: Bounds): readonly string[] {
  const over = (what: string, [first, last]: readonly [number, number], most: number): string[] =>
    last - first > most ? [`${what} of the ${name} went from ${round(first)} to ${round(last)}, over ${most}`] : [];
  return [
    ...over('resident MiB', growth.residentMiB, bounds.residentMiB),
    ...over('descriptors', growth.descriptors, bounds.descriptors),
    ...(growth.minutes >= TELLING_MINUTES && growth.mibPerMinute > bounds.mibPerMinute
      ? [`the ${name} grew by ${round(growth.mibPerMinute)} MiB a minute, over ${bounds.mibPerMinute}`]
      : []),
  ];
}

export const round = (value: number): number => Math.round(value * 10) / 10;

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Least squares, MiB a second. */
function slope(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [at, resident] = [mean((sample) => sample.at), mean((sample) => sample.residentMiB)];
  const spread = samples.reduce((sum, sample) => sum + (sample.at - at) ** 2, 0);
  const together = samples.reduce((sum, sample) => sum + (sample.at - at) * (sample.residentMiB - resident), 0);
  return spread === 0 ? 0 : together / spread;
}
