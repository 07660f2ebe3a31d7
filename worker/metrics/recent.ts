// The samples of the last hour, in memory. The series that are wanted stand beside each other, one value for each sample.
//
//   RECENT-1  At most MOST_SERIES series are kept, so that the samples take 2 MB at most. Those of accounts are left out first.
//   RECENT-2  A sample that is not newer than the last one begins anew: the wall clock was set back, and spans mean nothing then.
//   RECENT-3  What could not be read has no value, and the newest sample names it.
import type { Counter, Gauge, Registry } from 'prom-client';
import type { History, Labels, Sample, SampledSeries } from '../../shared/alerts/history.ts';
import { isSelected, type Series } from '../../shared/alerts/rule.ts';
import { isUnread } from './unread.ts';

/** One sample more than an hour has: a window of an hour needs both of its ends. */
const KEPT_MS = 3_660_000;
const MOST_SERIES = 1_000;

interface Kept extends SampledSeries {
  readonly values: number[];
}

export class Recent implements History {
  readonly #times: number[] = [];
  readonly #series = new Map<string, Kept>();
  readonly #byName = new Map<string, Kept[]>();
  unread: ReadonlySet<string> = new Set();

  get times(): readonly number[] {
    return this.#times;
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  of(name: string): readonly SampledSeries[] {
    return this.#byName.get(name) ?? [];
  }

  /** Number of readings that were left out because too many series are kept. */
  add(at: number, { readings, unread }: Sample): number {
    if (at <= (this.#times.at(-1) ?? Number.NEGATIVE_INFINITY)) this.#clear();
    let leftOut = 0;
    this.unread = new Set(unread);
    this.#times.push(at);
    for (const { values } of this.#series.values()) values.push(Number.NaN);
    const ofAccounts = readings.filter(({ labels }) => 'endpoint' in labels);
    const ofHost = readings.filter(({ labels }) => !('endpoint' in labels));
    for (const { name, labels, value } of [...ofHost, ...ofAccounts]) {
      const kept = this.#find(name, labels);
      if (kept === undefined) leftOut += 1;
      else kept.values[this.#times.length - 1] = value;
    }
    this.#forget(at - KEPT_MS);
    return leftOut;
  }

  #find(name: string, labels: Labels): Kept | undefined {
    const key = `${name}${JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= MOST_SERIES) return undefined;
    const made = { labels: { ...labels }, values: this.#times.map(() => Number.NaN) };
    this.#series.set(key, made);
    this.#byName.set(name, [...(this.#byName.get(name) ?? []), made]);
    return made;
  }

  #forget(before: number): void {
    const old = this.#times.findIndex((time) => time >= before);
    if (old <= 0) return;
    this.#times.splice(0, old);
    for (const [key, { values }] of this.#series) {
      values.splice(0, old);
      if (values.every((value) => Number.isNaN(value))) this.#series.delete(key);
    }
    const left = new Set(this.#series.values());
    for (const [name, all] of this.#byName)
      this.#byName.set(
        name,
        all.filter((one) => left.has(one)),
      );
  }

  #clear(): void {
    this.#times.length = 0;
    this.#series.clear();
    this.#byName.clear();
  }
}

/**
 * The present figures that these selections want, from the registry that `/api/metrics` exports. Others are not collected: some cost a read, and
 * some begin anew with each reading.
 */
export async function readFigures(registry: Registry, wanted: readonly Series[]): Promise<Sample> {
  const read = async (name: string): Promise<Sample> => {
    const selections = wanted.filter((one) => one.name === name);
    const metric = registry.getSingleMetric(name) as Counter | Gauge | undefined;
    const values = metric === undefined ? [] : await valuesOf(metric);
    if (metric === undefined || values === undefined || isUnread(metric))
      return { readings: [], unread: metric ? [name] : [] };
    const readings = values
      .map(({ labels, value }) => ({ name, labels: labels as Labels, value }))
      .filter(({ labels }) => selections.some((one) => isSelected(labels, one)));
    return { readings, unread: [] };
  };
  return joined(await Promise.all([...new Set(wanted.map(({ name }) => name))].map(read)));
}

export const joined = (samples: readonly Sample[]): Sample => ({
  readings: samples.flatMap(({ readings }) => readings),
  unread: samples.flatMap(({ unread }) => unread),
});

/** Undefined if its collection failed. */
const valuesOf = (metric: Counter | Gauge) =>
  metric.get().then(
    ({ values }) => values,
    () => undefined,
  );
