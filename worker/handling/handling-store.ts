// Statements and reads of handler data: cells of state, results of `once`, dialogs, buttons.
import { randomInt } from 'node:crypto';
import { prepared, preparedRead, sql, statement } from '../database/statement.ts';
import type { Tables } from '../database/tables.ts';
import type { Reader, Statement } from '../database/unit.ts';
import type { CellGuard, CellId, DialogRow } from './run/run.ts';

const MOST_FIRST_REVISION = 2 ** 47;

type NewCell = CellId & { readonly value: string; readonly revision: number };

const insertCell = prepared<NewCell>(({ store, owner, key, value, revision }) =>
  sql.insertInto('cells').values({ store, owner, key, value, revision }),
);

const upsertCell = prepared<NewCell>(({ store, owner, key, value, revision }) =>
  sql
    .insertInto('cells')
    .values({ store, owner, key, value, revision })
    .onConflict((conflict) =>
      conflict
        .columns(['store', 'owner', 'key'])
        .doUpdateSet(({ eb }) => ({ value, revision: eb('cells.revision', '+', 1) })),
    ),
);

const updateCell = prepared<NewCell>(
  ({ store, owner, key, value, revision }) =>
    sql
      .updateTable('cells')
      .set(({ eb }) => ({ value, revision: eb('revision', '+', 1) }))
      .where('store', '=', store)
      .where('owner', '=', owner)
      .where('key', '=', key)
      .where('revision', '=', revision),
  { expect: 1, guard: 'cell' },
);

/** Writes or removes a cell under a guard. A failed guard refuses the transaction, and the handler runs again. */
export function writeCell(cell: CellId, value: string | undefined, guard: CellGuard): Statement {
  if (value === undefined) return removeCell(cell, guard);
  if (guard.kind === 'any') return upsertCell({ value, revision: firstRevision(), ...cell });
  return guard.revision === 0
    ? { ...insertCell({ ...cell, value, revision: firstRevision() }), guard: 'cell' }
    : updateCell({ value, revision: guard.revision, ...cell });
}

/** Random first revision, so that a cell that was removed and written again is not taken for the former one. */
const firstRevision = (): number => randomInt(1, MOST_FIRST_REVISION);

function removeCell({ store, owner, key }: CellId, guard: CellGuard): Statement {
  const all = sql.deleteFrom('cells').where('store', '=', store).where('owner', '=', owner).where('key', '=', key);
  if (guard.kind === 'any') return statement(all);
  if (guard.revision === 0) return statement(all, { expect: 0, guard: 'cell' });
  return statement(all.where('revision', '=', guard.revision), { expect: 1, guard: 'cell' });
}

const cellAt = preparedRead<CellId, { value: string; revision: number }>(({ store, owner, key }) =>
  sql
    .selectFrom('cells')
    .select(['value', 'revision'])
    .where('store', '=', store)
    .where('owner', '=', owner)
    .where('key', '=', key),
);

export const readCell = (reader: Reader, cell: CellId): Promise<{ value: string; revision: number } | undefined> =>
  reader.first(cellAt(cell));

export const readCells = (
  reader: Reader,
  cells: { store: string; owner: string; from: string; to: string; limit: number; after: string | undefined },
): Promise<{ key: string; value: string; revision: number }[]> => {
  let query = sql
    .selectFrom('cells')
    .select(['key', 'value', 'revision'])
    .where('store', '=', cells.store)
    .where('owner', '=', cells.owner)
    .where('key', '>=', cells.from)
    .where('key', '<', cells.to);
  if (cells.after !== undefined) query = query.where('key', '>', cells.after);
  return reader.all(query.orderBy('key').limit(cells.limit));
};

export interface OnceKey {
  readonly item: string;
  readonly handler: string;
  readonly step: string;
}
export const markCalled = ({ item, handler, step }: OnceKey, at: number): Statement =>
  statement(
    sql
      .insertInto('once_results')
      .values({ item_id: item, handler, step, state: 'called', value: null, at })
      .onConflict((conflict) => conflict.columns(['item_id', 'handler', 'step']).doNothing()),
  );

export const keepResult = ({ item, handler, step }: OnceKey, value: string | null, at: number): Statement =>
  statement(
    sql
      .insertInto('once_results')
      .values({ item_id: item, handler, step, state: 'done', value, at })
      .onConflict((conflict) =>
        conflict.columns(['item_id', 'handler', 'step']).doUpdateSet({ state: 'done', value, at }),
      ),
  );

export const forgetResults = ({ item, handler }: Omit<OnceKey, 'step'>): Statement =>
  statement(sql.deleteFrom('once_results').where('item_id', '=', item).where('handler', '=', handler));

export const forgetCalled = ({ item, handler, step }: OnceKey): Statement =>
  statement(
    sql
      .deleteFrom('once_results')
      .where('item_id', '=', item)
      .where('handler', '=', handler)
      .where('step', '=', step)
      .where('state', '=', 'called'),
  );

export const readOnce = (
  reader: Reader,
  { item, handler, step }: OnceKey,
): Promise<{ state: 'called' | 'done'; value: string | null } | undefined> =>
  reader.first(
    sql
      .selectFrom('once_results')
      .select(['state', 'value'])
      .where('item_id', '=', item)
      .where('handler', '=', handler)
      .where('step', '=', step),
  );

export function writeDialog(owner: string, row: DialogRow | null): Statement {
  if (row === null) return statement(sql.deleteFrom('dialogs').where('owner', '=', owner));
  const values = {
    capability: row.capability,
    data: JSON.stringify(row.data),
    skipped: JSON.stringify(row.skipped),
    asked: row.asked,
    expires_at: row.expiresAt,
  };
  return statement(
    sql
      .insertInto('dialogs')
      .values({ owner, ...values })
      .onConflict((conflict) => conflict.column('owner').doUpdateSet(values)),
  );
}

const openDialogOf = preparedRead<{ owner: string; now: number }, Tables['dialogs']>(({ owner, now }) =>
  sql.selectFrom('dialogs').selectAll().where('owner', '=', owner).where('expires_at', '>', now),
);

export async function readDialog(reader: Reader, owner: string, now: number): Promise<DialogRow | undefined> {
  const row = await reader.first(openDialogOf({ owner, now }));
  if (row === undefined) return undefined;
  return {
    capability: row.capability,
    data: JSON.parse(row.data) as DialogRow['data'],
    skipped: JSON.parse(row.skipped) as string[],
    asked: row.asked,
    expiresAt: row.expires_at,
  };
}

export interface StoredButton {
  readonly token: string;
  readonly action: string;
  readonly data: string;
  readonly label: string;
  /** Number in a listed menu, from 1; null if the platform shows buttons. */
  readonly menu: number | null;
}
export interface ButtonPlace {
  readonly endpoint: string;
  readonly conversation: string;
  readonly at: number;
}

/** Stores the buttons of one message. A new listed menu takes the numbers from the previous one. */
export function keepButtons(
  buttons: readonly StoredButton[],
  { endpoint, conversation, at }: ButtonPlace,
): Statement[] {
  if (buttons.length === 0) return [];
  const rows = buttons.map((button) =>
    statement(sql.insertInto('buttons').values({ ...button, endpoint, conversation, created_at: at })),
  );
  if (!buttons.some(({ menu }) => menu !== null)) return rows;
  const clear = statement(
    sql
      .updateTable('buttons')
      .set({ menu: null })
      .where('endpoint', '=', endpoint)
      .where('conversation', '=', conversation)
      .where('menu', 'is not', null),
  );
  return [clear, ...rows];
}

export const readButton = (
  reader: Reader,
  token: string,
): Promise<{ action: string; data: string; endpoint: string; conversation: string } | undefined> =>
  reader.first(
    sql.selectFrom('buttons').select(['action', 'data', 'endpoint', 'conversation']).where('token', '=', token),
  );

export const readMenuEntry = (
  reader: Reader,
  place: { endpoint: string; conversation: string; number: number },
): Promise<{ action: string; data: string } | undefined> =>
  reader.first(
    sql
      .selectFrom('buttons')
      .select(['action', 'data'])
      .where('endpoint', '=', place.endpoint)
      .where('conversation', '=', place.conversation)
      .where('menu', '=', place.number),
  );
