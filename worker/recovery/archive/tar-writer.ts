// Writes a tar archive: regular files alone, mode 0600, nobody's, dated 1970, so that equal checkpoints make equal archives.
import { createReadStream } from 'node:fs';
import { Header, Pax } from 'tar';

export const BLOCK = 512;
/** Two blocks of zeros end an archive. */
const END = Buffer.alloc(2 * BLOCK);

export interface PackedFile {
  readonly path: string;
  readonly bytes: number;
  /** The content itself, or the file that holds it. */
  readonly from: string | Buffer;
}

export async function* packed(files: readonly PackedFile[]): AsyncGenerator<Buffer> {
  for (const { path, bytes, from } of files) {
    yield headerOf(path, bytes);
    if (typeof from === 'string') for await (const chunk of createReadStream(from)) yield chunk as Buffer;
    else yield from;
    yield padding(bytes);
  }
  yield END;
}

function headerOf(path: string, size: number): Buffer {
  const facts = {
    path,
    size,
    mode: 0o600,
    uid: 0,
    gid: 0,
    uname: '',
    gname: '',
    mtime: new Date(0),
    type: 'File' as const,
  };
  const header = new Header(facts);
  const block = Buffer.alloc(BLOCK);
  if (!header.encode(block)) return block;
  return Buffer.concat([new Pax({ path, size, mtime: facts.mtime, uid: 0, gid: 0, mode: 0o600 }).encode(), block]);
}

export const paddingOf = (bytes: number): number => (BLOCK - (bytes % BLOCK)) % BLOCK;
const padding = (bytes: number): Buffer => Buffer.alloc(paddingOf(bytes));
