// Files for handlers and adapters: stored files by digest, files on a platform by the platform's own id.
//
//   FILE-SOURCE-1  A file of a message is named `<endpoint>|<the platform's id>`. So other accounts and later attempts can read it.
//   FILE-SOURCE-2  No file is larger than `files.maxFileBytes`. A file with a larger declared size is not requested. A file that turns out larger is
//                  not read to its end.
//   FILE-SOURCE-3  The first reader of a file on a platform copies it to the disk. All later readers use the copy. So a later attempt sees the same
//                  bytes, even if the platform has removed them. A file that nobody reads is never fetched.
//   FILE-SOURCE-4  If a platform sends no bytes of a file for `IDLE_MS`, the read fails. All who wait for that copy get the error.
import { within } from '../../shared/time/abort.ts';
import type { FileContent, FileRef } from '../sdk/index.ts';
import { tooLargeFile } from '../sdk/platform/file-body.ts';
import { type FileStore, notRead, type StoredFile } from './file-store.ts';

/** Longer than the timeouts of adapters, whose errors name the reason. */
const IDLE_MS = 60_000;
const SILENT = Symbol('silent');

export interface FileSourceOptions {
  readonly store: FileStore;
  readonly limit: () => number;
  /** Throws while the disk has no room for a copy of a file on a platform. */
  readonly room: () => void;
  /** Reads a file on the platform of this account, by the platform's own id. */
  readonly fetch: (endpoint: string, file: FileRef) => Promise<ReadableStream<Uint8Array>>;
  /** Longest silence of a platform (FILE-SOURCE-4). Default: 60 s. */
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

  /** `endpoint`: the account that asks. It may name its own files by the platform's id. */
  async read(file: FileRef, endpoint?: string): Promise<Uint8Array<ArrayBuffer>> {
    return this.#options.store.read(await this.#idHere(file, endpoint));
  }

  /** The same as a stream. No descriptor is open before the stream is read, nor after it ends. */
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

  /** The id of the stored file, copied from its platform if necessary (FILE-SOURCE-3). */
  async #idHere(file: FileRef, asking: string | undefined): Promise<string> {
    const place = whereIs(file, asking);
    if (place === undefined) return file.id;
    const source = `${place.endpoint}|${place.id}`;
    return this.#options.store.copy({ source, name: file.name, mime: file.mime }, () => this.#fetched(file, place));
  }

  /** The bytes of a file on a platform, within the limit of size (FILE-SOURCE-2). */
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

/** Reads within the limit of silence (FILE-SOURCE-4). Cancels the stream if its reader leaves. */
async function* heard(
  coming: Promise<ReadableStream<Uint8Array>>,
  { name, idleMs }: { readonly name: string; readonly idleMs: number },
): AsyncGenerator<Uint8Array> {
  const limit = { ms: idleMs, late: SILENT } as const;
  const stream = await within(coming, limit);
  if (stream === SILENT) {
    void coming.then((late) => late.cancel()).catch(() => {}); // nobody is left to read the stream
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
    void reader.cancel().catch(() => {}); // a failed stream gives the same error again
  }
}

const silentFile = (name: string, idleMs: number): Error =>
  new Error(`the platform gave nothing of the file ${name} for ${idleMs} ms`);

/** Names a file of a message (FILE-SOURCE-1). */
export const arrivedFile = (endpoint: string, file: FileRef): FileRef =>
  isKept(file) || placeOf(file.id) !== undefined ? file : { ...file, id: `${endpoint}|${file.id}` };

/** The file as the adapter of that account knows it: its own files have the platform's id. */
export function fileFor(endpoint: string, file: FileRef): FileRef {
  const place = placeOf(file.id);
  return place?.endpoint === endpoint ? { ...file, id: place.id } : file;
}

interface Place {
  readonly endpoint: string;
  readonly id: string;
}

/** Undefined for a file that is stored here. */
const whereIs = (file: FileRef, endpoint: string | undefined): Place | undefined =>
  placeOf(file.id) ?? (isKept(file) || endpoint === undefined ? undefined : { endpoint, id: file.id });

const isKept = ({ id }: FileRef): boolean => /^[0-9a-f]{64}$/.test(id);

function placeOf(id: string): Place | undefined {
  const [, endpoint, own] = /^(root\/[^|]+:[^|]+)\|([\s\S]+)$/.exec(id) ?? [];
  return endpoint === undefined || own === undefined ? undefined : { endpoint, id: own };
}
