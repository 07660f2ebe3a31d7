// Files as handlers and adapters get them: those that are kept here by their digest, those that lie on a platform by its own id.
//
//   F1  A file that came with a message is named `<endpoint>|<the platform's id>`, so that it can be read later and elsewhere.
//   F2  No file is larger than `files.maxFileBytes`: one that turns out to be is not read to its end.
import type { FileContent, FileRef } from '../sdk/index.ts';
import { coded } from './cause.ts';
import type { FileStore, StoredFile } from './file-store.ts';

export interface FileSourceOptions {
  readonly store: FileStore;
  readonly limit: () => number;
  /** The bytes of a file that lies on the platform of this account, by the platform's own id. */
  readonly fetch: (endpoint: string, file: FileRef) => Promise<ReadableStream<Uint8Array>>;
}

export class FileSource {
  readonly #options: FileSourceOptions;

  constructor(options: FileSourceOptions) {
    this.#options = options;
  }

  /** `endpoint`: of the account that asks, which may name a file of its own as its platform does. */
  async read(file: FileRef, endpoint?: string): Promise<Uint8Array> {
    const place = whereIs(file, endpoint);
    if (place === undefined) return this.#options.store.read(file.id);
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#fetched(file, place)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** The same as a stream. Nothing is open before it is read, nor after it was left. */
  async open(file: FileRef, endpoint?: string): Promise<FileContent> {
    const place = whereIs(file, endpoint);
    if (place !== undefined) return { bytes: undefined, content: () => this.#fetched(file, place) };
    const kept = await this.#kept(file);
    await kept.close();
    return { bytes: kept.bytes, content: () => this.#stored(file) };
  }

  async save(name: string, mime: string, bytes: Uint8Array): Promise<FileRef> {
    if (bytes.byteLength > this.#options.limit()) throw this.#tooLarge(name);
    return this.#options.store.save({ name, mime, bytes });
  }

  /** F2. */
  async *#fetched(file: FileRef, { endpoint, id }: Place): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const chunk of await this.#options.fetch(endpoint, { ...file, id })) {
      size += chunk.byteLength;
      if (size > this.#options.limit()) throw this.#tooLarge(file.name); // leaving the loop cancels the stream
      yield chunk;
    }
  }

  async *#stored(file: FileRef): AsyncGenerator<Uint8Array> {
    const kept = await this.#kept(file);
    try {
      for await (const chunk of kept.content()) yield chunk as Uint8Array;
    } finally {
      await kept.close();
    }
  }

  async #kept({ id }: FileRef): Promise<StoredFile> {
    const kept = await this.#options.store.open(id);
    if (kept === undefined) throw new Error(`file ${id} is not kept here any more`);
    return kept;
  }

  #tooLarge(name: string): Error {
    return coded('file_too_large', `${name} has more than files.maxFileBytes, ${this.#options.limit()}`);
  }
}

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
