// The authority to write: a number in the database that rises with each start of a worker. The writer lock lets in one worker at a time. The lock can
// be lost unnoticed: its file was removed, or other code closed a descriptor of it. Then the former worker finds a higher number, claims nothing more
// and ends.
import { SvcError } from '../../shared/svc-error.ts';
import { sql, statement } from './statement.ts';
import type { Reader, Statement, UnitAnswer } from './unit.ts';

const NAME = 'authority';
/** Guard name of a fence. */
const FENCE_GUARD = 'fence';

/** Increments the number and returns it as the number of this start. */
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

/** Number of the newest start, as a value of a statement. */
export const authorityNow = sql.selectFrom('counters').select('value').where('name', '=', NAME);

/** Number of the newest start, as SQL text. */
export const AUTHORITY = `SELECT value FROM counters WHERE name = '${NAME}'`;

/** Number of the newest start; undefined before the first. */
export const readAuthority = async (reader: Reader): Promise<number | undefined> =>
  (await reader.first(authorityNow))?.value;

/** A fence: only the start with this number may write the unit. */
export const holdsAuthority = (value: number): Statement =>
  statement(sql.selectFrom('counters').select('value').where('name', '=', NAME).where('value', '=', value), {
    expect: 1,
    guard: FENCE_GUARD,
  });

export const isFencedOut = (answer: UnitAnswer): boolean => answer.kind === 'refused' && answer.guard === FENCE_GUARD;

/** The error of a worker that has lost the authority to write. */
export const authorityGone = (): SvcError =>
  new SvcError('storage_unavailable', 'another worker writes to the state of this project', {
    hint: 'svc runtime status names it; stop one of them',
  });
