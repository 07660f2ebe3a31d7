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
    for (const row of database.prepare('SELECT * FROM workroom_events ORDER BY seq').iterate())
      check.add(row as WorkroomEventsTable);
    check.endJournal();
    for (const row of database.prepare('SELECT * FROM workroom_catalog').iterate())
      check.addCatalog(row as Parameters<JournalCheck['addCatalog']>[0]);
    return check.end();
  } finally {
    database.exec('COMMIT');
  }
}
