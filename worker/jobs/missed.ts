// What becomes of the due times up to now: which of them run, and which count as missed. Pure.
//
//   MISSED-1  Each due time that the ledger does not know runs or is in one range; none does both, none is in two ranges.
//   MISSED-2  A range never holds a due time that the ledger knows: it ends before it, and another begins behind it.
//   MISSED-3  A due time that is looked at in time always runs. `missed` decides about late ones alone.
import type { Missed } from '../../shared/jobs/job.ts';

export const MOST_CAUGHT_UP = 100;

export interface Backlog {
  /** Ascending, up to now. Due times that the ledger knows are among them. */
  readonly dues: readonly number[];
  /** Between these two, due times may lie that are not listed, since they are too many. */
  readonly hole?: { readonly after: number; readonly before: number } | undefined;
  readonly isKnown: (due: number) => boolean;
  readonly isLate: (due: number) => boolean;
  readonly missed: Missed;
  /** Late due times before this never run. */
  readonly windowFrom: number;
}

export type DueStep =
  | { readonly kind: 'run'; readonly due: number }
  /** `count`: of the listed ones; at least so many, where the range spans the hole. */
  | { readonly kind: 'missed'; readonly due: number; readonly until: number; readonly count: number };

/** The steps in order of time. */
export function planDues(backlog: Backlog): readonly DueStep[] {
  const { dues, hole, isKnown } = backlog;
  const runs = dueRuns(backlog);
  const steps: DueStep[] = [];
  let range: { due: number; until: number; count: number } | undefined;
  /** `next`: the listed due time that ends the range. Unlisted ones before it belong to the range. */
  const close = (next: number | undefined): void => {
    if (range === undefined) return;
    const spansHole =
      hole !== undefined && next !== undefined && range.until >= hole.after && range.until < hole.before;
    steps.push({ kind: 'missed', ...range, until: spansHole ? next - 1 : range.until });
    range = undefined;
  };
  for (const due of dues) {
    if (isKnown(due)) close(due);
    else if (runs.has(due)) {
      close(due);
      steps.push({ kind: 'run', due });
    } else if (range === undefined) range = { due, until: due, count: 1 };
    else {
      range.until = due;
      range.count += 1;
    }
  }
  close(undefined);
  return steps;
}

function dueRuns({ dues, isKnown, isLate, missed, windowFrom }: Backlog): ReadonlySet<number> {
  const unknown = dues.filter((due) => !isKnown(due));
  const inTime = unknown.filter((due) => !isLate(due));
  const newest = dues.at(-1);
  if (missed === 'skip' || newest === undefined) return new Set(inTime);
  if (missed === 'run_all') {
    const late = unknown.filter((due) => isLate(due) && due >= windowFrom);
    return new Set([...late.slice(-MOST_CAUGHT_UP), ...inTime]);
  }
  const catchesUp = isLate(newest) && !isKnown(newest) && newest >= windowFrom;
  return new Set(catchesUp ? [newest] : inTime);
}
