// Whether the memory of a host stays what it is under a load that does not end.
//
// Resident memory alone does not tell in a minute: it rises while V8 finds the size of its heap and falls only after a full collection, of which
// a minute of this load has few, so that two moments of it differ by what of the saw each happened to meet. So two things are held:
//
//   - what is still there once the host is at rest and has collected all its garbage, after the load against before it: a leak of 100 bytes a
//     delivery is seen, and no saw;
//   - the lowest resident memory of the last quarter against that of the third: the teeth are cut off, and what only grows is left.
import type { HostApi } from '../kits/crash/kit/host-api.ts';
import type { Report } from './load/report.ts';
import { residentMiB } from './load/support.ts';

/** What a process holds after a full collection. */
export interface Kept {
  readonly liveMiB: number;
  readonly residentMiB: number;
}

/** Of the second measurement to the first, for both. */
const FLAT = 1.05;
const SAMPLE_MS = 500;
const MIB = 1_048_576;

/** Of Node, beside those of our units: for the route. */
export const KEPT_OPTIONS = ['--expose-gc'];

/** A line of a plugin's setup. Twice: what a first collection finalizes, the second takes. `external` has the buffers, too. */
export const KEPT_ROUTE = `
  p.route('GET /kept', {}, () => {
    for (let n = 0; n < 2; n += 1) globalThis.gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    return { json: { live: heapUsed + external, rss } };
  });
`;

export async function keptMemory(api: HostApi, slot: string): Promise<Kept> {
  const { live, rss } = (await api.get(`/plugins/${slot}/kept`)) as { readonly live: number; readonly rss: number };
  return { liveMiB: live / MIB, residentMiB: rss / MIB };
}

/** Resident memory from now on; the function that it gives ends that. */
export function sampleResident(pid: number): () => readonly number[] {
  const samples: number[] = [residentMiB(pid)];
  const timer = setInterval(() => samples.push(residentMiB(pid)), SAMPLE_MS);
  return () => {
    clearInterval(timer);
    return samples;
  };
}

export interface MemoryOfRun {
  readonly before: Kept;
  readonly after: Kept;
  /** Under load. */
  readonly samples: readonly number[];
}

export function reportMemory(report: Report, { before, after, samples }: MemoryOfRun): void {
  const lowest = (from: number, to: number): number =>
    Math.min(...samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to)));
  const [third, last] = [lowest(0.5, 0.75), lowest(0.75, 1)];
  report.add({
    name: '  memory, all garbage collected, at rest after it',
    unit: 'MiB',
    value: after.liveMiB,
    baseline: { name: 'before it', value: before.liveMiB },
    ratio: after.liveMiB / before.liveMiB,
    goal: { text: `<= ${FLAT}`, met: after.liveMiB <= before.liveMiB * FLAT },
  });
  report.add({
    name: '  resident memory then',
    unit: 'MiB',
    value: after.residentMiB,
    baseline: { name: 'before it', value: before.residentMiB },
    ratio: after.residentMiB / before.residentMiB,
  });
  report.add({
    name: '  lowest resident memory of the last quarter',
    unit: 'MiB',
    value: last,
    baseline: { name: 'of the third', value: third },
    ratio: last / third,
    goal: { text: `<= ${FLAT}`, met: last <= third * FLAT },
  });
  report.add({ name: '  highest of all', unit: 'MiB', value: Math.max(...samples) });
  report.add({
    name: '  slope of all from half time on',
    unit: 'MiB/min',
    value: slopeOf(samples.slice(samples.length / 2)) * (60_000 / SAMPLE_MS),
  });
}

/** Of a line through them: what it grows by from one to the next. */
function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const rise = values.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0);
  const run = values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0);
  return run === 0 ? 0 : rise / run;
}
