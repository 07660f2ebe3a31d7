// The statements that append the facts of one decision to the journal, in the caller's unit: catalog rows under their versions, events, head.
//
//   JOURNAL-1  A version of a stream is written once. The loser of a race is refused by the guard `workroom`, and decides anew.
//   JOURNAL-2  Event, catalog row, dependencies and due row are of one unit: the catalog always is the fold of the journal.
//   JOURNAL-3  A decision holds only while the streams it looked at are as they were: the board, the team, items of a dependency. So no right is
//              used that was taken back meanwhile, and no item waits for one that ended in the same moment.
//   JOURNAL-4  The hash is computed inside the transaction, from the head. Nobody has to know the hash before.
import type { Statement } from '../../database/unit.ts';
import { putDueNoLater, removeDue } from '../../timers/due-store.ts';
import type { Reminding } from '../board/due-times.ts';
import { type Fact, type Item, stateOf, type View } from '../board/model.ts';
import { applyFacts, type CatalogRow, catalogRow, type Entity, entityIn, needsOf } from './catalog-rows.ts';
import { CHAIN_MARK } from './chain.ts';
import { type CommandIdentity, journalEvent } from './journal-event.ts';

export const GUARD = 'workroom';
const ONE = { expect: 1, guard: GUARD };

/** The head moves first, so that the event takes number and hash from it. */
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
const HOLD_STREAM = 'SELECT 1 FROM workroom_catalog WHERE stream = ? AND version = ?';
const HOLD_NO_TEAM = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM workroom_catalog WHERE stream = 'team')";
const HOLD_WAITING = 'SELECT 1 WHERE (SELECT count(*) FROM workroom_needs WHERE needs = ?) = ?';
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
}

export function append(before: View, facts: readonly Fact[], { command, reminding }: Appending): Appended {
  const view = applyFacts(before, facts);
  const at = facts[0]?.at ?? 0;
  const changes = [...new Set(facts.map(({ stream }) => stream))].map((stream) =>
    changeOf(stream, { before, view, facts, at, reminding }),
  );
  const statements = [
    ...holds(before, facts),
    ...facts.flatMap((fact, index) => eventStatements(fact, index, command)),
    ...changes.flatMap(rowStatements),
    ...changes.flatMap(dueStatements),
  ];
  const times = changes.flatMap(({ row }) => row.next_at ?? []);
  return { statements, view, dueAt: times.length === 0 ? undefined : Math.min(...times) };
}

function holds(before: View, facts: readonly Fact[]): Statement[] {
  const written = new Set(facts.map(({ stream }) => stream));
  const looked = new Set<string>();
  const statements: Statement[] = [];
  for (const { stream, kind, data } of facts) {
    const [, id = ''] = stream.split('/');
    if (stream.startsWith('item/')) looked.add(`board/${before.items[id]?.board ?? id.slice(0, id.lastIndexOf('-'))}`);
    if (kind === 'blocker.added' && data['needs'] !== null)
      for (const item of Object.keys(before.items)) looked.add(`item/${item}`);
    if (kind === 'item.accepted' || kind === 'item.submitted') {
      const waiting = Object.values(before.items).flatMap((item) => needsOf(item).filter(({ needs }) => needs === id));
      statements.push({ sql: HOLD_WAITING, parameters: [id, waiting.length], ...ONE });
    }
  }
  looked.add('team');
  const held: (string | number)[] = [];
  for (const stream of looked) {
    if (written.has(stream)) continue;
    const version = versionIn(before, stream);
    if (version > 0) held.push(stream, version);
    else if (stream === 'team') statements.push({ sql: HOLD_NO_TEAM, parameters: [], ...ONE });
  }
  for (let from = 0; from < held.length; from += 2 * MOST_HELD) {
    const parameters = held.slice(from, from + 2 * MOST_HELD);
    const streams = parameters.length / 2;
    statements.push({ sql: holdStreams(streams), parameters, expect: streams, guard: GUARD });
  }
  return statements;
}

/** In one statement: each costs more by its call than by its look-up. */
const MOST_HELD = 16;
const holdStreams = (streams: number): string => Array.from({ length: streams }, () => HOLD_STREAM).join(' UNION ALL ');

function eventStatements(fact: Fact, index: number, command: CommandIdentity): Statement[] {
  const { id, stream, version, kind, at, actor, cause, data, texts, digest } = journalEvent(fact, index, command);
  const parameters = [id, stream, version, kind, at, actor, cause, data, texts, digest];
  return [
    { sql: MOVE_HEAD, parameters: [digest], ...ONE },
    { sql: INSERT_EVENT, parameters, ...ONE },
  ];
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

function rowStatements({ stream, before, entity, row, versionBefore, behind, isReleased }: StreamChange): Statement[] {
  const { kind, board, version, status, state, assignee, next_at, updated_at, data } = row;
  const statements: Statement[] = isReleased ? [{ sql: RELEASE, parameters: [stream], ...ONE }] : [];
  if (versionBefore === 0) {
    const parameters = [stream, kind, board, version, behind, status, state, assignee, next_at, updated_at, data];
    statements.push({ sql: INSERT_ROW, parameters, ...ONE });
  } else {
    const parameters = [version, behind, next_at, updated_at, data, stream, versionBefore];
    statements.push({ sql: UPDATE_ROW, parameters, ...ONE });
  }
  if (entity.kind !== 'item') return statements;
  const { item } = entity;
  const former = before?.kind === 'item' ? before.item : undefined;
  if (former === undefined)
    statements.push({ sql: COUNT_ITEM, parameters: [item.number, `board/${item.board}`, item.number - 1], ...ONE });
  else if (stateOf(former) !== state || former.status !== status || former.assignee !== item.assignee)
    statements.push({ sql: UPDATE_PLACE, parameters: [status, state, assignee, stream], ...ONE });
  return [...statements, ...needStatements(item, former)];
}

function needStatements(item: Item, former: Item | undefined): readonly Statement[] {
  const needs = needsOf(item);
  const known = former === undefined ? [] : needsOf(former);
  if (needs.length === known.length && needs.every(({ blocker }, index) => known[index]?.blocker === blocker))
    return [];
  return [
    ...(known.length === 0 ? [] : [{ sql: DELETE_NEEDS, parameters: [item.id] }]),
    ...needs.map(({ blocker, needs: other }) => ({ sql: INSERT_NEED, parameters: [item.id, blocker, other] })),
  ];
}

function versionIn(view: View, stream: string): number {
  const entity = entityIn(view, stream);
  if (entity === undefined) return 0;
  return (entity.kind === 'team' ? entity.team : entity.kind === 'board' ? entity.board : entity.item).version;
}

/** One due row an item. A row that is due earlier stays: the look at that time finds nothing yet, and puts the next one. */
function dueStatements({ entity, row }: StreamChange): readonly Statement[] {
  if (entity.kind !== 'item') return [];
  const id = `workroom/${entity.item.id}`;
  if (row.next_at === null || row.next_at === undefined) return [removeDue(id)];
  const due = { id, kind: 'workroom', at: row.next_at, capability: null, lane: null, data: entity.item.id } as const;
  return [putDueNoLater(due)];
}
