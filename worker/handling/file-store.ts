// Files by content: saving the same bytes twice is one file. The bytes lie in data/media under their digest, the name in the database.
import { createHash } from 'node:crypto';
import { constants, mkdirSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { syncFolder } from '../../shared/atomic-file.ts';
import { type Core, commitOrThrow } from '../core.ts';
import { sql, statement } from '../database/statement.ts';
import type { FileRef } from '../sdk/index.ts';

export interface FileStore {
  /** Throws when there is no such file. */
  read(id: string): Promise<Uint8Array>;
  /** Undefined when there is none, or none any more. */
  open(id: string): Promise<StoredFile | undefined>;
  save(file: { readonly name: string; readonly mime: string; readonly bytes: Uint8Array }): Promise<FileRef>;
}

export interface StoredFile {
  readonly mime: string;
  readonly bytes: number;
  content(): Readable;
  close(): Promise<void>;
}

const DIGEST = /^[0-9a-f]{64}$/;
/** Ours: files, and what is left of one that was being written. */
const NAME = /^[0-9a-f]{64}(\.\d+\.tmp)?$/;

export class MediaFolder implements FileStore {
  readonly #core: Core;
  readonly #folder: string;
  readonly #busy = new Map<string, Promise<void>>();

  constructor(core: Core, folder: string) {
    this.#core = core;
    this.#folder = folder;
  }

  async read(id: string): Promise<Uint8Array> {
    if (!DIGEST.test(id)) throw new Error('not the id of a stored file');
    return readFile(join(this.#folder, id)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw new Error(`file ${id} is not kept here any more`);
      throw error;
    });
  }

  async open(id: string): Promise<StoredFile | undefined> {
    if (!DIGEST.test(id)) return undefined;
    const row = await this.#core.reader.first(sql.selectFrom('files').select('mime').where('id', '=', id));
    const path = join(this.#folder, id);
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
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
      const path = join(this.#folder, id);
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const known = await stat(path).catch(() => undefined);
      if (known === undefined) await this.#write(path, bytes);
      const created_at = this.#core.clock.now();
      const row = { id, name, mime, bytes: bytes.byteLength, created_at };
      const insert = sql.insertInto('files').values(row);
      const saved = insert.onConflict((conflict) => conflict.column('id').doUpdateSet({ created_at }));
      await commitOrThrow(this.#core.writer, { name: 'file.saved', statements: [statement(saved)] });
    });
    return { id, name, mime, bytes: bytes.byteLength };
  }

  /** Removes a file that was not saved again since `before`; false when it was, or is gone already. */
  remove(id: string, before: number): Promise<boolean> {
    return this.#alone(id, async () => {
      const row = sql.deleteFrom('files').where('id', '=', id).where('created_at', '<', before).returning('id');
      const answer = await commitOrThrow(this.#core.writer, { name: 'file.removed', statements: [statement(row)] });
      if (answer.rows[0]?.length !== 1) return false;
      await rm(join(this.#folder, id), { force: true });
      return true;
    });
  }

  /** Removes what lies in the folder without a row and was last written before then; gives their number. */
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

  /** One at a time for each file: nothing is removed while it is saved. */
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

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const temporary = `${path}.${process.pid}.tmp`;
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    syncFolder(this.#folder);
  }
}
