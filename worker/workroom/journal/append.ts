// The statements that append the facts of one decision to the journal, in the caller's unit: catalog rows under their versions, events, head.
//
//   JOURNAL-1  A version of a stream is written once. The loser of a race is refused by the guard `workroom`, and decides anew.
//   JOURNAL-2  Event, catalog row, dependencies and due row are of one unit: the catalog always is the fold of the journal.
//   JOURNAL-3  A decision holds only while the streams it looked at are as they were: the board, the team, items of a dependency. So no right is
//              used that was taken back meanwhile, and no item waits for one that ended in the same moment.
//   JOURNAL-4  The hash is computed inside the transaction, from the head. Nobody has to know the hash before.
//   JOURNAL-5  An item has a due row no later than its next announcement. A fact that moves the announcement to a later time leaves the row: the look
//              at that time finds nothing yet, and puts the next one. Changed settings plan all items anew (`plan-dues.ts`).
import type { Statement } from '../../database/unit.ts';
import { putDueNoLater, removeDue } from '../../timers/due-store.ts';
import { dueRow, nextAnnouncement, type Reminding } from '../board/due-times.ts';
import { type Fact, type Item, stateOf, type View } from '../board/model.ts';
import { applyFacts, type CatalogRow, catalogRow, type Entity, entityIn, needsOf } from './catalog-rows.ts';
import { CHAIN_MARK } from './chain.ts';
import { type CommandIdentity, type JournalEvent, journalEvent } from './journal-event.ts';

export const GUARD = 'workroom';

/**
 * The head moves first, so that the event takes number and hash from it. It moves only while the conditions of the decision hold: a statement of their
 * own would cost more by its call than by its look-ups.
 */
const MOVE_HEAD = `UPDATE workroom_head SET seq = seq + 1, hash = svc_sha256(
    '${CHAIN_MARK}' || char(10) ||
    CASE seq WHEN 0
      THEN svc_sha256('${CHAIN_MARK}' || char(10) || (SELECT value FROM meta WHERE key = 'project_id'))
      ELSE hash END
    || char(10) || (seq + 1) || char(10) || ?)
  WHERE id = 1`;
const INSERT_EVENT = `INSERT INTO workroom_events
  (seq, id, stream, version, kind, at, actor, cause, data, texts, digest, hash)
  SELECT seq, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, hash FROM workroom_head WHERE id = 1`;
/** Number of an event of this decision, by how many of it follow. */
const SEQ_BEFORE = '(SELECT seq - ? FROM workroom_head WHERE id = 1)';
const INSERT_ROW = `INSERT INTO workroom_catalog
  (stream, kind, board, version, applied_seq, status, state, assignee, next_at, updated_at, data)
  VALUES (?, ?, ?, ?, ${SEQ_BEFORE}, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const UPDATE_ROW = `UPDATE workroom_catalog SET version = ?, applied_seq = ${SEQ_BEFORE}, next_at = ?, updated_at = ?, data = ?
  WHERE stream = ? AND version = ? AND quarantined = 0`;
/** Indexes hold these columns. SQLite writes an index whenever a column of it is set, so they are set only when they change. */
const UPDATE_PLACE = 'UPDATE workroom_catalog SET status = ?, state = ?, assignee = ? WHERE stream = ?';
const COUNT_ITEM = 'UPDATE workroom_catalog SET last_item = ? WHERE stream = ? AND last_item = ? AND quarantined = 0';
const IS_STREAM = 'EXISTS (SELECT 1 FROM workroom_catalog WHERE stream = ? AND version = ?)';
/** By a key of one letter. */
const CONDITIONS = {
  s: IS_STREAM,
  t: "NOT EXISTS (SELECT 1 FROM workroom_catalog WHERE stream = 'team')",
  w: '(SELECT count(*) FROM workroom_needs WHERE needs = ?) = ?',
} as const;
const RELEASE = 'UPDATE workroom_catalog SET quarantined = 0 WHERE stream = ? AND quarantined = 1';
const DELETE_NEEDS = 'DELETE FROM workroom_needs WHERE item = ?';
const INSERT_NEED = 'INSERT INTO workroom_needs (item, blocker, needs) VALUES (?, ?, ?)';

export interface Appended {
  readonly statements: readonly Statement[];
  /** The view after the facts. */
  readonly view: View;
  /** Earliest time at which the host is to look at an item of this decision. */
  readonly dueAt: number | undefined;
}

export interface Appending {
  readonly command: CommandIdentity;
  readonly reminding: Reminding;
  /** The unit has removed the due row of the item. */
  readonly isDueTaken?: boolean;
}

export function append(before: View, facts: readonly Fact[], appending: Appending): Appended {
  const { command, reminding, isDueTaken = false } = appending;
  const view = applyFacts(before, facts);
  const at = facts[0]?.at ?? 0;
  const [held = NONE, ...others] = inGroups(conditions(before, facts));
  const statements = others.map((group) =>
    one(`SELECT 1 WHERE ${group.map(({ key }) => CONDITIONS[key]).join(' AND ')}`, valuesOf(group)),
  );
  facts.forEach((fact, index) => addEvent(statements, journalEvent(fact, index, command), index === 0 ? held : NONE));
  let dueAt: number | undefined;
  const due: Statement[] = [];
  for (const stream of new Set(facts.map((fact) => fact.stream))) {
    const change = changeOf(stream, { before, view, facts, at, reminding });
    addRow(statements, change);
    if (change.entity.kind !== 'item') continue;
    const next = change.row.next_at ?? undefined;
    const planned = isDueTaken ? undefined : plannedFor(change, reminding);
    const statement = dueStatement(change.entity.item, { next, planned });
    if (statement !== undefined) due.push(statement);
    if (next !== undefined && (dueAt === undefined || next < dueAt)) dueAt = next;
  }
  statements.push(...due);
  return { statements, view, dueAt };
}

const one = (sql: string, parameters: readonly unknown[]): Statement => ({ sql, parameters, expect: 1, guard: GUARD });

/** Refuses the unit if the stream has gone on. */
export const isAtVersion = (stream: string, version: number): Statement =>
  one(`SELECT 1 WHERE ${IS_STREAM}`, [stream, version]);

/** What has to be as the decision saw it (JOURNAL-3). */
interface Condition {
  readonly key: keyof typeof CONDITIONS;
  readonly values: readonly (string | number)[];
}
const NONE: readonly Condition[] = [];

function valuesOf(conditions: readonly Condition[]): (string | number)[] {
  const all: (string | number)[] = [];
  for (const { values } of conditions) all.push(...values);
  return all;
}

function conditions(before: View, facts: readonly Fact[]): readonly Condition[] {
  const written = new Set(facts.map(({ stream }) => stream));
  const looked = new Set<string>();
  const found: Condition[] = [];
  for (const { stream, kind, data } of facts) {
    if (!stream.startsWith('item/')) continue;
    const id = stream.slice('item/'.length);
    looked.add(`board/${before.items[id]?.board ?? id.slice(0, id.lastIndexOf('-'))}`);
    if (kind === 'blocker.added' && data['needs'] !== null)
      for (const item of Object.keys(before.items)) looked.add(`item/${item}`);
    if (kind === 'item.accepted' || kind === 'item.submitted') {
      const waiting = Object.values(before.items).flatMap((item) => needsOf(item).filter(({ needs }) => needs === id));
      found.push({ key: 'w', values: [id, waiting.length] });
    }
  }
  looked.add('team');
  for (const stream of looked) {
    if (written.has(stream)) continue;
    const version = versionIn(before, stream);
    if (version > 0) found.push({ key: 's', values: [stream, version] });
    else if (stream === 'team') found.push({ key: 't', values: [] });
  }
  return found;
}

/** A chain of dependencies may be long. The text of a statement has a bound, and the texts are few. */
const MOST_HELD = 16;

function inGroups(all: readonly Condition[]): readonly (readonly Condition[])[] {
  if (all.length <= MOST_HELD) return [all];
  return [all.slice(0, MOST_HELD), ...inGroups(all.slice(MOST_HELD))];
}

function addEvent(statements: Statement[], event: JournalEvent, held: readonly Condition[]): void {
  const { id, stream, version, kind, at, actor, cause, data, texts, digest } = event;
  statements.push(
    one(moveHead(held), [digest, ...valuesOf(held)]),
    one(INSERT_EVENT, [id, stream, version, kind, at, actor, cause, data, texts, digest]),
  );
}

const headMoves = new Map<string, string>();

/** A text of its own for each list of conditions. It is found by a short key: to put a long one together for each event costs as much as a hash. */
function moveHead(held: readonly Condition[]): string {
  let key = '';
  for (const condition of held) key += condition.key;
  let text = headMoves.get(key);
  if (text === undefined) {
    text = [MOVE_HEAD, ...held.map(({ key: one }) => CONDITIONS[one])].join(' AND ');
    headMoves.set(key, text);
  }
  return text;
}

interface Decided {
  readonly before: View;
  readonly view: View;
  readonly facts: readonly Fact[];
  readonly at: number;
  readonly reminding: Reminding;
}

/** What a decision makes of a stream. */
interface StreamChange {
  readonly stream: string;
  readonly before: Entity | undefined;
  readonly entity: Entity;
  readonly row: CatalogRow;
  readonly versionBefore: number;
  /** How many events of the decision stand behind the last one of this stream. */
  readonly behind: number;
  /** The stream was kept from commands, and this decision releases it. */
  readonly isReleased: boolean;
}

function changeOf(stream: string, { before, view, facts, at, reminding }: Decided): StreamChange {
  const entity = entityIn(view, stream);
  if (entity === undefined) throw new Error(`no fold of ${stream}`);
  return {
    stream,
    before: entityIn(before, stream),
    entity,
    row: catalogRow({ stream, entity, at, reminding }),
    versionBefore: versionIn(before, stream),
    behind: facts.length - 1 - facts.findLastIndex((fact) => fact.stream === stream),
    isReleased: facts.some((fact) => fact.stream === stream && fact.kind === 'stream.released'),
  };
}

function addRow(statements: Statement[], change: StreamChange): void {
  const { stream, before, entity, row, versionBefore, behind, isReleased } = change;
  const { kind, board, version, status, state, assignee, next_at, updated_at, data } = row;
  if (isReleased) statements.push(one(RELEASE, [stream]));
  statements.push(
    versionBefore === 0
      ? one(INSERT_ROW, [stream, kind, board, version, behind, status, state, assignee, next_at, updated_at, data])
      : one(UPDATE_ROW, [version, behind, next_at, updated_at, data, stream, versionBefore]),
  );
  if (entity.kind !== 'item') return;
  const { item } = entity;
  const former = before?.kind === 'item' ? before.item : undefined;
  if (former === undefined) statements.push(one(COUNT_ITEM, [item.number, `board/${item.board}`, item.number - 1]));
  else if (stateOf(former) !== state || former.status !== status || former.assignee !== item.assignee)
    statements.push(one(UPDATE_PLACE, [status, state, assignee, stream]));
  addNeeds(statements, item, former);
}

function addNeeds(statements: Statement[], item: Item, former: Item | undefined): void {
  const needs = needsOf(item);
  const known = former === undefined ? [] : needsOf(former);
  if (needs.length === known.length && needs.every(({ blocker }, index) => known[index]?.blocker === blocker)) return;
  if (known.length > 0) statements.push({ sql: DELETE_NEEDS, parameters: [item.id] });
  for (const { blocker, needs: other } of needs)
    statements.push({ sql: INSERT_NEED, parameters: [item.id, blocker, other] });
}

function versionIn(view: View, stream: string): number {
  const entity = entityIn(view, stream);
  if (entity === undefined) return 0;
  return (entity.kind === 'team' ? entity.team : entity.kind === 'board' ? entity.board : entity.item).version;
}

interface DueChange {
  readonly next: number | undefined;
  /** A due row is there, no later than this. Undefined: there may be none. */
  readonly planned: number | undefined;
}

/** The row of an item that took no command was put off. */
function plannedFor({ before, isReleased }: StreamChange, reminding: Reminding): number | undefined {
  return before?.kind !== 'item' || isReleased ? undefined : nextAnnouncement(before.item, reminding);
}

/** JOURNAL-5. */
function dueStatement({ id }: Item, { next, planned }: DueChange): Statement | undefined {
  if (next === undefined) return planned === undefined ? undefined : removeDue(dueRow(id).id);
  return planned !== undefined && planned <= next ? undefined : putDueNoLater({ ...dueRow(id), at: next });
}
