// A page of state as a run sees it: committed cells, overlaid with the writes and removals of the run.
import type { Reader } from '../../database/unit.ts';
import { readCells } from '../handling-store.ts';
import type { Effect, Run } from './run.ts';

export interface CellPage {
  readonly store: string;
  readonly owner: string;
  readonly prefix: string;
  readonly after: string | undefined;
  readonly limit: number;
}

export interface ListedCell {
  readonly key: string;
  /** As JSON. */
  readonly value: string;
  /** Undefined if the run itself wrote the cell. */
  readonly revision?: number;
}

export async function listCells(reader: Reader, page: CellPage, run: Run): Promise<readonly ListedCell[]> {
  const { store, owner, prefix, after, limit } = page;
  const range = { store, owner, from: prefix, to: `${prefix}\u{10ffff}`, after };
  const written = writtenIn(run.effects, page);
  // Reads extra rows, because each overwritten key may remove one of them.
  const rows = await readCells(reader, { ...range, limit: limit + written.size });
  const own = [...written].flatMap(([key, value]) => (value === undefined ? [] : [{ key, value }]));
  const listed: readonly ListedCell[] = [...rows.filter(({ key }) => !written.has(key)), ...own]
    .toSorted((a, b) => compareKeys(a.key, b.key))
    .slice(0, limit);
  for (const { key, revision } of listed) if (revision !== undefined) run.sees({ store, owner, key }, revision);
  return listed;
}

/** Writes of the run within the page. Undefined: removed. */
function writtenIn(
  effects: readonly Effect[],
  { store, owner, prefix, after }: CellPage,
): Map<string, string | undefined> {
  const written = new Map<string, string | undefined>();
  for (const effect of effects) {
    if (effect.kind !== 'cell' || effect.cell.store !== store || effect.cell.owner !== owner) continue;
    const { key } = effect.cell;
    const isIn = key.startsWith(prefix) && (after === undefined || compareKeys(key, after) > 0);
    if (isIn) written.set(key, effect.value);
  }
  return written;
}

/** Compares UTF-8 bytes, as SQLite orders texts. JavaScript compares UTF-16 code units. */
const compareKeys = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
