// What of the time after a checkpoint comes along: the data are of the checkpoint, the outcomes are of the state that is replaced. Pure.
//
//   CARRY-1  Nothing that was handled or sent is handled or sent again. A handled delivery leaves its id, so that a repeat is recognised.
//   CARRY-2  A delivery that was only stored is handled after the restore. An item under way goes on; its handlers that had finished do not run again.
//   CARRY-3  A send that had not gone out yet goes out, also one that was stored after the checkpoint: its item will not be handled again.
//   CARRY-4  A row that is missing in a replaced state that came from the restored one was done or sent there, or dropped, and retention has removed it:
//            retention removes nothing that is open, dead or unknown. Any other replaced state may never have had the row: then it stays as it is.
//            Dead and unknown work does not come along, so of a state whose outcomes alone came along only open work has ended for certain.
//   CARRY-5  A dead item or send changes only where an operator has changed it since.
//   CARRY-6  A task that waits comes due, also one that was set after the checkpoint: the item that set it will not be handled again.
//   CARRY-7  An event of a subscriber is the same one only in its own timeline: numbers are given again after a restore (`event-ids.ts`).
import type { Statement } from '../../database/unit.ts';
import type { Origin } from './lineage.ts';

export type Row = Readonly<Record<string, unknown>>;
/** Names of the columns of a table of the restored database. A value for any other column cannot be held there: `not-held.ts` counts it. */
export type Columns = (table: string) => ReadonlySet<string>;

/** What decides about an item or a send. */
export interface Fact {
  readonly isEnded: boolean;
  /** Done, sent or dropped: retention may remove it (CARRY-4). */
  readonly isOver: boolean;
  /** Changes of operators. */
  readonly changes: number;
}

export type ItemCarry = 'nothing' | 'go_on' | 'end' | 'ended_unseen' | 'id';
export type SendCarry = 'nothing' | 'bring' | 'go_on' | 'end' | 'ended_unseen';

export function itemCarry(replaced: Fact | undefined, kept: Fact | undefined, origin: Origin): ItemCarry {
  if (replaced === undefined) return missing(kept, origin);
  if (kept === undefined) return replaced.isEnded ? 'id' : 'go_on';
  return sinceKept(replaced, kept);
}

export function sendCarry(replaced: Fact | undefined, kept: Fact | undefined, origin: Origin): SendCarry {
  if (replaced === undefined) return missing(kept, origin);
  if (kept === undefined) return replaced.isEnded ? 'nothing' : 'bring';
  return sinceKept(replaced, kept);
}

/** CARRY-4. */
function missing(kept: Fact | undefined, origin: Origin): 'nothing' | 'ended_unseen' {
  if (kept === undefined || kept.isOver || origin === 'none') return 'nothing';
  return origin === 'carried' && kept.isEnded ? 'nothing' : 'ended_unseen';
}

function sinceKept(replaced: Fact, kept: Fact): 'nothing' | 'go_on' | 'end' {
  if (kept.isEnded && replaced.changes <= kept.changes) return 'nothing';
  return replaced.isEnded ? 'end' : 'go_on';
}

/** An item as the replaced state has it, with what its handlers have done. */
export interface ReplacedItem {
  readonly row: Row;
  /** Rows of `handler_runs`. */
  readonly runs: readonly Row[];
  /** Rows of `once_results`. */
  readonly steps: readonly Row[];
}

const WAITS_NO_MORE = { next_at: null } as const;
const OPEN_AGAIN = { state: 'received', done_at: null, code: null, failed_handler: null, ...WAITS_NO_MORE } as const;
const ID_ALONE = {
  state: 'done',
  body: null,
  last_error: null,
  code: null,
  failed_handler: null,
  ...WAITS_NO_MORE,
} as const;
const ITEM_END = ['state', 'done_at', 'last_error', 'code', 'failed_handler', 'attempts', 'deaths', 'operator_changes'];
const ITEM_COUNTS = ['attempts', 'deaths', 'last_error', 'operator_changes'];
const SEND_END = [
  'state',
  'done_at',
  'last_error',
  'code',
  'attempts',
  'failures',
  'platform_message',
  'is_dropped',
  'operator_changes',
];
const SEND_COUNTS = ['attempts', 'failures', 'last_error', 'operator_changes'];

/** `kept`: id of the item in the restored database. The order of calls is the order of arrival. */
export function carryItem(
  carry: Exclude<ItemCarry, 'nothing' | 'ended_unseen'>,
  { row, runs, steps }: ReplacedItem,
  { kept, columns }: { readonly kept: string | undefined; readonly columns: Columns },
): readonly Statement[] {
  const id = kept ?? String(row['id']);
  const done = [
    { sql: 'DELETE FROM handler_runs WHERE item_id = ?', parameters: [id] },
    { sql: 'DELETE FROM once_results WHERE item_id = ?', parameters: [id] },
    ...runs.map((run) => insert('handler_runs', { ...run, item_id: id }, columns)),
    ...steps.map((step) => insert('once_results', { ...step, item_id: id }, columns)),
  ];
  switch (carry) {
    case 'id':
      return [insert('inbox', { ...row, ...ID_ALONE }, columns)];
    case 'end':
      return [update('inbox', { ...pick(row, ITEM_END), ...WAITS_NO_MORE }, { id, columns }), ...done];
    case 'go_on': {
      const now = { ...pick(row, ITEM_COUNTS), ...OPEN_AGAIN };
      return [
        kept === undefined ? insert('inbox', { ...row, ...now }, columns) : update('inbox', now, { id, columns }),
        ...done,
      ];
    }
  }
}

export function carrySend(
  carry: Exclude<SendCarry, 'nothing' | 'ended_unseen'>,
  row: Row,
  { kept, columns }: { readonly kept: string | undefined; readonly columns: Columns },
): Statement {
  // The start finds a send under way and decides what its result may have been.
  const state = row['state'] === 'sending' ? 'sending' : 'pending';
  const open = { state, done_at: null, code: null, ...WAITS_NO_MORE };
  if (carry === 'bring' || kept === undefined) return insert('outbox', { ...row, ...open }, columns);
  const now = carry === 'end' ? pick(row, SEND_END) : { ...pick(row, SEND_COUNTS), ...open };
  return update('outbox', { ...now, ...WAITS_NO_MORE }, { id: kept, columns });
}

/** CARRY-4. */
export const endUnseenItem = (id: string, at: number): Statement => ({
  sql: "UPDATE inbox SET state = 'done', done_at = ?, next_at = NULL, code = NULL, failed_handler = NULL WHERE id = ?",
  parameters: [at, id],
});
/** CARRY-4. */
export const endUnseenSend = (id: string, at: number): Statement => ({
  sql: "UPDATE outbox SET state = 'sent', done_at = ?, next_at = NULL, code = NULL WHERE id = ?",
  parameters: [at, id],
});

/** Kinds of due rows whose time may have come since. Others belong to items and sends, to the pause, or follow from the Workroom's journal. */
const MOVES: ReadonlySet<unknown> = new Set(['task', 'cron', 'job']);
/** Waits of items and sends that are open again: nothing waits any more. */
const OF_WAITS: ReadonlySet<unknown> = new Set(['inbox', 'outbox']);

export interface DueCarry {
  readonly statements: readonly Statement[];
  readonly gone: number;
  readonly moved: number;
  /** Tasks that were set since. */
  readonly brought: readonly Row[];
}

export interface DueStates {
  readonly replaced: readonly Row[];
  readonly kept: readonly Row[];
  readonly origin: Origin;
  /** Whether the restored state has fired this task. */
  readonly hasFired: (row: Row) => boolean;
}

/** Rows of the due table: a task that is gone is gone, a cron time that has moved on has moved on, a task that was set since is set (CARRY-6). */
export function carryDue({ replaced, kept, origin, hasFired }: DueStates, columns: Columns): DueCarry {
  const now = new Map(replaced.map((row) => [row['id'], row]));
  const known = new Set(kept.map(({ id }) => id));
  const statements: Statement[] = [];
  let [gone, moved] = [0, 0];
  for (const row of kept) {
    const later = now.get(row['id']);
    const isGone = MOVES.has(row['kind']) && later === undefined && origin !== 'none';
    if (isGone) gone += 1;
    if (isGone || OF_WAITS.has(row['kind']))
      statements.push({ sql: 'DELETE FROM due WHERE id = ?', parameters: [row['id']] });
    else if (later !== undefined && MOVES.has(row['kind']) && isOther(later, row)) {
      moved += 1;
      statements.push(
        update('due', pick(later, ['at', 'data', 'is_wait', 'lane']), { id: String(row['id']), columns }),
      );
    }
  }
  const brought = replaced.filter((row) => row['kind'] === 'task' && !known.has(row['id']) && !hasFired(row));
  statements.push(...brought.map((row) => insert('due', row, columns)));
  return { statements, gone, moved, brought };
}

const isOther = (one: Row, other: Row): boolean => one['at'] !== other['at'] || one['data'] !== other['data'];

/** Tables whose rows are added as they are: what was answered, what ran, which files are stored. */
export const ADDED = ['idempotency', 'job_runs', 'starts', 'files', 'fetched_files', 'restores'] as const;

export function carryAdded(table: (typeof ADDED)[number], row: Row, columns: Columns): readonly Statement[] {
  if (table === 'idempotency' && row['status'] === null) return []; // under way: no answer was stored
  const plain = insert(table, row, columns);
  const added = { ...plain, sql: plain.sql.replace('INSERT', 'INSERT OR IGNORE') };
  if (table !== 'job_runs' || row['done_at'] === null) return [added];
  const ended = pick(row, ['state', 'reason', 'done_at', 'item_id']);
  const [names, values] = assignments(ended, columns('job_runs'));
  return [
    added,
    {
      sql: `UPDATE job_runs SET ${names} WHERE run_id = ? AND done_at IS NULL`,
      parameters: [...values, row['run_id']],
    },
  ];
}

/** Tables that come along whole: who was told of an alert is not told again, and a silence holds whatever the state is. */
export const WHOLE = ['alerts', 'alert_silences'] as const;

export const carryWhole = (
  table: (typeof WHOLE)[number],
  rows: readonly Row[],
  columns: Columns,
): readonly Statement[] => [
  { sql: `DELETE FROM ${table}`, parameters: [] },
  ...rows.map((row) => insert(table, row, columns)),
];

/** The higher of both, so that no number is given twice. */
const HIGHER = /^(generation|authority|starts\..*)$/;

export const carryCounter = ({ name, value }: Row): readonly Statement[] =>
  HIGHER.test(String(name))
    ? [
        {
          sql: 'INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)',
          parameters: [name, value],
        },
      ]
    : [];

export const carryTotal = ({ kind, name, outcome, count, last_at: at }: Row): Statement => ({
  sql: 'INSERT INTO run_totals (kind, name, outcome, "count", last_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (kind, name, outcome) DO UPDATE SET "count" = max("count", excluded."count"), last_at = max(last_at, excluded.last_at)',
  parameters: [kind, name, outcome, count, at],
});

/** What the platform was told that it has delivered stays told. Whether an account is enabled is of the checkpoint. */
export const carryCursor = ({ endpoint, cursor, revision }: Row): Statement => ({
  sql: 'INSERT INTO endpoints (endpoint, enabled, cursor, revision) VALUES (?, NULL, ?, ?) ON CONFLICT (endpoint) DO UPDATE SET cursor = excluded.cursor, revision = max(revision, excluded.revision)',
  parameters: [endpoint, cursor, revision],
});

/** Nothing comes along: nobody knows what became of the open sends, and an operator decides about open items. */
export function withoutCarry(open: 'handle' | 'drop', at: number): readonly Statement[] {
  const items =
    open === 'handle'
      ? "UPDATE inbox SET state = 'received', next_at = NULL WHERE done_at IS NULL"
      : "UPDATE inbox SET state = 'done', done_at = ?, next_at = NULL, last_error = 'dropped: restore' WHERE done_at IS NULL";
  return [
    {
      sql: "UPDATE outbox SET state = 'unknown', done_at = ?, next_at = NULL, code = 'result_unknown', last_error = 'the state was restored: nobody knows whether it went out' WHERE done_at IS NULL",
      parameters: [at],
    },
    { sql: items, parameters: open === 'handle' ? [] : [at] },
    { sql: "DELETE FROM due WHERE kind IN ('inbox', 'outbox')", parameters: [] },
  ];
}

function insert(table: string, row: Row, columns: Columns): Statement {
  const names = Object.keys(row).filter((name) => columns(table).has(name) && name !== 'seq');
  const list = names.map((name) => `"${name}"`).join(', ');
  return {
    sql: `INSERT INTO ${table} (${list}) VALUES (${names.map(() => '?').join(', ')})`,
    parameters: names.map((name) => row[name]),
  };
}

function update(
  table: string,
  values: Row,
  { id, columns }: { readonly id: string; readonly columns: Columns },
): Statement {
  const [names, parameters] = assignments(values, columns(table));
  return { sql: `UPDATE ${table} SET ${names} WHERE id = ?`, parameters: [...parameters, id] };
}

function assignments(values: Row, columns: ReadonlySet<string>): readonly [string, readonly unknown[]] {
  const names = Object.keys(values).filter((name) => columns.has(name));
  return [names.map((name) => `"${name}" = ?`).join(', '), names.map((name) => values[name])];
}

const pick = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(names.filter((name) => name in row).map((name) => [name, row[name]]));
