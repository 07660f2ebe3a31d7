// The ledger of starts: a row for each worker, with the end of the worker before it.
//
//   STARTS-1  The newest STARTS_KEPT rows stay. Older rows are counted by that end in the unit that removes them, so no total falls.
//   STARTS-2  The newest row has the highest number, not the latest time. A clock may be set back between two starts.
import { sql as raw } from 'kysely';
import { authorityNow } from './authority.ts';
import { sql, statement } from './statement.ts';
import type { StartsTable } from './tables.ts';
import type { Reader, Statement } from './unit.ts';

export const STARTS_KEPT = 1_000;
/** Prefix of the counters for removed rows; the end of the worker before follows. */
const FORGOTTEN = 'starts.';

/** Belongs in the unit that gives the start its number, behind that statement. */
export const recordStart = (start: Omit<StartsTable, 'number'>): Statement =>
  statement(sql.insertInto('starts').values({ ...start, number: authorityNow }));

/** Newest first. */
export const readStarts = (reader: Reader, limit: number): Promise<StartsTable[]> =>
  reader.all(
    sql
      .selectFrom('starts')
      .selectAll()
      .orderBy('number', (order) => order.desc().nullsLast())
      .orderBy('at', 'desc')
      .limit(limit),
  );

const CRASHES_LOOKED_AT = 10;

/** Times of the last starts after a crash, the earliest first. */
export async function readCrashes(reader: Reader): Promise<readonly number[]> {
  const starts = await readStarts(reader, CRASHES_LOOKED_AT);
  return starts.flatMap((one) => (one.previous_end === 'crashed' ? [one.at] : [])).toReversed();
}

/** Number of starts by the end of the worker before; `first` if there was none. */
export async function countStarts(reader: Reader): Promise<ReadonlyMap<string, number>> {
  const kept = await reader.all(
    sql
      .selectFrom('starts')
      .select(({ fn }) => ['previous_end as end', fn.countAll<number>().as('n')])
      .groupBy('previous_end'),
  );
  const forgotten = await reader.all(
    sql.selectFrom('counters').select(['name', 'value as n']).where('name', 'like', `${FORGOTTEN}%`),
  );
  const counts = new Map(forgotten.map(({ name, n }) => [name.slice(FORGOTTEN.length), Number(n)]));
  for (const { end, n } of kept) counts.set(end, (counts.get(end) ?? 0) + Number(n));
  return counts;
}

/** Removes at most `limit` surplus rows. The last statement returns a row for each. */
export function forgetStarts(limit: number): readonly Statement[] {
  const over = raw`SELECT runtime_id FROM starts ORDER BY number DESC NULLS LAST, at DESC, runtime_id DESC LIMIT ${limit} OFFSET ${STARTS_KEPT}`;
  const queries = [
    raw`INSERT INTO counters (name, value) SELECT ${FORGOTTEN} || previous_end, count(*) FROM starts WHERE runtime_id IN (${over}) GROUP BY previous_end ON CONFLICT (name) DO UPDATE SET value = value + excluded.value`,
    raw`DELETE FROM starts WHERE runtime_id IN (${over}) RETURNING runtime_id`,
  ];
  return queries.map((query) => statement({ compile: () => query.compile(sql) }));
}
