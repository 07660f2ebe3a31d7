// Files by content: saving the same bytes twice is one file. The bytes lie in data/media under their digest, the name in the database.
import { createHash } from 'node:crypto';
import { constants, mkdirSync } from 'node:fs';
import { open, readFile, rename, stat } from 'node:fs/promises';
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

export class MediaFolder implements FileStore {
  readonly #core: Core;
  readonly #folder: string;

  constructor(core: Core, folder: string) {
    this.#core = core;
    this.#folder = folder;
  }

  async read(id: string): Promise<Uint8Array> {
    if (!DIGEST.test(id)) throw new Error('not the id of a stored file');
    return readFile(join(this.#folder, id));
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
    const path = join(this.#folder, id);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const known = await stat(path).catch(() => undefined);
    if (known === undefined) await this.#write(path, bytes);
    const row = { id, name, mime, bytes: bytes.byteLength, created_at: this.#core.clock.now() };
    await commitOrThrow(this.#core.writer, {
      name: 'file.saved',
      statements: [
        statement(
          sql
            .insertInto('files')
            .values(row)
            .onConflict((conflict) => conflict.column('id').doNothing()),
        ),
      ],
    });
    return { id, name, mime, bytes: bytes.byteLength };
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
