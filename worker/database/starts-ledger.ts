// The ledger of starts: a row for each worker, with how the one before it ended, whatever their owners.
//
//   L1  The newest STARTS_KEPT stay. Older ones go, counted by the end that they tell of in the unit that removes them: no figure falls.
//   L2  The newest is whoever took the highest number (authority.ts): a clock may be set back between two starts.
import { sql as raw } from 'kysely';
import { authorityNow } from './authority.ts';
import { sql, statement } from './statement.ts';
import type { StartsTable } from './tables.ts';
import type { Reader, Statement } from './unit.ts';

export const STARTS_KEPT = 1_000;
/** Of the counters for starts without a row; behind it stands the end of the one before. */
const FORGOTTEN = 'starts.';

/** After the start has taken its number, in the same unit. */
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

/** When the last starts came after a crash, the earliest first. */
export async function readCrashes(reader: Reader): Promise<readonly number[]> {
  const starts = await readStarts(reader, CRASHES_LOOKED_AT);
  return starts.flatMap((one) => (one.previous_end === 'crashed' ? [one.at] : [])).toReversed();
}

/** How many starts there have been; by the end of the one before, `first` where there was none. */
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

/** At most `limit` of those over the number; the last statement gives a row for each. */
export function forgetStarts(limit: number): readonly Statement[] {
  const over = raw`SELECT runtime_id FROM starts ORDER BY number DESC NULLS LAST, at DESC, runtime_id DESC LIMIT ${limit} OFFSET ${STARTS_KEPT}`;
  const queries = [
    raw`INSERT INTO counters (name, value) SELECT ${FORGOTTEN} || previous_end, count(*) FROM starts WHERE runtime_id IN (${over}) GROUP BY previous_end ON CONFLICT (name) DO UPDATE SET value = value + excluded.value`,
    raw`DELETE FROM starts WHERE runtime_id IN (${over}) RETURNING runtime_id`,
  ];
  return queries.map((query) => statement({ compile: () => query.compile(sql) }));
}
