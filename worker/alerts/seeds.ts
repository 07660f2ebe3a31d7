// Samples of the hour before this start, made of the ledgers. A crash and a missed due time happen while nobody samples: without these, the
// counters would only ever be seen after they had grown. Other counters began at 0 with this process: what they counted before the first sample
// is seen too, such as the gaps of clients that came back right after the start.
import type { Reading } from '../../shared/alerts/history.ts';
import { seriesOf } from '../../shared/alerts/rule.ts';
import { ACTIVE_RULES } from '../../shared/alerts/rules.ts';
import { countStarts, readStarts } from '../database/starts-ledger.ts';
import { sql } from '../database/statement.ts';
import type { Reader } from '../database/unit.ts';

export interface Seed {
  readonly at: number;
  readonly readings: readonly Reading[];
}

interface Growth {
  readonly at: number;
  readonly series: Pick<Reading, 'name' | 'labels'>;
  readonly by: number;
}

const SPAN_MS = 3_600_000;
const MOST_STARTS = 200;

/** Ascending, before `now`. */
export async function readSeeds(reader: Reader, now: number): Promise<readonly Seed[]> {
  const from = now - SPAN_MS;
  const starts = (await readStarts(reader, MOST_STARTS)).filter(({ at }) => at > from);
  const missed = await reader.all(
    sql
      .selectFrom('job_runs')
      .select(['job', 'count', 'done_at as at'])
      .where('done_at', '>', from)
      .where('state', '=', 'missed'),
  );
  const totals = await reader.all(
    sql.selectFrom('run_totals').select(['name', 'count']).where('kind', '=', 'job').where('outcome', '=', 'missed'),
  );
  const jobs = totals.map(({ name, count }) => ({ series: ofJob(name), value: Number(count) }));
  const crashed = { series: CRASHED, value: (await countStarts(reader)).get('crashed') ?? 0 };
  const growths = [
    ...starts.flatMap(({ at, previous_end: end }) => (end === 'crashed' ? [{ at, series: CRASHED, by: 1 }] : [])),
    ...missed.map(({ at, job, count }) => ({ at: at ?? now, series: ofJob(job), by: Number(count) })),
  ].filter(({ at }) => at < now);
  return seedsOf([crashed, ...jobs], growths, from);
}

const CRASHED: Growth['series'] = { name: 'svc_restarts_total', labels: { reason: 'crashed' } };
const ofJob = (job: string): Growth['series'] => ({ name: 'svc_jobs_missed_total', labels: { job } });

/** From the present values back: two samples for each growth, right before it and at it. Exported for tests. */
export function seedsOf(
  present: readonly { readonly series: Growth['series']; readonly value: number }[],
  growths: readonly Growth[],
  from: number,
): readonly Seed[] {
  const idOf = ({ name, labels }: Growth['series']): string => JSON.stringify([name, labels]);
  const values = new Map(present.map(({ series, value }) => [idOf(series), { ...series, value }]));
  const shown = (): readonly Reading[] => [...values.values()].map((one) => ({ ...one }));
  const seeds = new Map<number, readonly Reading[]>();
  for (const { at, series, by } of growths.toSorted((a, b) => b.at - a.at)) {
    if (!seeds.has(at)) seeds.set(at, shown());
    const value = values.get(idOf(series));
    if (value !== undefined) values.set(idOf(series), { ...value, value: Math.max(0, value.value - by) });
    seeds.set(at - 1, shown());
  }
  seeds.set(from, shown());
  return [...seeds].map(([at, readings]) => ({ at, readings })).toSorted((a, b) => a.at - b.at);
}

const FROM_LEDGERS = new Set([CRASHED.name, ofJob('').name]);
const COUNTERS = new Set(
  ACTIVE_RULES.flatMap((rule) => (rule.shape.kind === 'gauge' ? [] : seriesOf(rule)))
    .map(({ name }) => name)
    .filter((name) => !FROM_LEDGERS.has(name)),
);

/** Counters of this process as they were when it began. */
export const bornAtZero = (readings: readonly Reading[]): readonly Reading[] =>
  readings.filter(({ name }) => COUNTERS.has(name)).map((reading) => ({ ...reading, value: 0 }));
