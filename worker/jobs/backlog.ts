// Lists the due times of a job from its stored one up to now, in slices. Of very many only the oldest and the newest are listed.
import type { DueTimes } from '../../shared/jobs/due-times.ts';
import { MOST_CAUGHT_UP } from './missed.ts';
import type { Slices } from './slices.ts';

export const MOST_COUNTED = 5_000;
const HOUR_MS = 3_600_000;

export interface Listed {
  readonly dues: readonly number[];
  readonly hole: { readonly after: number; readonly before: number } | undefined;
  /** The first due time behind `until`, if it was met. */
  readonly next: number | undefined;
}

export interface ListOf {
  readonly times: DueTimes;
  /** The stored due time, which counts as one whatever the pattern says now. */
  readonly from: number;
  readonly until: number;
  /** Due times that the ledger knows, ascending. */
  readonly known: readonly number[];
  readonly slices: Slices;
}

export async function listDues({ times, from, until, known, slices }: ListOf): Promise<Listed> {
  const oldest: number[] = [];
  let due: number | undefined = from;
  for (; due !== undefined && due <= until && oldest.length < MOST_COUNTED; due = times.next(due)) {
    oldest.push(due);
    await slices.take();
  }
  if (due === undefined || due > until) return { dues: oldest, hole: undefined, next: due };
  const after = oldest.at(-1) ?? from;
  const newest = await newestDues({ times, from: due, until, slices });
  const first = newest[0] ?? due;
  // A range must not hold a known due time: it ends before it, and the next one begins at the due time behind it.
  const marks: number[] = [];
  for (const mark of known.filter((one) => one > after && one < first)) {
    const next = times.next(mark);
    marks.push(mark, ...(next !== undefined && next < first ? [next] : []));
    await slices.take();
  }
  const dues = [...new Set([...oldest, ...marks, ...newest])];
  return { dues, hole: { after, before: first }, next: undefined };
}

/** The newest due times in a span that begins with one, ascending. Looks back from the end in doubled steps. */
async function newestDues({ times, from, until, slices }: Omit<ListOf, 'known'>): Promise<readonly number[]> {
  for (let backMs = HOUR_MS; ; backMs *= 2) {
    const start = Math.max(from, until - backMs);
    const found: number[] = start === from ? [from] : [];
    for (let due = times.next(start); due !== undefined && due <= until; due = times.next(due)) {
      found.push(due);
      if (found.length > MOST_CAUGHT_UP) found.shift();
      await slices.take();
    }
    if (found.length >= MOST_CAUGHT_UP || start === from) return found;
  }
}
