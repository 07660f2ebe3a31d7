// Moves the journal between the two stores while the host is stopped. Numbers, hashes and words stay.
//
//   CONVERT-1  `workroom_store` in the database names the store. One unit changes it, after the new store is whole and synced. So a kill at any
//              point leaves the old store or the new one. What the other has is removed by the next conversion, also to the same store, and by an
//              erasure: `left-over.ts`.
//   CONVERT-2  A journal with a fault is not moved.
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../../shared/files/atomic-file.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { type Core, commitOrThrow } from '../core/core.ts';
import { sql, statement } from '../database/statement.ts';
import type { WorkroomEventsTable } from '../database/tables.ts';
import type { Statement } from '../database/unit.ts';
import { SegmentWriter } from './files/segment-writer.ts';
import { hashBeforeFirst } from './journal/chain.ts';
import { type Journal, type JournalStore, refuseDamaged } from './journal/journal.ts';
import { insertFrom, rebuild } from './journal/rebuild.ts';
import { JournalCheck } from './journal/verify.ts';
import { removeLeftOver } from './left-over.ts';
import {
  KEEP_OUT,
  KEEP_ROWS,
  LET_ROWS_GO,
  type OpeningJournal,
  openJournal,
  readStore,
  writeStore,
} from './open-journal.ts';
import { type Head, readHead } from './read-catalog.ts';

const SLICE = 5_000;
const LET_IN: Statement = { sql: 'DROP TRIGGER IF EXISTS workroom_events_elsewhere', parameters: [] };
const COLUMNS = [
  'seq',
  'id',
  'stream',
  'version',
  'kind',
  'at',
  'actor',
  'cause',
  'data',
  'texts',
  'digest',
  'hash',
] as const satisfies readonly (keyof WorkroomEventsTable)[];
const INSERT_EVENTS = insertFrom('workroom_events', COLUMNS);

type Place = Omit<OpeningJournal, 'store'>;

export interface Converted {
  readonly head: Head;
  /** False: the journal was in this store already. */
  readonly hasMoved: boolean;
}

/**
 * The caller holds the writer lock. Throws `journal_damaged` for a journal that does not hold, and `refused` where the other store has what the journal
 * has not; then nothing is changed.
 */
export async function convert(place: Place, to: JournalStore): Promise<Converted> {
  const { core, folder } = place;
  const from = (await readStore(core, folder)) ?? to;
  const isThere = from === to;
  if (isThere && (await readHead(core.reader)).seq === 0) return { head: await readHead(core.reader), hasMoved: false };
  const source = await openWhole(place, from);
  try {
    await removeLeftOver(place, source);
    if (isThere) return { head: await readHead(core.reader), hasMoved: false };
    await (to === 'file' ? toFiles(place, source) : toDatabase(place, source));
  } finally {
    await source.stop();
  }
  if (to === 'database') removeFiles(place);
  await (await openWhole(place, to)).stop(); // places and catalog, or nothing
  return { head: await readHead(core.reader), hasMoved: true };
}

/** Makes all derived tables anew, in the store that the state has. The caller holds the writer lock. */
export async function rebuildAll(place: Place): Promise<Head> {
  const { core, folder, catalogFile, reminding } = place;
  const store = (await readStore(core, folder)) ?? 'database';
  const source = await openWhole(place, store);
  let head: Head;
  try {
    const lastSeq = (await readHead(core.reader)).seq;
    const more = [statement(sql.deleteFrom('workroom_places'))];
    head = await rebuild({ core, source, reminding, lastSeq, pause: async () => {}, more });
  } finally {
    await source.stop();
  }
  rmSync(catalogFile, { force: true });
  await (await openWhole(place, store)).stop(); // finds the places again, and writes the catalog
  return head;
}

async function openWhole(place: Place, store: JournalStore): Promise<Journal> {
  const journal = await openJournal({ ...place, store });
  refuseDamaged(journal);
  return journal;
}

async function* slicesOf(core: Core, source: Journal): AsyncGenerator<readonly WorkroomEventsTable[]> {
  const head = await readHead(core.reader);
  const check = new JournalCheck({ projectId: core.projectId, head });
  await source.prove(check, { head, pause: async () => {} });
  check.endJournal();
  const [fault] = check.endWithoutCatalog().faults;
  if (fault !== undefined)
    throw new SvcError('journal_damaged', `the journal is not moved: event ${fault.seq} is ${fault.fault}`, {
      hint: 'svc workroom verify tells all faults',
    });
  for (let after = 0; after < head.seq; ) {
    const events = await source.slice({ after, limit: SLICE });
    yield events;
    after = events.at(-1)?.seq ?? head.seq;
  }
}

async function toFiles({ core, folder, sealedBytes }: Place, source: Journal): Promise<void> {
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true, mode: 0o700 });
  const tail = { seq: 0, hash: hashBeforeFirst(core.projectId), segment: undefined };
  const more = sealedBytes === undefined ? {} : { sealedBytes };
  const writer = new SegmentWriter({ folder: part, project: core.projectId, ...more }, tail);
  try {
    for await (const events of slicesOf(core, source))
      for (let left = events; left.length > 0; ) left = left.slice((await writer.append(left)).length);
  } finally {
    await writer.close();
  }
  if (FAILPOINTS) await core.point('workroom.convert.written');
  renameSync(part, folder);
  syncFolder(dirname(folder));
  if (FAILPOINTS) await core.point('workroom.convert.renamed');
  await commit(core, [
    LET_ROWS_GO,
    statement(sql.deleteFrom('workroom_events')),
    KEEP_ROWS,
    statement(sql.deleteFrom('workroom_places')),
    statement(sql.deleteFrom('workroom_spool')),
    KEEP_OUT,
    writeStore('file'),
  ]);
  if (FAILPOINTS) await core.point('workroom.convert.moved');
}

async function toDatabase({ core }: Place, source: Journal): Promise<void> {
  await commit(core, [LET_IN]);
  for await (const events of slicesOf(core, source)) {
    await commit(core, [{ sql: INSERT_EVENTS, parameters: [JSON.stringify(events)] }]);
    if (FAILPOINTS) await core.point('workroom.convert.written');
  }
  await commit(core, [
    statement(sql.deleteFrom('workroom_places')),
    statement(sql.deleteFrom('workroom_spool')),
    writeStore('database'),
  ]);
  if (FAILPOINTS) await core.point('workroom.convert.moved');
}

function removeFiles({ folder, catalogFile }: Place): void {
  rmSync(folder, { recursive: true, force: true });
  rmSync(catalogFile, { force: true });
}

const commit = (core: Core, statements: readonly Statement[]): Promise<unknown> =>
  commitOrThrow(core.writer, { name: 'workroom.converted', statements });
