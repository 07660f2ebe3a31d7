// Reads which migrations a database file has, without opening it in SQLite. Serves commands that inspect a project beside its running worker.
import { DAMAGED_REMEDY, RIGHTS_REMEDY } from '../../shared/files/database-remedies.ts';
import { refuseLostHistory } from '../../shared/files/lost-history.ts';
import { messageOf, SvcError } from '../../shared/svc-error.ts';
import { type Applied, refuseNewer } from './migrate.ts';
import { MIGRATIONS } from './migrations/list.ts';
import { openPages, type Pages } from './page-reader.ts';

export type StoredSchema =
  /** No file, or an empty one: a start creates the schema. */
  | { readonly state: 'absent' }
  /** `pending` are the migrations that a start would run. */
  | { readonly state: 'usable'; readonly applied: readonly string[]; readonly pending: readonly string[] }
  /** A start with this svc would not open the file. */
  | { readonly state: 'refused'; readonly reason: SvcError };

type Value = number | string | null;

interface Row {
  readonly id: number;
  readonly values: readonly Value[];
}

/** A checkpoint may copy a page between two reads of it. */
const TRIES = 3;
const LEAF = 0x0d;
const INTERIOR = 0x05;
/** Pages of a table WITHOUT ROWID, which is an index. */
const INDEX_LEAF = 0x0a;
const INDEX_INTERIOR = 0x02;
/** Depth of a table's tree; the tables here stay far below. */
const DEEPEST = 12;
const COLUMNS = 4;

/** Never throws. */
export function readStoredSchema(file: string): StoredSchema {
  let failure: unknown;
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      refuseLostHistory(file);
      return judge(readMigrations(file));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { state: 'absent' };
      failure = error;
    }
  }
  return { state: 'refused', reason: explain(file, failure) };
}

/** The project id in a database file. Undefined without a file, or if it cannot be read. */
export function storedProjectId(file: string): string | undefined {
  try {
    const pages = openPages(file);
    if (pages === undefined) return undefined;
    try {
      const table = rowsOf(pages, 1).find(({ values: [type, name] }) => type === 'table' && name === 'meta');
      const id = recordsOf(pages, Number(table?.values[3])).find(([key]) => key === 'project_id')?.[1];
      return typeof id === 'string' ? id : undefined;
    } finally {
      pages.close();
    }
  } catch {
    return undefined;
  }
}

function judge(applied: readonly Applied[] | undefined): StoredSchema {
  if (applied === undefined) return { state: 'absent' };
  refuseNewer(applied);
  const ids = new Set(applied.map(({ id }) => id));
  const pending = MIGRATIONS.filter(({ id }) => !ids.has(id)).map(({ name }) => name);
  return { state: 'usable', applied: applied.map(({ name }) => name), pending };
}

function explain(file: string, error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  if (error instanceof Error && 'syscall' in error)
    return new SvcError('storage_unavailable', `the database ${file} cannot be read: ${error.message}`, {
      cause: error,
      hint: RIGHTS_REMEDY,
    });
  return new SvcError('database_corrupt', `the database ${file} is damaged: ${messageOf(error)}`, {
    cause: error,
    hint: DAMAGED_REMEDY,
  });
}

/** Undefined for an empty file. */
function readMigrations(file: string): readonly Applied[] | undefined {
  const pages = openPages(file);
  if (pages === undefined) return undefined;
  try {
    const table = rowsOf(pages, 1).find(({ values: [type, name] }) => type === 'table' && name === 'migrations');
    const root = table?.values[3];
    if (typeof root !== 'number') return [];
    return rowsOf(pages, root).map(({ id, values: [, name, breaking, sha256] }) => ({
      id,
      name: String(name),
      breaking: Number(breaking),
      sha256: String(sha256),
    }));
  } finally {
    pages.close();
  }
}

/** Rows of a table in the order of their ids, up to four columns each. Those columns lie in the page itself, even if the row overflows. */
function rowsOf(pages: Pages, number: number, depth = 0): readonly Row[] {
  const page = pages.page(number);
  const start = number === 1 ? 100 : 0;
  const kind = page.readUInt8(start);
  if ((kind !== LEAF && kind !== INTERIOR) || depth > DEEPEST) throw new Error(`page ${number} is no page of a table`);
  const cells = Array.from({ length: page.readUInt16BE(start + 3) }, (_, index) =>
    page.readUInt16BE(start + (kind === LEAF ? 8 : 12) + 2 * index),
  );
  if (kind === LEAF) return cells.map((at) => readRow(page, at));
  const children = [...cells.map((at) => page.readUInt32BE(at)), page.readUInt32BE(start + 8)];
  return children.flatMap((child) => rowsOf(pages, child, depth + 1));
}

/** Records of a table WITHOUT ROWID, up to four columns each. For short records: what overflows a page is cut. */
function recordsOf(pages: Pages, number: number, depth = 0): readonly (readonly Value[])[] {
  const page = pages.page(number);
  const kind = page.readUInt8(0);
  if ((kind !== INDEX_LEAF && kind !== INDEX_INTERIOR) || depth > DEEPEST)
    throw new Error(`page ${number} is no page of an index`);
  const isLeaf = kind === INDEX_LEAF;
  const cells = Array.from({ length: page.readUInt16BE(3) }, (_, index) =>
    page.readUInt16BE((isLeaf ? 8 : 12) + 2 * index),
  );
  const records = cells.map((at) => readRecord(page, readVarint(page, at + (isLeaf ? 0 : 4)).next));
  if (isLeaf) return records;
  const children = [...cells.map((at) => page.readUInt32BE(at)), page.readUInt32BE(8)];
  return [...records, ...children.flatMap((child) => recordsOf(pages, child, depth + 1))];
}

function readRow(page: Buffer, at: number): Row {
  const size = readVarint(page, at);
  const id = readVarint(page, size.next);
  return { id: id.value, values: readRecord(page, id.next) };
}

/** The first columns of a record that begins at `at`. */
function readRecord(page: Buffer, at: number): readonly Value[] {
  const header = readVarint(page, at);
  const values: Value[] = [];
  let type = header.next;
  let value = at + header.value;
  while (type < at + header.value && values.length < COLUMNS) {
    const kind = readVarint(page, type);
    const bytes = bytesOf(kind.value);
    values.push(readValue(kind.value, page.subarray(value, value + bytes)));
    type = kind.next;
    value += bytes;
  }
  return values;
}

/** Seven bits a byte, the highest first; a ninth byte would have eight. Numbers here never need nine bytes. */
function readVarint(page: Buffer, at: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let next = at; next < at + 8; next += 1) {
    const byte = page.readUInt8(next);
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, next: next + 1 };
  }
  throw new Error('a number is too long');
}

const INTEGER_BYTES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0] as const;
const TEXT_FROM = 13;

const bytesOf = (kind: number): number => INTEGER_BYTES[kind] ?? Math.floor((kind - 12) / 2);

function readValue(kind: number, bytes: Buffer): Value {
  if (kind === 0) return null;
  if (kind === 8 || kind === 9) return kind - 8;
  if (kind < 6) return bytes.readIntBE(0, bytes.length);
  return kind >= TEXT_FROM && kind % 2 === 1 ? bytes.toString('utf8') : null; // other types are not read
}
