// Verifies a project's journal, or an export, in a process of its own. Neither a host nor a lock is needed, and nothing is left behind.
import { copyFileSync, createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { readStatePlace } from '../../../shared/config/access.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { refusePendingSwitch } from '../../../shared/recovery/pending-switch.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { openReadOnly } from '../../database/sqlite/connection.ts';
import type { WorkroomEventsTable } from '../../database/tables.ts';
import { projectOf } from '../files/open-files.ts';
import type { Head } from '../read-catalog.ts';
import { type HiddenEvent, JournalCheck, type Verified, type Verifying } from './verify.ts';
import { type FilesBeside, verifyDatabase, verifyFiles } from './verify-database.ts';

export type VerifyOptions = { readonly expect?: Head | undefined } & (
  | { readonly project: string; readonly environment: Readonly<Record<string, string | undefined>> }
  | { readonly file: string }
);

export async function verifyStored(options: VerifyOptions): Promise<Verified> {
  if ('file' in options) return verifyExport(options.file, options.expect);
  const { project, environment, expect } = options;
  refusePendingSwitch(project);
  const { filename } = readStatePlace({ project, mode: 'development', environment });
  const file = resolve(project, filename);
  const { workroomJournal: folder, workroomCatalog: catalogFile } = projectPaths(project);
  const files = { folder, catalogFile, isLive: existsSync(`${file}-shm`) };
  if (!existsSync(file)) return verifyWithoutDatabase(file, files, expect);
  // A file without `-shm` is open nowhere. A connection would make one beside it, so a copy is read.
  if (files.isLive) return reading(file, files, expect);
  const copies = mkdtempSync(join(tmpdir(), 'svc-verify-'));
  try {
    const copy = join(copies, 'data.sqlite');
    copyFileSync(file, copy);
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
    return reading(copy, files, expect);
  } finally {
    rmSync(copies, { recursive: true, force: true });
  }
}

function verifyWithoutDatabase(file: string, files: FilesBeside, expect: Head | undefined): Verified {
  const projectId = projectOf(files.folder);
  if (projectId === undefined)
    throw new SvcError('not_found', `there is no database at ${file}`, { hint: 'A start of the host makes one.' });
  return verifyFiles(files, projectId, expect);
}

function reading(file: string, files: FilesBeside, expect: Head | undefined): Verified {
  const database = openReadOnly(file);
  try {
    const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'workroom_events'").get() !== undefined;
    if (!isThere)
      throw new SvcError('not_found', 'this database is of an svc before the Workroom', {
        hint: 'start the host once, which brings it up to date',
      });
    return verifyDatabase(database, expect, files);
  } finally {
    database.close();
  }
}

interface ExportHead {
  readonly svc: string;
  readonly version: number;
  readonly project: string;
  readonly head: Head;
  /** The board whose events it shows; null: all. */
  readonly board?: string | null;
}

/** Lines as `svc workroom export` writes them: a head, then an event each. */
async function verifyExport(file: string, expect: Head | undefined): Promise<Verified> {
  let check: JournalCheck | undefined;
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    const value = parsed(text, { file, line });
    if (check === undefined) check = new JournalCheck({ ...headOf(value, file), expect });
    else check.add(value as WorkroomEventsTable | HiddenEvent);
  }
  if (check === undefined) throw notAnExport(file, 1);
  check.endJournal();
  return check.endWithoutCatalog();
}

function headOf(value: unknown, file: string): Pick<Verifying, 'projectId' | 'head' | 'isWhole'> {
  const { svc, version, project, head, board = null } = value as ExportHead;
  if (svc !== 'workroom-export' || version !== 1 || typeof project !== 'string') throw notAnExport(file, 1);
  return { projectId: project, head, isWhole: board === null };
}

function parsed(text: string, { file, line }: { readonly file: string; readonly line: number }): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // told below
  }
  throw notAnExport(file, line);
}

const notAnExport = (file: string, line: number): SvcError =>
  new SvcError('invalid_request', `${file}:${line} is no line of an export`, {
    hint: '`svc workroom export --to FILE` makes one.',
  });
