// Who writes: a number in the database that rises with each start of a worker. The lock (writer-lock.ts) lets one worker at a time in; where it has
// fallen without a word (its file was removed, or closed by code that opened it, too) the former worker finds another number and claims nothing more.
// Another engine has a lease beside the number.
import { sql, statement } from './statement.ts';
import type { Reader, Statement } from './unit.ts';

const NAME = 'authority';
/** The guard of a fence. */
export const FENCE_GUARD = 'fence';

/** Gives the number that is this start's from now on. */
export const takeAuthority = (): Statement =>
  statement(
    sql
      .insertInto('counters')
      .values({ name: NAME, value: 1 })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet(({ eb }) => ({ value: eb('counters.value', '+', 1) })),
      )
      .returning('value'),
    { returning: true },
  );

/** Of whoever began last, as a value of a statement. */
export const authorityNow = sql.selectFrom('counters').select('value').where('name', '=', NAME);

/** Of whoever began last; undefined before anybody did. */
export const readAuthority = async (reader: Reader): Promise<number | undefined> =>
  (await reader.first(authorityNow))?.value;

/** The fence of units that only the start with this number may write. */
export const holdsAuthority = (value: number): Statement =>
  statement(sql.selectFrom('counters').select('value').where('name', '=', NAME).where('value', '=', value), {
    expect: 1,
    guard: FENCE_GUARD,
  });
