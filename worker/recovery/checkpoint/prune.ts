// Which checkpoints are kept. Pure.
//
//   PRUNE-1  Kept: the newest `keepLast`; of each of the last `keepDays` days and `keepWeeks` weeks with a checkpoint, its newest. Damaged ones take no
//            such place.
//   PRUNE-2  Never removed, whatever their size: the newest one, the newest without a fault, the newest rehearsed one (damaged ones count for none of
//            these), and those that an open release names.
//   PRUNE-3  Above `maxBytes` the oldest of the rest go first.
import type { StoredCheckpoint } from '../../../shared/recovery/stored-checkpoints.ts';

export interface Candidate extends Pick<StoredCheckpoint, 'name' | 'number' | 'bytes' | 'level'> {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly isDamaged: boolean;
}

export interface KeepRules {
  readonly keepLast: number;
  readonly keepDays: number;
  readonly keepWeeks: number;
  readonly maxBytes: number;
}

export interface PruneFacts {
  /** Names that an open release needs. */
  readonly pinned: ReadonlySet<string>;
  /** Bytes of replaced states, which count against `maxBytes`. */
  readonly otherBytes: number;
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** 1970-01-05 was a Monday. */
const MONDAY_MS = 4 * DAY_MS;

/** Names to remove, the oldest first. */
export function toPrune(
  all: readonly Candidate[],
  rules: KeepRules,
  { pinned, otherBytes }: PruneFacts,
): readonly string[] {
  const newest = all.toSorted((a, b) => b.number - a.number);
  const good = newest.filter(({ isDamaged }) => !isDamaged);
  const newestThat = (is: (one: Candidate) => boolean): readonly string[] => namesOf(good.filter(is).slice(0, 1));
  const safe = new Set([...pinned, ...newestThat(() => true), ...newestThat(isFaultless), ...newestThat(isRehearsed)]);
  const kept = new Set([
    ...safe,
    ...namesOf(good.slice(0, rules.keepLast)),
    ...newestOfEach(good, { count: rules.keepDays, periodOf: (at) => Math.floor(at / DAY_MS) }),
    ...newestOfEach(good, { count: rules.keepWeeks, periodOf: (at) => Math.floor((at - MONDAY_MS) / WEEK_MS) }),
  ]);
  let bytes = otherBytes;
  for (const { name, bytes: own } of newest) if (kept.has(name)) bytes += own;
  for (const { name, bytes: own } of newest.toReversed()) {
    if (bytes <= rules.maxBytes) break;
    if (!kept.has(name) || safe.has(name)) continue;
    kept.delete(name);
    bytes -= own;
  }
  return namesOf(newest.toReversed()).filter((name) => !kept.has(name));
}

const namesOf = (of: readonly Candidate[]): readonly string[] => of.map(({ name }) => name);
const isFaultless = ({ level }: Candidate): boolean => level !== 'failed';
const isRehearsed = ({ level }: Candidate): boolean => level === 'rehearsed';

/** The newest of each of the last periods in which there is one. */
function newestOfEach(
  newest: readonly Candidate[],
  { count, periodOf }: { readonly count: number; readonly periodOf: (at: number) => number },
): readonly string[] {
  const found = new Map<number, string>();
  for (const { name, at } of newest) {
    const period = periodOf(at);
    if (!found.has(period) && found.size < count) found.set(period, name);
  }
  return [...found.values()];
}
