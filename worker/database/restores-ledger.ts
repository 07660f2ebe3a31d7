// The ledger of restores: a row for each restore of this database. The next start tells it as an event.
import type { Selectable } from 'kysely';
import { sql, statement } from './statement.ts';
import type { RestoresTable } from './tables.ts';
import type { Reader, Statement } from './unit.ts';

export type RestoreRow = Selectable<RestoresTable>;

/** Restores whose event is not stored yet. */
export const readUntold = (reader: Reader): Promise<RestoreRow[]> =>
  reader.all(sql.selectFrom('restores').selectAll().where('is_told', '=', 0).orderBy('at'));

/** Belongs in the unit that stores the event. */
export const toldRestore = ({ replaced }: Pick<RestoreRow, 'replaced'>): Statement =>
  statement(sql.updateTable('restores').set({ is_told: 1 }).where('replaced', '=', replaced));
