// Who writes: a number in the database that rises with each start of a worker. The lock (writer-lock.ts) lets one worker at a time in; where it has
// fallen without a word (its file was removed, or closed by code that opened it, too) the former worker finds another number, claims nothing more and
// ends. Another engine has a lease beside the number.
import { SvcError } from '../../shared/svc-error.ts';
import { sql, statement } from './statement.ts';
import type { Reader, Statement, UnitAnswer } from './unit.ts';

const NAME = 'authority';
/** Of a fence. */
const FENCE_GUARD = 'fence';

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

/** The same for a connection of its own. */
export const AUTHORITY = `SELECT value FROM counters WHERE name = '${NAME}'`;

/** Of whoever began last; undefined before anybody did. */
export const readAuthority = async (reader: Reader): Promise<number | undefined> =>
  (await reader.first(authorityNow))?.value;

/** The fence of units that only the start with this number may write. */
export const holdsAuthority = (value: number): Statement =>
  statement(sql.selectFrom('counters').select('value').where('name', '=', NAME).where('value', '=', value), {
    expect: 1,
    guard: FENCE_GUARD,
  });

export const isFencedOut = (answer: UnitAnswer): boolean => answer.kind === 'refused' && answer.guard === FENCE_GUARD;

/** What a worker whose number is no more the one in the database has to say to whoever asks it to store anything. */
export const authorityGone = (): SvcError =>
  new SvcError('storage_unavailable', 'another worker writes to the state of this project', {
    hint: 'svc runtime status names it; stop one of them',
  });
