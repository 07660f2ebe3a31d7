// Stores files by content: saving the same bytes twice makes one file. The bytes lie in data/media under their digest, the name in the database.
//
//   FILE-STORE-1  A file gets its name once all bytes are on the disk. A crash leaves a partial file under another name (`*.tmp`), which the next
//                 start removes.
//   FILE-STORE-2  A file on a platform is copied once, as a stream: memory does not grow with it. The row that names the copy is written after the
//                 copy.
//   FILE-STORE-3  A full disk or a lack of descriptors counts as a failure of the storage, not of the file.
import { createHash, randomBytes } from 'node:crypto';
import { constants, mkdirSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { sql as raw } from 'kysely';
import { syncFolder } from '../../shared/files/atomic-file.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { type Core, commitOrThrow } from '../core/core.ts';
import { sql, statement } from '../database/statement.ts';
import type { FileRef } from '../sdk/index.ts';

export interface FileStore {
  /** Throws if there is no such file. */
  read(id: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Undefined if there is no such file, or it was removed. */
  open(id: string): Promise<StoredFile | undefined>;
  save(file: { readonly name: string; readonly mime: string; readonly bytes: Uint8Array }): Promise<FileRef>;
  /** Returns the id of the copy of a file on a platform. Reads `content` if there is no copy. */
  copy(file: ForeignFile, content: () => AsyncIterable<Uint8Array>): Promise<string>;
}

/** `source` names the file for good: `<endpoint>|<the platform's id>`. */
export interface ForeignFile {
  readonly source: string;
  readonly name: string;
  readonly mime: string;
}

export interface StoredFile {
  readonly mime: string;
  readonly bytes: number;
  content(): Readable;
  close(): Promise<void>;
}

const DIGEST = /^[0-9a-f]{64}$/;
/** Names of files in the folder: stored files, and partial ones. */
const NAME = /^[0-9a-f]{64}(\.\d+\.tmp)?$/;

export class MediaFolder implements FileStore {
  readonly #core: Core;
  readonly #folder: string;
  readonly #busy = new Map<string, Promise<void>>();
  /** Partial files that this process is writing. */
  readonly #halves = new Set<string>();

  constructor(core: Core, folder: string) {
    this.#core = core;
    this.#folder = folder;
  }

  async read(id: string): Promise<Uint8Array<ArrayBuffer>> {
    if (!DIGEST.test(id)) throw new Error('not the id of a stored file');
    return readFile(join(this.#folder, id)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new Error(`file ${id} is not kept here any more`);
      throw notRead(error);
    });
  }

  async open(id: string): Promise<StoredFile | undefined> {
    if (!DIGEST.test(id)) return undefined;
    const row = await this.#core.reader.first(sql.selectFrom('files').select('mime').where('id', '=', id));
    const path = join(this.#folder, id);
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ELOOP') return undefined;
      throw notRead(error);
    });
    if (file === undefined) return undefined;
    const { size } = await file.stat();
    const close = (): Promise<void> => file.close().catch(() => {});
    return {
      mime: row?.mime ?? '',
      bytes: size,
      content: () => file.createReadStream({ autoClose: false, start: 0 }),
      close,
    };
  }

  async save({
    name,
    mime,
    bytes,
  }: {
    readonly name: string;
    readonly mime: string;
    readonly bytes: Uint8Array;
  }): Promise<FileRef> {
    const id = createHash('sha256').update(bytes).digest('hex');
    await this.#alone(id, async () => {
      if (!(await this.#has(id))) await this.#finish(await this.#writeHalf([bytes]));
      const created_at = this.#core.clock.now();
      const row = { id, name, mime, bytes: bytes.byteLength, created_at, fetched_at: null };
      const insert = sql.insertInto('files').values(row);
      const saved = insert.onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ name, mime, created_at, fetched_at: null }),
      );
      await commitOrThrow(this.#core.writer, { name: 'file.saved', statements: [statement(saved)] });
    });
    return { id, name, mime, bytes: bytes.byteLength };
  }

  /** FILE-STORE-2. A caller waits for a copy that is under way. */
  copy(file: ForeignFile, content: () => AsyncIterable<Uint8Array>): Promise<string> {
    return this.#alone(file.source, async () => {
      const known = sql.selectFrom('fetched_files').select('id').where('source', '=', file.source);
      const row = await this.#core.reader.first(known);
      if (row !== undefined && (await this.#has(row.id))) return row.id;
      const half = await this.#writeHalf(content());
      await this.#alone(half.id, async () => {
        await this.#finish(half);
        await this.#noteCopy(file, half);
      });
      return half.id;
    });
  }

  async #noteCopy({ source, name, mime }: ForeignFile, { id, bytes }: Half): Promise<void> {
    const created_at = this.#core.clock.now();
    const file = sql.insertInto('files').values({ id, name, mime, bytes, created_at, fetched_at: created_at });
    const stillCopy = raw<number | null>`CASE WHEN files.fetched_at = files.created_at THEN ${created_at} END`;
    const copy = sql.insertInto('fetched_files').values({ source, id });
    const statements = [
      statement(
        file.onConflict((conflict) => conflict.column('id').doUpdateSet({ created_at, fetched_at: stillCopy })),
      ),
      statement(copy.onConflict((conflict) => conflict.column('source').doUpdateSet({ id }))),
    ];
    await commitOrThrow(this.#core.writer, { name: 'file.fetched', statements });
  }

  /** Removes a file that was not saved again since `before`; false if it was saved since, or is gone. */
  remove(id: string, before: number): Promise<boolean> {
    return this.#alone(id, async () => {
      const row = sql.deleteFrom('files').where('id', '=', id).where('created_at', '<', before).returning('id');
      const left = sql.selectFrom('files').select('id');
      const copies = sql.deleteFrom('fetched_files').where('id', '=', id).where('id', 'not in', left);
      const statements = [statement(row), statement(copies)];
      const answer = await commitOrThrow(this.#core.writer, { name: 'file.removed', statements });
      if (answer.rows[0]?.length !== 1) return false;
      await rm(join(this.#folder, id), { force: true });
      return true;
    });
  }

  /** FILE-STORE-1: removes partial files of an earlier process. Called at the start, when no other process writes. Never rejects. */
  async removeHalves(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    // A partial file that cannot be removed now goes after a day, as an orphan.
    for (const name of names.filter((one) => NAME.test(one) && one.endsWith('.tmp')))
      if (!this.#halves.has(name)) await rm(join(this.#folder, name), { force: true }).catch(() => {});
  }

  /** Removes files that have no row and were last written before `before`. Returns their number. */
  async removeOrphans(before: number): Promise<number> {
    const names = await readdir(this.#folder).catch(() => []);
    const rows = await this.#core.reader.all(sql.selectFrom('files').select('id'));
    const known = new Set(rows.map(({ id }) => id));
    let removed = 0;
    for (const name of names) {
      if (known.has(name) || !NAME.test(name)) continue;
      removed += await this.#alone(name, async () => {
        const path = join(this.#folder, name);
        const found = await stat(path).catch(() => undefined);
        if (found === undefined || found.mtimeMs >= before) return 0;
        await rm(path, { force: true });
        return 1;
      });
    }
    return removed;
  }

  /** Runs one task at a time for each file: no file is removed while it is saved. */
  async #alone<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#busy.get(id) ?? Promise.resolve();
    const mine = before.then(work);
    const settled = mine.then(
      () => {},
      () => {},
    );
    this.#busy.set(id, settled);
    try {
      return await mine;
    } finally {
      if (this.#busy.get(id) === settled) this.#busy.delete(id);
    }
  }

  async #has(id: string): Promise<boolean> {
    return (await stat(join(this.#folder, id)).catch(() => undefined)) !== undefined;
  }

  /** Writes all bytes to a new name and syncs them. A failure leaves no file. */
  async #writeHalf(content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Half> {
    const name = `${randomBytes(32).toString('hex')}.${process.pid}.tmp`;
    const path = join(this.#folder, name);
    this.#halves.add(name);
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      const file = await this.#newFile(path).catch(notWritten);
      try {
        for await (const chunk of content) {
          hash.update(chunk);
          bytes += chunk.byteLength;
          await file.writeFile(chunk).catch(notWritten);
        }
        await file.sync().catch(notWritten);
      } finally {
        await file.close();
      }
      return { name, id: hash.digest('hex'), bytes };
    } catch (error) {
      await rm(path, { force: true });
      this.#halves.delete(name);
      throw error;
    }
  }

  async #newFile(path: string): Promise<FileHandle> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    return open(path, 'wx', 0o600);
  }

  async #finish({ name, id }: Half): Promise<void> {
    try {
      await rename(join(this.#folder, name), join(this.#folder, id));
    } finally {
      this.#halves.delete(name);
    }
    syncFolder(this.#folder);
  }
}

/**
 * Errors that pass by themselves. A file that stays unreadable (its mode, a bad block) is a fault of that file. Such a file is retried as any
 * failure, and reported.
 */
const PASSING: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']);

/** FILE-STORE-3: an error that passes becomes `storage_unavailable`. */
export function notRead(cause: NodeJS.ErrnoException): Error {
  const message = `a file of data/media cannot be read (${cause.code ?? cause.message})`;
  return PASSING.has(cause.code ?? '')
    ? new SvcError('storage_unavailable', message, { cause })
    : new Error(message, { cause });
}

function notWritten(cause: NodeJS.ErrnoException): never {
  const message = `a file cannot be written to data/media (${cause.code ?? cause.message})`;
  throw new SvcError('storage_unavailable', message, { cause });
}

interface Half {
  readonly name: string;
  readonly id: string;
  readonly bytes: number;
}
