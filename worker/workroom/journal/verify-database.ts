// Verifies the journal in a database file. Reads one snapshot on a connection of its own; neither a host nor a lock is needed.
import type { Database } from '../../../shared/sqlite.ts';
import type { WorkroomEventsTable } from '../../database/tables.ts';
import type { Head } from '../read-catalog.ts';
import { JournalCheck, type Verified } from './verify.ts';

export function verifyDatabase(database: Database, expect?: Head): Verified {
  database.exec('BEGIN');
  try {
    const projectId = database.prepare("SELECT value FROM meta WHERE key = 'project_id'").pluck().get();
    const head = database.prepare('SELECT seq, hash FROM workroom_head WHERE id = 1').get() as Head | undefined;
    const check = new JournalCheck({ projectId: String(projectId), head, expect });
    for (const row of eventsOf(database)) check.add(row);
    check.endJournal();
    for (const row of database.prepare('SELECT * FROM workroom_catalog').iterate())
      check.addCatalog(row as Parameters<JournalCheck['addCatalog']>[0]);
    return check.end();
  } finally {
    database.exec('COMMIT');
  }
}

const PAGE = 200;
const EVENTS = `SELECT seq, id, stream, version, kind, at, actor, cause, data, texts, digest, hash
  FROM workroom_events WHERE seq > ? ORDER BY seq LIMIT ${PAGE}`;
/** In the order of `EVENTS`. */
type EventValues = readonly [
  ...[seq: number, id: string, stream: string, version: number, kind: string, at: number, actor: string],
  ...[cause: string | null, data: string, texts: string | null, digest: string, hash: string],
];

/** Pages of lists: half of what `iterate()` with objects costs. */
function* eventsOf(database: Database): Generator<WorkroomEventsTable> {
  const page = database.prepare(EVENTS).raw();
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = page.all(after) as EventValues[];
    for (const [seq, id, stream, version, kind, at, actor, cause, data, texts, digest, hash] of rows) {
      yield { seq, id, stream, version, kind, at, actor, cause, data, texts, digest, hash };
      after = seq;
    }
    if (rows.length < PAGE) return;
  }
}
