// Proves the database of a rehearsal: whole, as the manifest says, migrated forward by this svc, and read as a start reads it.
import { isDeepStrictEqual } from 'node:util';
import { SecretRegistry } from '../../../shared/log/redaction.ts';
import { CHECKPOINT_FILES } from '../../../shared/recovery/layout.ts';
import type { Manifest } from '../../../shared/recovery/manifest.ts';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { loadProjectState } from '../../database/project-state.ts';
import { SqliteReader } from '../../database/reader.ts';
import { WriterCore } from '../../database/sqlite/writer-core.ts';
import { readStoredSchema } from '../../database/stored-schema.ts';
import { GroupingWriter, inlineRunner } from '../../database/writer.ts';
import { type FilesBeside, verifyDatabase } from '../../workroom/journal/verify-database.ts';
import { examineDatabase } from '../checkpoint/examine-database.ts';
import { damaged, type PartFault } from './parts.ts';

const MOST_NAMED = 5;
const fault = (message: string): PartFault => damaged(CHECKPOINT_FILES.database, message);

/** `file` is a copy: it is changed. `files`: of a journal in files. Never throws for what is wrong with it. */
export async function databaseFaults(
  file: string,
  manifest: Manifest,
  files: FilesBeside,
): Promise<readonly PartFault[]> {
  try {
    const damage = reading(file, damageIn);
    if (damage !== undefined) return [damage];
    const broken = [...reading(file, lostReferences), ...manifestFaults(file, manifest)];
    if (broken.length > 0) return broken;
    return [...journalFaults(file, manifest, files), ...(await startFaults(file, manifest))];
  } catch (error) {
    return [faultOf(error)];
  }
}

function faultOf(error: unknown): PartFault {
  const told = fault(messageOf(error));
  if (!(error instanceof SvcError)) return told;
  return { ...told, remedy: error.hint ?? told.remedy, isDamage: error.code !== 'schema_newer' };
}

function reading<T>(file: string, read: (database: Database) => T): T {
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

function damageIn(database: Database): PartFault | undefined {
  const [first] = database.pragma(`integrity_check(1)`) as readonly { readonly integrity_check: string }[];
  return first?.integrity_check === 'ok' ? undefined : fault(`is damaged: ${first?.integrity_check ?? 'no answer'}`);
}

function lostReferences(database: Database): readonly PartFault[] {
  const rows = database.pragma('foreign_key_check') as readonly { readonly table: string; readonly parent: string }[];
  const pairs = new Set(rows.map(({ table, parent }) => `${table} names rows of ${parent} that are not there`));
  return [...pairs].map(fault);
}

/** What the manifest says of the database, counted again. */
function manifestFaults(file: string, manifest: Manifest): readonly PartFault[] {
  const found = examineDatabase(file, new SecretRegistry());
  const told = manifest.database.rows;
  const tables = [...new Set([...Object.keys(told), ...Object.keys(found.rows)])].sort();
  const counts = tables.flatMap((table) =>
    found.rows[table] === told[table]
      ? []
      : [fault(`${table} has ${found.rows[table] ?? 'no'} rows, the manifest says ${told[table] ?? 'none'}`)],
  );
  const facts = (['project', 'schema', 'events', 'generation', 'journal', 'catalog', 'open'] as const).flatMap((key) =>
    isDeepStrictEqual(found[key], manifest[key])
      ? []
      : [fault(`${key} is ${short(found[key])}, the manifest says ${short(manifest[key])}`)],
  );
  return [...counts, ...facts];
}

const short = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};

function journalFaults(file: string, { journal }: Manifest, files: FilesBeside): readonly PartFault[] {
  if (journal === null) return [];
  return reading(file, (database) => {
    const { faults } = verifyDatabase(database, { seq: journal.seq, hash: journal.hash }, files);
    const named = faults.slice(0, MOST_NAMED).map(({ fault: kind, seq, stream }) => {
      const place = [...(seq > 0 ? [`event ${seq}`] : []), ...(stream === null ? [] : [stream])].join(', ');
      return { ...fault(`the journal of the Workroom: ${kind} (${place})`) };
    });
    return faults.length > MOST_NAMED
      ? [...named, fault(`the journal of the Workroom has ${faults.length} faults`)]
      : named;
  });
}

/** Migrates forward, as the next start would, and reads what a start reads. */
async function startFaults(file: string, manifest: Manifest): Promise<readonly PartFault[]> {
  const schema = readStoredSchema(file);
  if (schema.state === 'refused') return [faultOf(schema.reason)];
  const core = new WriterCore({ file, now: Date.now });
  try {
    const database = core.open();
    const state = await loadProjectState(new GroupingWriter(inlineRunner(core)), new SqliteReader(() => core.open()));
    const same =
      state.projectId === manifest.project &&
      state.epoch === manifest.events.epoch &&
      state.head === manifest.events.head &&
      state.generation === manifest.generation;
    if (!same) return [fault('after its migration a start reads another state than the manifest says')];
    return [...wholeAfter(database), ...unreadable(database)];
  } finally {
    core.close();
  }
}

function wholeAfter(database: Database): readonly PartFault[] {
  const [first] = database.pragma('quick_check(1)') as readonly { readonly quick_check: string }[];
  return first?.quick_check === 'ok' ? [] : [fault(`is damaged by its migration: ${first?.quick_check ?? ''}`)];
}

/** Columns that a start, or the first claim after it, reads as JSON. */
const READ_AS_JSON = [
  { table: 'inbox', column: 'body', where: 'done_at IS NULL' },
  { table: 'outbox', column: 'body', where: 'done_at IS NULL' },
  { table: 'due', column: 'data', where: "kind = 'job'" },
  { table: 'cells', column: 'value', where: 'true' },
  { table: 'dialogs', column: 'data', where: 'true' },
] as const;

function unreadable(database: Database): readonly PartFault[] {
  return READ_AS_JSON.flatMap(({ table, column, where }) => {
    const query = `SELECT count(*) FROM ${table} WHERE (${where}) AND ${column} IS NOT NULL AND NOT json_valid(${column})`;
    const count = Number(database.prepare(query).pluck().get());
    return count === 0 ? [] : [fault(`${count} rows of ${table} cannot be read: ${column} is no JSON`)];
  });
}
