// The timelines (epochs) that a state went on from, stored in `meta`. Each new timeline adds a row: a restore, and a database file that is a copy.

export const LINEAGE = 'lineage';

/** Highest event position by epoch. */
export type Positions = Readonly<Record<string, number>>;

export interface Lineage {
  /** States whose rows it has: a chain, each timeline of it ended where the next one began. */
  readonly line: Positions;
  /** States whose outcomes came along. */
  readonly carried: Positions;
}

/** `stored`: the value in `meta`. */
export const lineageOf = (stored: string | undefined): Lineage =>
  stored === undefined ? { line: {}, carried: {} } : (JSON.parse(stored) as Lineage);

/** The lineage of a timeline that goes on from this position. */
export const goingOn = ({ line, carried }: Lineage, from: Positions): Lineage => ({
  line: highest(line, from),
  carried,
});

export function highest(...all: readonly Positions[]): Positions {
  const found: Record<string, number> = {};
  for (const positions of all)
    for (const [epoch, head] of Object.entries(positions)) found[epoch] = Math.max(found[epoch] ?? 0, head);
  return found;
}
