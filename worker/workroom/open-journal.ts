// Opens the journal at a start: which store the state has, whether it is whole, and what has to be made anew.
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { commitOrThrow } from '../core/core.ts';
import { turns } from '../core/turns.ts';
import { readMeta, writeMeta } from '../database/project-state.ts';
import { sql, statement } from '../database/statement.ts';
import type { Statement } from '../database/unit.ts';
import type { Reminding } from './board/due-times.ts';
import { noteErased } from './files/clear-words.ts';
import { findWordsLeft } from './files/erasures.ts';
import { FileJournal } from './files/file-journal.ts';
import { openFiles, projectOf } from './files/open-files.ts';
import { takeOut } from './files/places.ts';
import { listSegments, placedAfter } from './files/segments.ts';
import { DatabaseJournal, type Journal, type JournalStore } from './journal/journal.ts';
import { rebuild } from './journal/rebuild.ts';
import { readHead } from './read-catalog.ts';

const STORE = 'workroom_store';
const SLICE = 2_048;

/** Where the files of the journal lie. */
export interface JournalPlace {
  readonly folder: string;
  readonly catalogFile: string;
}

export interface OpeningJournal extends JournalPlace {
  readonly core: Core;
  /** As configured; the store of the state has to be the same. */
  readonly store: JournalStore;
  readonly reminding: Reminding;
  readonly sealedBytes?: number;
}

const plain = (text: string): Statement => ({ sql: text, parameters: [] });
/** Rows of the journal are deleted between these two alone. */
export const LET_ROWS_GO = plain('DROP TRIGGER IF EXISTS workroom_events_kept');
export const KEEP_ROWS = plain(`CREATE TRIGGER IF NOT EXISTS workroom_events_kept BEFORE DELETE ON workroom_events
  BEGIN SELECT RAISE(ABORT, 'the journal of the Workroom only grows'); END`);

/** In file mode an event of an older svc, which knows no files, is refused by the table itself. */
export const KEEP_OUT = plain(`CREATE TRIGGER IF NOT EXISTS workroom_events_elsewhere BEFORE INSERT ON workroom_events
  BEGIN SELECT RAISE(ABORT, 'the journal of this Workroom is in files'); END`);

/** The store of the state. A database that knows none, beside files of a journal, was made anew. */
export async function readStore({ reader }: Pick<Core, 'reader'>, folder: string): Promise<JournalStore | undefined> {
  const known = await readMeta(reader, STORE);
  if (known === 'database' || known === 'file') return known;
  if ((await readHead(reader)).seq > 0) return 'database';
  return listSegments(folder).length > 0 ? 'file' : undefined;
}

export const writeStore = (store: JournalStore): Statement => writeMeta(STORE, store);

/**
 * The project of the files, where the database was made anew beside them: its chain begins with that id. Undefined elsewhere. Called before anything
 * is stored under the new id.
 */
export async function adoptProject(
  core: Pick<Core, 'reader' | 'writer'>,
  folder: string,
  known: string,
): Promise<string | undefined> {
  if ((await readMeta(core.reader, STORE)) !== undefined || (await readHead(core.reader)).seq > 0) return undefined;
  const project = projectOf(folder);
  if (project === undefined || project === known) return undefined;
  await commitOrThrow(core.writer, { name: 'workroom.adopted', statements: [writeMeta('project_id', project)] });
  return project;
}

/** Throws `config_invalid` for another store than that of the state. A journal that does not hold is opened, and takes no event. */
export async function openJournal(opening: OpeningJournal): Promise<Journal> {
  const { core, store, folder } = opening;
  const stored = await readStore(core, folder);
  if (stored !== undefined && stored !== store)
    throw new SvcError(
      'config_invalid',
      `workroom.store is ${store}, but the journal of this project is in the ${stored}`,
      {
        hint: `svc workroom convert --to ${store} moves it; or set workroom.store: ${stored}`,
      },
    );
  try {
    return await (store === 'file' ? openInFiles(opening) : openInDatabase(opening));
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'journal_damaged') throw error;
    core.log.error({ err: error }, 'the journal of the Workroom takes no commands: svc workroom verify');
    if (store === 'database') return new DatabaseJournal(core.reader, error);
    return new FileJournal({
      ...opening,
      tail: { ...(await readHead(core.reader)), segment: undefined },
      damage: error,
    });
  }
}

async function openInDatabase({ core, reminding }: OpeningJournal): Promise<Journal> {
  const journal = new DatabaseJournal(core.reader);
  const head = await readHead(core.reader);
  const last = await core.reader.first(
    sql.selectFrom('workroom_events').select(['seq', 'hash']).orderBy('seq', 'desc').limit(1),
  );
  const lastSeq = last?.seq ?? 0;
  if (lastSeq < head.seq || (lastSeq === head.seq && lastSeq > 0 && last?.hash !== head.hash))
    throw new SvcError('journal_damaged', `the journal ends with event ${lastSeq}, and its head is ${head.seq}`, {
      hint: 'nothing was changed: svc workroom verify tells what is missing',
    });
  if (lastSeq > head.seq || (lastSeq > 0 && (await isWithoutCatalog(core))))
    await rebuild({ core, source: journal, reminding, lastSeq, pause: () => turns(1) });
  await noteStore(core, 'database');
  return journal;
}

async function openInFiles({ core, reminding, folder, catalogFile, sealedBytes }: OpeningJournal): Promise<Journal> {
  const head = await readHead(core.reader);
  const spool = await core.reader.all(
    sql.selectFrom('workroom_spool').select(['seq', 'digest', 'hash']).orderBy('seq'),
  );
  const { tail, holdMore } = openFiles({ folder, project: core.projectId, head, spool });
  const more = sealedBytes === undefined ? {} : { sealedBytes };
  const journal = new FileJournal({ core, folder, catalogFile, tail, ...more });
  let areProven = false;
  if (holdMore || (tail.seq > 0 && (await isWithoutCatalog(core)))) {
    const lastSeq = Math.max(tail.seq, head.seq);
    // An older database knows neither words that were erased since nor where the lines lie now.
    const left = await findWordsLeft(folder);
    const anew = [statement(sql.deleteFrom('workroom_places')), ...(left.length === 0 ? [] : [noteErased(left)])];
    await rebuild({ core, source: journal, reminding, lastSeq, pause: () => turns(1), more: anew });
    areProven = true;
  }
  await placeAll(core, folder, { areProven });
  await noteStore(core, 'file', [KEEP_OUT]);
  await journal.start();
  return journal;
}

/** Events of the files whose places the database does not know leave the spool. */
async function placeAll(
  core: Pick<Core, 'reader' | 'writer'>,
  folder: string,
  { areProven }: { readonly areProven: boolean },
): Promise<void> {
  const last = await core.reader.first(sql.selectFrom('workroom_places').select('seq').orderBy('seq', 'desc').limit(1));
  for (const placed of placedAfter(folder, { after: last?.seq ?? 0, areProven }))
    for (let from = 0; from < placed.length; from += SLICE) {
      const statements = takeOut(placed.slice(from, from + SLICE));
      await commitOrThrow(core.writer, { name: 'workroom.filed', statements });
    }
}

const isWithoutCatalog = async ({ reader }: Core): Promise<boolean> =>
  (await reader.first(sql.selectFrom('workroom_catalog').select('stream').limit(1))) === undefined;

async function noteStore(core: Core, store: JournalStore, more: readonly Statement[] = []): Promise<void> {
  if ((await readMeta(core.reader, STORE)) === store && more.length === 0) return;
  await commitOrThrow(core.writer, { name: 'workroom.store', statements: [writeStore(store), ...more] });
}
