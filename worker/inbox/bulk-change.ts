// Replays and drops dead items by cause, a page at a time. Shared by inbox and outbox.
//
//   BULK-CHANGE-1  A page is one unit of at most BULK_ITEMS items: all of them are changed, each with its event, or none. A command that is killed
//                  between two pages is repeated, and finds the rest.
//   BULK-CHANGE-2  Only items that were dead at `upTo` are changed. An item that is replayed and dies again is not replayed for ever.
//   BULK-CHANGE-3  Between pages the host serves: a page is short, and the rest is counted in pieces.
//   BULK-CHANGE-4  A replay of all leaves items that an operator holds: they may do harm.
//   BULK-CHANGE-5  An item that somebody else changes meanwhile refuses the unit. The page is then read again.
import { sql as raw } from 'kysely';
import { SvcError } from '../../shared/svc-error.ts';
import { readDateTime } from '../../shared/time/date-time.ts';
import type { Core } from '../core/core.ts';
import { sql } from '../database/statement.ts';
import type { OutboxTable } from '../database/tables.ts';
import type { Statement } from '../database/unit.ts';
import type { Keep } from '../http/answer/kept-answer.ts';
import type { BulkResult, Selection } from '../http/api/items-api.ts';
import { handlerOf, isUndecided, type Table, UNRECORDED } from './cause-groups.ts';
import type { InboxRow } from './inbox-store.ts';
import { countInPieces, cursorOf, endpointsNamed, type Items } from './item-page.ts';

export const BULK_ITEMS = 500;
export const BULK_GUARD = 'items';
const TRIES = 5;

const HAS_TEXT = raw<boolean>`(body IS NOT NULL)`;
const IS_NOT_HELD = raw<boolean>`(code IS NULL OR code <> 'held')`;

/** The items that a replay puts back in line. Those that an operator holds come back only if they are named by their code. */
export const replayable = ({ code }: Selection, needsText = true): ReturnType<typeof raw<boolean>> =>
  raw<boolean>`(${needsText ? HAS_TEXT : raw`1`} AND ${code === undefined ? IS_NOT_HELD : raw`1`})`;

/** Without the bodies, which may be large. */
const COMMON = ['seq', 'id', 'endpoint', 'kind', 'state', 'bytes', 'correlation_id'] as const;
const COLUMNS = { inbox: [...COMMON, 'lane'], outbox: COMMON } as const;

export type BulkItem = Pick<InboxRow, (typeof COLUMNS)['inbox'][number]>;
export type BulkSend = Pick<OutboxTable, 'id' | 'endpoint' | 'correlation_id' | 'state'> & { readonly seq: number };

export interface BulkChange<Row> {
  /** Name of the unit. */
  readonly name: string;
  /** Items that the change leaves alone are not selected. */
  readonly isEligible?: ReturnType<typeof raw<boolean>>;
  /** How many items this page may hold. */
  readonly most?: number;
  /** One statement has the guard BULK_GUARD and expects all rows. */
  readonly statements: (rows: readonly Row[]) => readonly Statement[];
  /** Called after the commit. */
  readonly changed: (rows: readonly Row[]) => void;
  readonly keep: Keep<BulkResult> | undefined;
}

/** Changes one page. Throws `invalid_request`, and `conflict` if the items keep changing. */
export async function changeInBulk<Row extends { readonly seq: number }>(
  core: Core,
  { table, selection }: { readonly table: Table; readonly selection: Selection },
  { name, isEligible, most = BULK_ITEMS, statements, changed, keep }: BulkChange<Row>,
): Promise<BulkResult> {
  const all = sql.selectFrom(table as 'inbox'); // both tables have the columns used here
  const matching = await select(core, table, selection);
  const from = isEligible === undefined ? matching : matching.where(isEligible);
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const page = from.select(COLUMNS[table]).where('seq', '>', cursorOf(selection.after ?? '0'));
    const rows = (await core.reader.all(
      page.orderBy('seq').limit(Math.min(most, BULK_ITEMS)),
    )) as readonly unknown[] as Row[];
    const last = rows.at(-1)?.seq;
    const left = last === undefined ? 0 : await countInPieces(core, { all, from, after: last });
    const skipped =
      left > 0 || isEligible === undefined
        ? 0
        : await countInPieces(core, { all, from: matching.where(raw<boolean>`NOT (${isEligible})`) });
    const result = { done: rows.length, left, skipped, ...(left > 0 ? { next: String(last) } : {}) };
    if (rows.length === 0) return result;
    const answer = await core.writer.commit({ name, statements: [...statements(rows), ...(keep?.(result) ?? [])] });
    if (answer.kind === 'committed') {
      changed(rows);
      return result;
    }
    if (answer.guard !== BULK_GUARD) throw new Error(`${name} was refused: ${answer.detail}`);
  }
  throw new SvcError('conflict', 'the items changed each time that they were read', { hint: 'repeat it in a moment' });
}

async function select(core: Core, table: Table, selection: Selection): Promise<Items> {
  const { state, endpoint, handler, code, since, upTo } = selection;
  let from: Items = sql
    .selectFrom(table as 'inbox')
    .where('state', '=', state as 'dead')
    .where(isUndecided(table))
    .where('done_at', '<=', timeOf('upTo', upTo));
  if (since !== undefined) from = from.where('done_at', '>=', timeOf('since', since));
  if (code !== undefined) from = code === UNRECORDED ? from.where('code', 'is', null) : from.where('code', '=', code);
  if (endpoint !== undefined) from = from.where(raw`+endpoint`, 'in', await endpointsNamed(core, table, endpoint)); // by the index of the state
  if (handler === undefined) return from;
  const failed = handlerOf(table);
  // A plugin's path names all its handlers, which follow it after `#`; `$` is the next character.
  return from.where(
    raw<boolean>`(${failed} = ${handler} OR (${failed} > ${`${handler}#`} AND ${failed} < ${`${handler}$`}))`,
  );
}

function timeOf(name: string, text: string): number {
  const at = readDateTime(text);
  if (at === undefined) throw new SvcError('invalid_request', `\`${name}\` must be a time (RFC 3339)`);
  return at;
}
