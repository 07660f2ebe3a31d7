// Files as handlers and adapters get them: those that are kept here by their digest, those that lie on a platform by its own id.
//
//   F1  A file that came with a message is named `<endpoint>|<the platform's id>`, so that it can be read later and elsewhere.
//   F2  No file is larger than `files.maxFileBytes`: one that is said to be is not asked for, one that turns out to be is not read to its end.
//   F3  What lies on a platform is fetched by the first who reads it, to the disk, and read from there by everybody since: a later attempt
//       sees the same bytes, also when the platform has them no more. What nobody reads is never fetched.
//   F4  A platform that gives nothing of a file for `IDLE_MS` is not waited for: whoever reads it, and all who wait for that copy, hear of it.
import { within } from '../../shared/time/abort.ts';
import type { FileContent, FileRef } from '../sdk/index.ts';
import { tooLargeFile } from '../sdk/platform/file-body.ts';
import { type FileStore, notRead, type StoredFile } from './file-store.ts';

/** Longer than adapters wait for an answer themselves: they say why there is none. */
const IDLE_MS = 60_000;
const SILENT = Symbol('silent');

export interface FileSourceOptions {
  readonly store: FileStore;
  readonly limit: () => number;
  /** Throws while the disk has no room for a file that lies elsewhere. */
  readonly room: () => void;
  /** The bytes of a file that lies on the platform of this account, by the platform's own id. */
  readonly fetch: (endpoint: string, file: FileRef) => Promise<ReadableStream<Uint8Array>>;
  /** F4. Default: 60 s. */
  readonly idleMs?: number;
}

export class FileSource {
  readonly #options: FileSourceOptions;

  constructor(options: FileSourceOptions) {
    this.#options = options;
  }

  /** `files.maxFileBytes`. */
  get mostBytes(): number {
    return this.#options.limit();
  }

  /** `endpoint`: of the account that asks, which may name a file of its own as its platform does. */
  async read(file: FileRef, endpoint?: string): Promise<Uint8Array<ArrayBuffer>> {
    return this.#options.store.read(await this.#idHere(file, endpoint));
  }

  /** The same as a stream. Nothing is open before it is read, nor after it was left. */
  async open(file: FileRef, endpoint?: string): Promise<FileContent> {
    const id = await this.#idHere(file, endpoint);
    const kept = await this.#kept(id);
    await kept.close();
    return { bytes: kept.bytes, content: () => this.#stored(id) };
  }

  async save(name: string, mime: string, bytes: Uint8Array): Promise<FileRef> {
    if (bytes.byteLength > this.#options.limit()) throw tooLargeFile(name, this.#options.limit());
    return this.#options.store.save({ name, mime, bytes });
  }

  /** F3. */
  async #idHere(file: FileRef, asking: string | undefined): Promise<string> {
    const place = whereIs(file, asking);
    if (place === undefined) return file.id;
    const source = `${place.endpoint}|${place.id}`;
    return this.#options.store.copy({ source, name: file.name, mime: file.mime }, () => this.#fetched(file, place));
  }

  /** F2. */
  async *#fetched(file: FileRef, { endpoint, id }: Place): AsyncGenerator<Uint8Array> {
    const { limit, room, fetch, idleMs = IDLE_MS } = this.#options;
    if (file.bytes > limit()) throw tooLargeFile(file.name, limit());
    room();
    let size = 0;
    for await (const chunk of heard(fetch(endpoint, { ...file, id }), { name: file.name, idleMs })) {
      size += chunk.byteLength;
      // Leaving the loop cancels the stream.
      if (size > limit()) throw tooLargeFile(file.name, limit());
      room();
      yield chunk;
    }
  }

  async *#stored(id: string): AsyncGenerator<Uint8Array> {
    const kept = await this.#kept(id);
    try {
      for await (const chunk of kept.content()) yield chunk as Uint8Array;
    } catch (error) {
      throw notRead(error as NodeJS.ErrnoException);
    } finally {
      await kept.close();
    }
  }

  async #kept(id: string): Promise<StoredFile> {
    const kept = await this.#options.store.open(id);
    if (kept === undefined) throw new Error(`file ${id} is not kept here any more`);
    return kept;
  }
}

/** F4. Cancels what it leaves. */
async function* heard(
  coming: Promise<ReadableStream<Uint8Array>>,
  { name, idleMs }: { readonly name: string; readonly idleMs: number },
): AsyncGenerator<Uint8Array> {
  const limit = { ms: idleMs, late: SILENT } as const;
  const stream = await within(coming, limit);
  if (stream === SILENT) {
    void coming.then((late) => late.cancel()).catch(() => {}); // nobody is left to read it
    throw silentFile(name, idleMs);
  }
  const reader = stream.getReader();
  try {
    for (;;) {
      const next = await within(reader.read(), limit);
      if (next === SILENT) throw silentFile(name, idleMs);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    void reader.cancel().catch(() => {}); // of a stream that failed it gives the same error again
  }
}

const silentFile = (name: string, idleMs: number): Error =>
  new Error(`the platform gave nothing of the file ${name} for ${idleMs} ms`);

/** F1. */
export const arrivedFile = (endpoint: string, file: FileRef): FileRef =>
  isKept(file) || placeOf(file.id) !== undefined ? file : { ...file, id: `${endpoint}|${file.id}` };

/** As the adapter of that account knows it: its own files by its own id. */
export function fileFor(endpoint: string, file: FileRef): FileRef {
  const place = placeOf(file.id);
  return place?.endpoint === endpoint ? { ...file, id: place.id } : file;
}

interface Place {
  readonly endpoint: string;
  readonly id: string;
}

/** Undefined: it is kept here. */
const whereIs = (file: FileRef, endpoint: string | undefined): Place | undefined =>
  placeOf(file.id) ?? (isKept(file) || endpoint === undefined ? undefined : { endpoint, id: file.id });

const isKept = ({ id }: FileRef): boolean => /^[0-9a-f]{64}$/.test(id);

function placeOf(id: string): Place | undefined {
  const [, endpoint, own] = /^(root\/[^|]+:[^|]+)\|([\s\S]+)$/.exec(id) ?? [];
  return endpoint === undefined || own === undefined ? undefined : { endpoint, id: own };
}
