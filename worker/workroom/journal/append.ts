// The statements that append the facts of one decision to the journal, in the caller's unit: catalog rows under their versions, events, head.
//
//   JOURNAL-1  A version of a stream is written once. The loser of a race is refused by the guard `workroom`, and decides anew.
//   JOURNAL-2  Event, catalog row, dependencies and due row are of one unit: the catalog always is the fold of the journal.
//   JOURNAL-3  A decision holds only while the streams it looked at are as they were: the board, the team, items of a dependency. So no right is
//              used that was taken back meanwhile, and no item waits for one that ended in the same moment.
//   JOURNAL-4  The hash is computed inside the transaction, from the head. Nobody has to know the hash before.
import type { Statement } from '../../database/unit.ts';
import { putDue, removeDue } from '../../timers/due-store.ts';
import type { Reminding } from '../board/due-times.ts';
import type { Fact, View } from '../board/model.ts';
import { applyFacts, catalogRow, entityIn, needsOf } from './catalog-rows.ts';
import { CHAIN_MARK } from './chain.ts';
import { type CommandIdentity, journalEvent } from './journal-event.ts';

export const GUARD = 'workroom';
const ONE = { expect: 1, guard: GUARD };

const INSERT_EVENT = `INSERT INTO workroom_events
  (seq, id, stream, version, kind, at, actor, cause, data, texts, digest, hash)
  SELECT seq + 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, svc_sha256(
    '${CHAIN_MARK}' || char(10) ||
    CASE seq WHEN 0
      THEN svc_sha256('${CHAIN_MARK}' || char(10) || (SELECT value FROM meta WHERE key = 'project_id'))
      ELSE hash END
    || char(10) || (seq + 1) || char(10) || ?)
  FROM workroom_head WHERE id = 1`;
const MOVE_HEAD = `UPDATE workroom_head
  SET seq = seq + 1, hash = (SELECT hash FROM workroom_events WHERE seq = workroom_head.seq + 1) WHERE id = 1`;
const LAST_SEQ = '(SELECT seq FROM workroom_events WHERE stream = ? ORDER BY version DESC LIMIT 1)';
const INSERT_ROW = `INSERT INTO workroom_catalog
  (stream, kind, board, version, applied_seq, status, state, assignee, next_at, updated_at, data)
  VALUES (?, ?, ?, ?, ${LAST_SEQ}, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const UPDATE_ROW = `UPDATE workroom_catalog SET version = ?, applied_seq = ${LAST_SEQ},
  status = ?, state = ?, assignee = ?, next_at = ?, updated_at = ?, data = ?
  WHERE stream = ? AND version = ? AND quarantined = 0`;
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
  const streams = [...new Set(facts.map(({ stream }) => stream))];
  const dues = streams.map((stream) => dueOf(view, stream, reminding));
  const statements = [
    ...holds(before, facts),
    ...facts.flatMap((fact, index) => eventStatements(fact, index, command)),
    ...streams.flatMap((stream) =>
      streamStatements({
        before,
        view,
        stream,
        reminding,
        at: facts[0]?.at ?? 0,
        isReleased: facts.some((fact) => fact.stream === stream && fact.kind === 'stream.released'),
      }),
    ),
    ...dues.flatMap(({ statements: due }) => due),
  ];
  const times = dues.flatMap(({ at }) => at ?? []);
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
  for (const stream of looked) {
    if (written.has(stream)) continue;
    const version = versionIn(before, stream);
    if (version > 0) statements.push({ sql: HOLD_STREAM, parameters: [stream, version], ...ONE });
    else if (stream === 'team') statements.push({ sql: HOLD_NO_TEAM, parameters: [], ...ONE });
  }
  return statements;
}

function eventStatements(fact: Fact, index: number, command: CommandIdentity): Statement[] {
  const { id, stream, version, kind, at, actor, cause, data, texts, digest } = journalEvent(fact, index, command);
  const parameters = [id, stream, version, kind, at, actor, cause, data, texts, digest, digest];
  return [
    { sql: INSERT_EVENT, parameters, ...ONE },
    { sql: MOVE_HEAD, parameters: [], ...ONE },
  ];
}

interface StreamChange {
  readonly before: View;
  readonly view: View;
  readonly stream: string;
  readonly reminding: Reminding;
  readonly at: number;
  /** The stream was kept from commands, and this decision releases it. */
  readonly isReleased: boolean;
}

function streamStatements({ before, view, stream, reminding, at, isReleased }: StreamChange): Statement[] {
  const entity = entityIn(view, stream);
  if (entity === undefined) throw new Error(`no fold of ${stream}`);
  const row = catalogRow({ stream, entity, at, reminding });
  const { kind, board, version, status, state, assignee, next_at, updated_at, data } = row;
  const versionBefore = versionIn(before, stream);
  const statements: Statement[] = [
    ...(isReleased ? [{ sql: RELEASE, parameters: [stream], ...ONE }] : []),
    versionBefore === 0
      ? {
          sql: INSERT_ROW,
          parameters: [stream, kind, board, version, stream, status, state, assignee, next_at, updated_at, data],
          ...ONE,
        }
      : {
          sql: UPDATE_ROW,
          parameters: [version, stream, status, state, assignee, next_at, updated_at, data, stream, versionBefore],
          ...ONE,
        },
  ];
  if (entity.kind !== 'item') return statements;
  const { item } = entity;
  if (versionBefore === 0)
    statements.push({ sql: COUNT_ITEM, parameters: [item.number, `board/${item.board}`, item.number - 1], ...ONE });
  statements.push({ sql: DELETE_NEEDS, parameters: [item.id] });
  for (const { blocker, needs } of needsOf(item))
    statements.push({ sql: INSERT_NEED, parameters: [item.id, blocker, needs] });
  return statements;
}

function versionIn(view: View, stream: string): number {
  const entity = entityIn(view, stream);
  if (entity === undefined) return 0;
  return (entity.kind === 'team' ? entity.team : entity.kind === 'board' ? entity.board : entity.item).version;
}

/** One due row an item. */
function dueOf(
  view: View,
  stream: string,
  reminding: Reminding,
): { readonly statements: readonly Statement[]; readonly at: number | undefined } {
  const entity = entityIn(view, stream);
  if (entity?.kind !== 'item') return { statements: [], at: undefined };
  const id = `workroom/${entity.item.id}`;
  const at = catalogRow({ stream, entity, at: 0, reminding }).next_at ?? undefined;
  if (at === undefined) return { statements: [removeDue(id)], at };
  const row = { id, kind: 'workroom', at, capability: null, lane: null, data: entity.item.id } as const;
  return { statements: [putDue(row)], at };
}
