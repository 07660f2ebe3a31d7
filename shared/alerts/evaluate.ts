// Whether a rule is true now, for each set of its labels. Pure: it reads samples alone.
//
//   ALERT-3  A window that its samples do not cover is unknown, not false: a host that has just started has not seen it. What it did see is
//            enough where that already exceeds the threshold.
//   ALERT-4  A counter that falls began anew, as in Prometheus: what it shows then is added.
//   ALERT-9  A figure that could not be read makes its rules unknown. One that is not there makes them false: the host lacks that feature.
import { readDuration } from '../time/duration.ts';
import type { History, Labels, SampledSeries } from './history.ts';
import { type Comparison, isSelected, type KeptLabel, type Rule, type Series, type Shape, seriesOf } from './rule.ts';

/** `held`: `unless` is true, so nothing can be said. A rule that did not fire does not begin to; one that fires goes on. */
export type Verdict = 'true' | 'unknown' | 'held';

/** Label sets that are not listed are false, or unknown if `isUnknown`. */
export interface Evaluated {
  readonly found: ReadonlyMap<string, Finding>;
  readonly isUnknown: boolean;
}
export interface Finding {
  readonly labels: Labels;
  readonly verdict: Verdict;
  readonly value: number;
}

/** Samples may come a little late. */
const LATE_MS = 45_000;

/** Values of kept labels: the key of an alert beside its name. Empty without labels. */
export const keyOf = (labels: Labels): string => Object.values(labels).join(',');

/** `now` is the time of the newest sample. */
export function evaluate({ shape, labels }: Pick<Rule, 'shape' | 'labels'>, history: History): Evaluated {
  const now = history.times.at(-1);
  if (now === undefined || shape.kind === 'prometheus') return { found: new Map(), isUnknown: true };
  const isUnread = unreadOf({ shape }, history).length > 0;
  switch (shape.kind) {
    case 'gauge':
      return { found: gauge(shape, { history, labels }), isUnknown: isUnread };
    case 'increase':
      return orUnread(increase(shape, { history, labels, now }), isUnread);
    case 'ratio':
      return orUnread(ratio(shape, { history, labels, now }), isUnread);
  }
}

/** Names of the figures of this rule that could not be read. */
export const unreadOf = (rule: Pick<Rule, 'shape'>, { unread }: History): readonly string[] =>
  unread === undefined ? [] : [...new Set(seriesOf(rule).map(({ name }) => name))].filter((name) => unread.has(name));

/** What a window has seen until now may be enough. */
const orUnread = ({ found, isUnknown }: Evaluated, isUnread: boolean): Evaluated => ({
  found,
  isUnknown: isUnknown || isUnread,
});

interface Over {
  readonly history: History;
  readonly labels: readonly KeptLabel[];
}

function gauge(shape: Extract<Shape, { kind: 'gauge' }>, over: Over): Map<string, Finding> {
  const found = new Map([...(shape.or === undefined ? [] : compare(shape.or, over)), ...compare(shape, over)]);
  for (const condition of shape.and ?? []) {
    const also = compare(condition, over);
    for (const key of found.keys()) if (!also.has(key)) found.delete(key);
  }
  if (shape.unless?.sum.some(({ name }) => over.history.unread?.has(name)) === true) return new Map(); // it may be held
  const held = shape.unless === undefined ? undefined : compare(shape.unless, over);
  for (const [key, finding] of held ?? []) found.set(key, { ...finding, verdict: 'held' });
  return found;
}

/** Label sets for which the comparison is true. */
function compare({ sum, is, threshold, times }: Comparison, over: Over): Map<string, Finding> {
  const sums = sum.map((one) => latest(one, over));
  const factors = times && latest(times, over);
  const found = new Map<string, Finding>();
  for (const [key, { labels }] of sums[0] ?? []) {
    const value = sums.reduce((total, one) => total + (one.get(key)?.value ?? Number.NaN), 0);
    const bound = threshold * (factors === undefined ? 1 : (factors.get(key)?.value ?? Number.NaN));
    if (is === 'above' ? value > bound : value < bound) found.set(key, { labels, verdict: 'true', value });
  }
  return found;
}

interface Sum {
  readonly labels: Labels;
  readonly value: number;
}

const latest = (series: Series, { history, labels }: Over): Map<string, Sum> =>
  sumBy(labels, matching(history, series), ({ values }) => values[history.times.length - 1] ?? Number.NaN);

function increase(
  { of, window, threshold }: Extract<Shape, { kind: 'increase' }>,
  over: Over & { readonly now: number },
): Evaluated {
  const found = new Map<string, Finding>();
  for (const [key, { labels, value }] of grown(of, window, over))
    if (value > threshold) found.set(key, { labels, verdict: 'true', value });
  return { found, isUnknown: !isCovered(of, window, over) };
}

function ratio(
  { of, all, windows, threshold, least }: Extract<Shape, { kind: 'ratio' }>,
  over: Over & { readonly now: number },
): Evaluated {
  const spans = windows.map((window) => ({ parts: grown(of, window, over), wholes: grown(all, window, over) }));
  const [longest] = spans;
  const found = new Map<string, Finding>();
  for (const [key, { labels, value: whole }] of longest?.wholes ?? []) {
    const shares = spans.map(({ parts, wholes }) => (parts.get(key)?.value ?? 0) / (wholes.get(key)?.value ?? 0));
    if (whole >= least && shares.every((share) => share > threshold))
      found.set(key, { labels, verdict: 'true', value: shares[0] ?? 0 });
  }
  return { found, isUnknown: !isCovered(all, windows[0] ?? '0s', over) };
}

/** How much each counter grew within the window. A series with one sample says nothing yet. */
function grown(
  series: Series,
  window: string,
  { history, labels, now }: Over & { readonly now: number },
): Map<string, Sum> {
  const { times } = history;
  const first = times.findIndex((time) => time >= now - windowMs(window));
  return sumBy(labels, matching(history, series), ({ values }) => growthOf(values, first, times.length));
}

/** NaN: there are no two values. */
function growthOf(values: ArrayLike<number>, first: number, end: number): number {
  let before = Number.NaN;
  let total = Number.NaN;
  for (let at = first; at < end; at += 1) {
    const value = values[at] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    if (!Number.isNaN(before)) total = (Number.isNaN(total) ? 0 : total) + (value < before ? value : value - before);
    before = value;
  }
  return total;
}

/** True if a figure of this name was there when the window began. */
function isCovered({ name }: Series, window: string, { history, now }: Over & { readonly now: number }): boolean {
  const from = now - windowMs(window) + LATE_MS;
  const end = history.times.filter((time) => time <= from).length;
  return history.of(name).some(({ values }) => {
    for (let at = 0; at < end; at += 1) if (!Number.isNaN(values[at] ?? Number.NaN)) return true;
    return false;
  });
}

function sumBy(
  labels: readonly KeptLabel[],
  series: readonly SampledSeries[],
  valueOf: (one: SampledSeries) => number,
): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const one of series) {
    const value = valueOf(one);
    if (Number.isNaN(value)) continue;
    const kept = Object.fromEntries(labels.map((name) => [name, one.labels[name] ?? '']));
    const key = keyOf(kept);
    sums.set(key, { labels: kept, value: (sums.get(key)?.value ?? 0) + value });
  }
  return sums;
}

const matching = (history: History, series: Series): readonly SampledSeries[] =>
  history.of(series.name).filter(({ labels }) => isSelected(labels, series));

const windowMs = (window: string): number => readDuration(window) ?? 0;
