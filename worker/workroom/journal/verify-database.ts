// Verifies the journal of a database file, or of the files beside it. Reads one snapshot on a connection of its own; neither a host nor a lock is
// needed.
import type { Database } from '../../../shared/sqlite.ts';
import type { WorkroomEventsTable } from '../../database/tables.ts';
import { CatalogProof } from '../files/prove-catalog.ts';
import { proveFiles } from '../files/prove-files.ts';
import type { Head } from '../read-catalog.ts';
import { hashBeforeFirst } from './chain.ts';
import { JournalCheck, type Verified } from './verify.ts';

/** Where the files of a journal lie. */
export interface FilesBeside {
  readonly folder: string;
  readonly catalogFile: string;
  /** A host may append meanwhile: what lies behind the head of the snapshot is left out. */
  readonly isLive: boolean;
}

export function verifyDatabase(database: Database, expect?: Head, files?: FilesBeside): Verified {
  const catalog = files === undefined ? undefined : new CatalogProof(files.catalogFile); // before the snapshot, which then is as new
  database.exec('BEGIN');
  try {
    const projectId = String(metaOf(database, 'project_id'));
    const head = database.prepare('SELECT seq, hash FROM workroom_head WHERE id = 1').get() as Head | undefined;
    const isInFiles = files !== undefined && metaOf(database, 'workroom_store') === 'file';
    const watch = isInFiles ? catalog?.watch : undefined;
    const check = new JournalCheck({ projectId, head, expect, watch });
    if (isInFiles) addFiles(database, check, { files, projectId, head });
    else addEvents(database, check);
    check.endJournal();
    if (isInFiles) catalog?.end(check);
    for (const row of database.prepare('SELECT * FROM workroom_catalog').iterate())
      check.addCatalog(row as Parameters<JournalCheck['addCatalog']>[0]);
    return check.end();
  } finally {
    database.exec('COMMIT');
  }
}

const metaOf = (database: Database, key: string): unknown =>
  database.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(key);

interface Beside {
  readonly files: FilesBeside;
  readonly projectId: string;
  readonly head: Head | undefined;
}

function addFiles(database: Database, check: JournalCheck, { files, projectId, head }: Beside): void {
  const streams = database.prepare('SELECT stream FROM workroom_places WHERE seq = ?').pluck();
  const slices = proveFiles(check, {
    folder: files.folder,
    project: projectId,
    root: hashBeforeFirst(projectId),
    upTo: files.isLive ? (head?.seq ?? 0) : Number.POSITIVE_INFINITY,
    spool: database.prepare('SELECT * FROM workroom_spool ORDER BY seq').all() as WorkroomEventsTable[],
    streamOf: (seq) => streams.get(seq) as string | undefined,
  });
  for (const _ of slices);
}

/** Verifies files whose database is gone. They have no head: only an earlier one tells that their end is missing. */
export function verifyFiles(files: FilesBeside, projectId: string, expect?: Head): Verified {
  const catalog = new CatalogProof(files.catalogFile);
  const check = new JournalCheck({ projectId, head: undefined, expect, watch: catalog.watch });
  const root = hashBeforeFirst(projectId);
  const of = { folder: files.folder, project: projectId, root, upTo: Number.POSITIVE_INFINITY, spool: [] };
  for (const _ of proveFiles(check, of));
  check.endJournal();
  catalog.end(check);
  return check.endWithoutCatalog();
}

const PAGE = 200;
const EVENTS = `SELECT seq, id, stream, version, kind, at, actor, cause, data, texts, digest, hash
  FROM workroom_events WHERE seq > ? ORDER BY seq LIMIT ${PAGE}`;
/** In the order of `EVENTS`. */
type EventValues = readonly [
  ...[seq: number, id: string, stream: string, version: number, kind: string, at: number, actor: string],
  ...[cause: string | null, data: string, texts: string | null, digest: string, hash: string],
];

/** Pages of lists, read by their indices: half of what `iterate()` with objects costs. */
function addEvents(database: Database, check: JournalCheck): void {
  const page = database.prepare(EVENTS).raw();
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = page.all(after) as EventValues[];
    for (const row of rows)
      check.add({
        seq: row[0],
        id: row[1],
        stream: row[2],
        version: row[3],
        kind: row[4],
        at: row[5],
        actor: row[6],
        cause: row[7],
        data: row[8],
        texts: row[9],
        digest: row[10],
        hash: row[11],
      });
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined) return;
    after = last[0];
  }
}
