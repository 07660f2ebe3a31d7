// The disk of a test bot: a database in memory, and files. Both outlive a kill of the process. Transactions run through the worker's own code, in
// this thread.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Database } from 'better-sqlite3';
import { SqliteReader } from '../database/reader.ts';
import { WriterCore } from '../database/sqlite/writer-core.ts';
import type { Reader, Writer } from '../database/unit.ts';
import { GroupingWriter } from '../database/writer.ts';
import type { FileStore } from '../files/file-store.ts';
import type { Life } from './life.ts';

/** A new database with its schema. To migrate one takes longer than a short story of a test, which may begin hundreds of times. */
let fresh: Buffer | undefined;

export class MemoryDisk {
  readonly #core: WriterCore;
  readonly #database: Database;
  readonly #reader: SqliteReader;
  readonly #files = new Map<string, Uint8Array<ArrayBuffer>>();
  /** Ids of files copied from the platform, by their source. */
  readonly #copies = new Map<string, string>();
  #commits = 0;

  constructor(now: () => number) {
    this.#core = new WriterCore({ file: ':memory:', now, content: fresh });
    this.#database = this.#core.open();
    fresh ??= this.#database.serialize();
    this.#reader = new SqliteReader(() => this.#database);
  }

  /** Number of committed groups. */
  get commits(): number {
    return this.#commits;
  }

  writer(life: Life): Writer {
    return new GroupingWriter({
      open: async () => {},
      run: (units) =>
        life.guard(() => {
          this.#commits += 1;
          return this.#core.run(units);
        }),
      pin: async () => {},
      close: async () => {},
    });
  }

  reader(life: Life): Reader {
    const reader = this.#reader;
    return {
      all: (query) => life.guard(() => reader.all(query)),
      first: (query) => life.guard(() => reader.first(query)),
    };
  }

  files(life: Life): FileStore {
    return {
      read: (id) =>
        life.guard(() => {
          const bytes = this.#files.get(id);
          if (bytes === undefined) throw new Error(`there is no file ${id}`);
          return bytes;
        }),
      open: (id) =>
        life.guard(() => {
          const bytes = this.#files.get(id);
          if (bytes === undefined) return undefined;
          const content = (): Readable => Readable.from([bytes]);
          return { mime: '', bytes: bytes.byteLength, content, close: async () => {} };
        }),
      save: ({ name, mime, bytes }) =>
        life.guard(() => {
          const id = this.#keep(bytes);
          return { id, name, mime, bytes: bytes.byteLength };
        }),
      copy: ({ source }, content) =>
        life.guard(async () => {
          const known = this.#copies.get(source);
          if (known !== undefined) return known;
          const chunks: Uint8Array[] = [];
          for await (const chunk of content()) chunks.push(chunk);
          const id = this.#keep(Buffer.concat(chunks));
          this.#copies.set(source, id);
          return id;
        }),
    };
  }

  #keep(bytes: Uint8Array): string {
    const id = createHash('sha256').update(bytes).digest('hex');
    this.#files.set(id, Uint8Array.from(bytes));
    return id;
  }

  /** Rows of a query, for assertions on the state. */
  rows<T>(text: string, ...parameters: readonly unknown[]): T[] {
    return this.#database.prepare(text).all(...parameters) as T[];
  }

  close(): void {
    this.#core.close();
  }
}
