// Compares the database that is replaced with the one that comes, row by row, and hands on the statements that carry the outcomes over.

import type { Statement } from '../../database/unit.ts';
import {
  ADDED,
  type Columns,
  carryAdded,
  carryCounter,
  carryCursor,
  carryDue,
  carryItem,
  carrySend,
  carryTotal,
  carryWhole,
  endUnseenItem,
  endUnseenSend,
  type Fact,
  itemCarry,
  type Row,
  sendCarry,
  WHOLE,
} from './carry.ts';
import { idsBetween } from './event-ids.ts';
import { type Origin, originOf } from './lineage.ts';
import { NotHeld } from './not-held.ts';
import { prepareRead, type State } from './state-reader.ts';

export interface Compared {
  /** Deliveries and messages that were handled since. */
  readonly handled: number;
  /** Ids of items that come along without their texts. */
  readonly ids: number;
  /** Stored and never begun, or begun and not ended: handled after the restore. */
  readonly received: number;
  readonly endedItems: number;
  readonly endedSends: number;
  /** Sends that had not gone out yet. */
  readonly waitingSends: number;
  /** Sends that went out since, by account. */
  readonly sent: Readonly<Record<string, number>>;
  /** Dead and unknown sends of the time since. */
  readonly lostSends: number;
  readonly tasks: { readonly gone: number; readonly moved: number; readonly brought: number };
  /** Plugins whose state differs. */
  readonly plugins: number;
  /** What the restored database has no place for: rows by `table.column`, and by `table` of tables that it does not have. */
  readonly notHeld: Readonly<Record<string, number>>;
}

export interface CompareOptions {
  readonly replaced: State;
  /** The database of the checkpoint, or its staged copy. */
  readonly kept: State;
  /** End of items and sends whose end is not known any more. */
  readonly at: number;
  /** A database with the schema that the restored one will have. Left out: that of `kept`. */
  readonly schema?: State | undefined;
  /** Left out: counts alone. */
  readonly apply?: ((statement: Statement) => void) | undefined;
}

const FROM_PEOPLE: ReadonlySet<unknown> = new Set(['arrival', 'webhook']);

/** Throws what SQLite throws of a database that cannot be read. */
export function compareStates(options: CompareOptions): Compared {
  const { replaced, kept, apply = () => {} } = options;
  const columns: Columns = (table) => kept.columns(table);
  const origin = originOf(replaced, kept);
  const notHeld = new NotHeld(options);
  const items = compareItems({ ...options, apply, columns, origin, notHeld });
  const sends = compareSends({ ...options, apply, columns, origin, notHeld });
  const rows = { replaced: replaced.all('due'), kept: kept.all('due') };
  const due = carryDue({ ...rows, origin, hasFired: firedIn(kept) }, columns);
  due.statements.forEach(apply);
  notHeld.count('due', due.brought);
  carryNumbers(options);
  const add = (table: (typeof ADDED)[number], row: Row): void => {
    const statements = carryAdded(table, row, columns);
    statements.forEach(apply);
    if (statements.length > 0) notHeld.count(table, [row]);
  };
  for (const row of replaced.all('endpoints')) if (row['cursor'] !== null) apply(carryCursor(row));
  if (kept.has('run_totals')) for (const row of replaced.each('run_totals')) apply(carryTotal(row));
  for (const table of ADDED)
    if (table !== 'starts' && kept.has(table)) for (const row of replaced.each(table)) add(table, row);
  for (const table of WHOLE) {
    if (!replaced.has(table) || !kept.has(table)) continue;
    const all = replaced.all(table);
    carryWhole(table, all, columns).forEach(apply);
    notHeld.count(table, all);
  }
  const { gone, moved, brought } = due;
  return {
    ...items,
    ...sends,
    tasks: { gone, moved, brought: brought.length },
    plugins: changedPlugins(replaced, kept),
    notHeld: notHeld.counts(),
  };
}

/** Numbers that never fall, and all starts: also where nothing else comes along. */
export function carryNumbers({ replaced, kept, apply = () => {} }: CompareOptions): void {
  for (const row of replaced.all('counters')) carryCounter(row).forEach(apply);
  for (const row of replaced.each('starts')) carryAdded('starts', row, (table) => kept.columns(table)).forEach(apply);
}

/** Whether a state has the item of a task that came due. */
function firedIn(state: State): (row: Row) => boolean {
  const find = prepareRead(state, 'inbox', 'endpoint = ? AND delivery_id >= ? AND delivery_id < ?');
  // The id of the item begins with that of the task and its time; `0` is the character behind `/`.
  return ({ id, at, capability }) => find(capability ?? '', `${id}@${at}/`, `${id}@${at}0`) !== undefined;
}

interface Comparing extends CompareOptions {
  readonly apply: (statement: Statement) => void;
  readonly columns: Columns;
  readonly origin: Origin;
  readonly notHeld: NotHeld;
}

function compareItems({ replaced, kept, at, apply, columns, origin, notHeld }: Comparing) {
  let [handled, ids, received, endedItems] = [0, 0, 0, 0];
  const find = prepareRead(kept, 'inbox', 'endpoint = ? AND delivery_id = ?');
  const there = prepareRead(replaced, 'inbox', 'endpoint = ? AND delivery_id = ?');
  const [idHere, idThere] = [idsBetween(replaced, kept), idsBetween(kept, replaced)];
  const left = kept.all('inbox', "state <> 'done'");
  for (const found of replaced.each('inbox')) {
    const row: Row = { ...found, delivery_id: idHere(found) };
    const own = find(row['endpoint'], row['delivery_id']);
    const carry = itemCarry(factOf(row), own && factOf(own), origin);
    if (carry === 'nothing' || carry === 'ended_unseen') continue;
    if (carry === 'id') ids += 1;
    else if (carry === 'end') endedItems += 1;
    else received += 1;
    if ((carry === 'id' || carry === 'end') && FROM_PEOPLE.has(row['kind'])) handled += 1;
    // Also of an item that never began: after a replay the handlers that had finished do not run again.
    const of = (table: string): readonly Row[] => (carry === 'id' ? [] : replaced.all(table, 'item_id = ?', row['id']));
    const item = { row, runs: of('handler_runs'), steps: of('once_results') };
    carryItem(carry, item, { kept: own && String(own['id']), columns }).forEach(apply);
    if (own === undefined && carry !== 'id') notHeld.count('inbox', [row]); // of the others nothing but their end comes along
    notHeld.count('handler_runs', item.runs);
    notHeld.count('once_results', item.steps);
  }
  for (const row of left) {
    if (there(row['endpoint'], idThere(row)) !== undefined) continue;
    if (itemCarry(undefined, factOf(row), origin) !== 'ended_unseen') continue;
    endedItems += 1;
    apply(endUnseenItem(String(row['id']), at));
  }
  return { handled, ids, received, endedItems };
}

function compareSends({ replaced, kept, at, apply, columns, origin, notHeld }: Comparing) {
  let [endedSends, waitingSends, lostSends] = [0, 0, 0];
  const sent: Record<string, number> = {};
  const find = prepareRead(kept, 'outbox', 'key = ?');
  const there = prepareRead(replaced, 'outbox', 'key = ?');
  const left = kept.all('outbox', "state <> 'sent'");
  for (const row of replaced.each('outbox')) {
    const own = find(row['key']);
    const carry = sendCarry(factOf(row), own && factOf(own), origin);
    const endpoint = String(row['endpoint']);
    if (row['state'] === 'sent' && own?.['state'] !== 'sent') sent[endpoint] = (sent[endpoint] ?? 0) + 1;
    else if (own === undefined && carry === 'nothing') lostSends += 1;
    if (carry === 'nothing' || carry === 'ended_unseen') continue;
    if (carry === 'end') endedSends += 1;
    else waitingSends += 1;
    apply(carrySend(carry, row, { kept: own && String(own['id']), columns }));
    if (own === undefined) notHeld.count('outbox', [row]);
  }
  for (const row of left) {
    if (there(row['key']) !== undefined || sendCarry(undefined, factOf(row), origin) !== 'ended_unseen') continue;
    endedSends += 1;
    apply(endUnseenSend(String(row['id']), at));
  }
  return { endedSends, waitingSends, lostSends, sent };
}

const factOf = (row: Row): Fact => ({
  isEnded: row['done_at'] !== null,
  isOver: row['state'] === 'done' || row['state'] === 'sent' || row['is_dropped'] === 1,
  changes: Number(row['operator_changes'] ?? 0), // an svc before migration 3 did not count them
});

/** Owners of cells whose keys or revisions differ. */
function changedPlugins(replaced: State, kept: State): number {
  const owners = (state: State): ReadonlyMap<string, string> =>
    new Map(
      state
        .query('SELECT owner, count(*) AS n, sum(revision) AS revisions FROM cells GROUP BY owner ORDER BY owner')
        .map(({ owner, n, revisions }) => [String(owner), `${n}/${revisions}`]),
    );
  const [now, then] = [owners(replaced), owners(kept)];
  return [...new Set([...now.keys(), ...then.keys()])].filter((owner) => now.get(owner) !== then.get(owner)).length;
}
