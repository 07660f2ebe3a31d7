// Statements and reads for items that were in hand when a process ended.
import { isOpen } from '../database/open-rows.ts';
import { prepared, sql, statement } from '../database/statement.ts';
import type { Reader, Statement } from '../database/unit.ts';
import type { LeftInHand } from '../lanes/quarantine.ts';
import { claiming } from './inbox-store.ts';

/** Claims such an item and counts the death. */
export const claimLeftItem = prepared<{ id: string }>(
  (item) => claiming(item).set(({ eb }) => ({ deaths: eb('deaths', '+', 1) })),
  { expect: 1, guard: 'item' },
);

/** Sets aside an item that was in hand at too many deaths to begin at once. */
export const setAsideItem = prepared<{ id: string; nextAt: number; error: string }>(
  ({ id, nextAt, error }) =>
    sql
      .updateTable('inbox')
      .set(({ eb }) => ({ state: 'waiting', next_at: nextAt, last_error: error, deaths: eb('deaths', '+', 1) }))
      .where('id', '=', id)
      .where('state', '=', 'handling'),
  { expect: 1, guard: 'item' },
);

/** An orderly stop interrupted these items. That is no process death. */
export const letGoItems = (): Statement =>
  statement(sql.updateTable('inbox').set({ state: 'received' }).where(isOpen).where('state', '=', 'handling'));

/** Items that were in hand at a process death: at the last one, or set aside since an earlier one. */
export async function readLeftInHand(reader: Reader): Promise<readonly LeftInHand[]> {
  const rows = await reader.all(
    sql
      .selectFrom('inbox')
      .select(['id', 'state', 'deaths'])
      .where(isOpen)
      .where((eb) => eb.or([eb('state', '=', 'handling'), eb('deaths', '>', 0)])),
  );
  return rows.map(({ id, state, deaths }) =>
    state === 'handling' ? { id, deaths: deaths + 1, isWaiting: false } : { id, deaths, isWaiting: true },
  );
}
