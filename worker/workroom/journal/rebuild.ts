// Makes everything that is derived from the journal anew: head, catalog, dependencies, due rows. The journal has to hold.
import { SvcError } from '../../../shared/svc-error.ts';
import { type Core, commitOrThrow } from '../../core/core.ts';
import { sql, statement } from '../../database/statement.ts';
import type { Statement } from '../../database/unit.ts';
import { recordEvents } from '../../events/event-history.ts';
import type { NewEvent } from '../../events/event-types.ts';
import { putDue } from '../../timers/due-store.ts';
import { dueRow, type Reminding } from '../board/due-times.ts';
import { notePlanned } from '../plan-dues.ts';
import type { Head } from '../read-catalog.ts';
import { needsOf } from './catalog-rows.ts';
import type { JournalSource } from './journal.ts';
import { type FoldedRow, JournalCheck } from './verify.ts';

const SLICE = 500;

const COLUMNS = [
  'stream',
  'kind',
  'board',
  'version',
  'applied_seq',
  'status',
  'state',
  'assignee',
  'next_at',
  'last_item',
  'quarantined',
  'updated_at',
  'data',
];
export const insertFrom = (table: string, columns: readonly string[]): string =>
  `INSERT INTO ${table} (${columns.join(', ')})
  SELECT ${columns.map((column) => `json_extract(value, '$.${column}')`).join(', ')} FROM json_each(?)`;
const INSERT_CATALOG = insertFrom('workroom_catalog', COLUMNS);
const INSERT_NEEDS = insertFrom('workroom_needs', ['item', 'blocker', 'needs']);

export interface Rebuilding {
  readonly core: Pick<Core, 'reader' | 'writer' | 'clock' | 'runtimeId' | 'projectId'>;
  readonly source: Pick<JournalSource, 'prove'>;
  readonly reminding: Reminding;
  /** Last number of the journal. */
  readonly lastSeq: number;
  readonly pause: () => Promise<void>;
  /** Statements of the same unit. */
  readonly more?: readonly Statement[];
}

/** One unit: derived tables are the old ones or the new ones. Throws `journal_damaged` at the first fault; then nothing is changed. */
export async function rebuild({ core, source, reminding, lastSeq, pause, more = [] }: Rebuilding): Promise<Head> {
  const check = new JournalCheck({ projectId: core.projectId, head: undefined });
  await source.prove(check, { head: { seq: lastSeq, hash: '' }, pause });
  check.endJournal();
  const rows = check.folded(reminding);
  const { head, faults } = check.endWithoutCatalog();
  const [fault] = faults;
  if (fault !== undefined)
    throw new SvcError(
      'journal_damaged',
      `nothing can be rebuilt: event ${fault.seq}${fault.stream === null ? '' : ` of ${fault.stream}`} is ${fault.fault}`,
      { hint: 'svc workroom verify tells all faults' },
    );
  const quarantined = await core.reader.all(
    sql.selectFrom('workroom_catalog').select('stream').where('quarantined', '=', 1),
  );
  const kept = new Set(quarantined.map(({ stream }) => stream));
  await commitOrThrow(core.writer, {
    name: 'workroom.rebuilt',
    statements: [
      ...more,
      statement(sql.deleteFrom('workroom_catalog')),
      statement(sql.deleteFrom('workroom_needs')),
      statement(sql.deleteFrom('due').where('kind', '=', 'workroom')),
      ...inSlices(rows.map((one) => catalogValues(one, kept))).map((slice) => insert(INSERT_CATALOG, slice)),
      ...inSlices(rows.flatMap(needsValues)).map((slice) => insert(INSERT_NEEDS, slice)),
      ...rows.flatMap(({ row, entity }) =>
        entity.kind === 'item' && row.next_at != null ? [putDue({ ...dueRow(entity.item.id), at: row.next_at })] : [],
      ),
      notePlanned(reminding),
      statement(
        sql
          .insertInto('workroom_head')
          .values({ id: 1, ...head })
          .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...head })),
      ),
      ...recordEvents(rows.flatMap((one) => rebuiltEvent(core, one))),
    ],
  });
  return head;
}

const insert = (text: string, rows: readonly unknown[]): Statement => ({
  sql: text,
  parameters: [JSON.stringify(rows)],
});

const catalogValues = ({ row, appliedSeq, lastItem }: FoldedRow, quarantined: ReadonlySet<string>): unknown => ({
  ...row,
  applied_seq: appliedSeq,
  last_item: lastItem,
  quarantined: quarantined.has(row.stream) ? 1 : 0,
});

const needsValues = ({ entity }: FoldedRow): readonly unknown[] =>
  entity.kind === 'item' ? needsOf(entity.item).map((need) => ({ item: entity.item.id, ...need })) : [];

function rebuiltEvent({ clock, runtimeId }: Rebuilding['core'], { entity }: FoldedRow): NewEvent[] {
  if (entity.kind !== 'board') return [];
  const { id, version } = entity.board;
  const data = { board: id, version, change: 'rebuilt' };
  return [{ type: 'workroom.board_changed', at: clock.now(), runtimeId, data }];
}

function inSlices<T>(rows: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(rows.length / SLICE) }, (_, index) =>
    rows.slice(index * SLICE, (index + 1) * SLICE),
  );
}
