// Reads a tar archive entry by entry. The library parses a header; every decision is taken here, and no name is used before it was judged.
//
//   TAR-READER-1  Regular files alone are taken: a link, a device, a folder, an entry that another program would understand differently is refused.
//   TAR-READER-2  An archive that ends before its end mark, or has something behind it, is refused.
import { Header, Pax } from 'tar';
import { SvcError } from '../../../shared/svc-error.ts';
import { MOST_ENTRIES, quoted } from './names.ts';
import { BLOCK, paddingOf } from './tar-writer.ts';

/** A long name and a few numbers. */
const MOST_EXTENSION_BYTES = 16_384;

export interface TarEntry {
  readonly path: string;
  readonly bytes: number;
  /** The content. It is read before the next entry. */
  content(): AsyncGenerator<Buffer>;
}

export const refusedArchive = (why: string, cause?: unknown): SvcError =>
  new SvcError('archive_refused', `the archive is not taken: ${why}`, {
    cause,
    hint: 'Export the checkpoint again where it was made: `svc checkpoint export <name>`. Nothing was imported.',
  });

/** Throws `archive_refused`. */
export async function* tarEntries(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry, void, void> {
  const bytes = new Bytes(source);
  try {
    yield* entriesIn(bytes);
  } finally {
    await bytes.close();
  }
}

async function* entriesIn(bytes: Bytes): AsyncGenerator<TarEntry, void, void> {
  let extension: Pax | undefined;
  for (let entries = 0; ; ) {
    const block = await bytes.exactly(BLOCK);
    if (isZero(block)) {
      await bytes.end();
      return;
    }
    const header = parsed(block, extension);
    const size = header.size ?? Number.NaN;
    if (!Number.isSafeInteger(size) || size < 0) throw refusedArchive('an entry says no size');
    if (header.type === 'ExtendedHeader' && extension === undefined) {
      if (size > MOST_EXTENSION_BYTES) throw refusedArchive('the name of an entry is too long');
      extension = readExtension((await bytes.exactly(size)).toString('utf8'));
      await bytes.exactly(paddingOf(size));
      continue;
    }
    const path = extension?.path ?? header.path ?? ''; // a header of a long name has its first part too
    extension = undefined;
    entries += 1;
    if (entries > MOST_ENTRIES) throw refusedArchive(`it has more than ${MOST_ENTRIES} entries`);
    if (header.type !== 'File') throw refusedArchive(`${quoted(path)} is no regular file but ${header.type}`);
    if ((header.linkpath ?? '') !== '') throw refusedArchive(`${quoted(path)} is a link`);
    let left = size;
    yield {
      path,
      bytes: size,
      async *content() {
        while (left > 0) {
          const chunk = await bytes.atMost(left);
          left -= chunk.length;
          yield chunk;
        }
      },
    };
    if (left > 0) throw new Error(`${path} was not read`);
    await bytes.exactly(paddingOf(size));
  }
}

function parsed(block: Buffer, extension: Pax | undefined): Header {
  let header: Header;
  try {
    header = new Header(block, 0, extension);
  } catch (error) {
    throw refusedArchive('the header of an entry cannot be read', error);
  }
  if (!header.cksumValid) throw refusedArchive('the header of an entry has a wrong checksum');
  return header;
}

/** Of an extension svc takes name, size and dates, as it writes them. */
function readExtension(text: string): Pax {
  for (const line of text.split('\n').slice(0, -1)) {
    const [, length = '', key = ''] = /^(\d+) ([^=]+)=/u.exec(line) ?? [];
    if (Number(length) !== Buffer.byteLength(line) + 1 || !/^(path|size|[amc]time|uid|gid|uname|gname)$/u.test(key))
      throw refusedArchive('an entry has an extension that svc does not write');
  }
  return Pax.parse(text);
}

const isZero = (block: Buffer): boolean => block.every((byte) => byte === 0);

/** Takes exact numbers of bytes out of a stream of chunks. */
class Bytes {
  readonly #chunks: AsyncIterator<Buffer>;
  #left: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  async exactly(count: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let missing = count; missing > 0; ) {
      const chunk = await this.atMost(missing);
      parts.push(chunk);
      missing -= chunk.length;
    }
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }

  /** At least one byte. */
  async atMost(count: number): Promise<Buffer> {
    const left = this.#left.length > 0 ? this.#left : await this.#next();
    if (left === undefined) throw refusedArchive('it is cut short');
    this.#left = left.subarray(count);
    return left.subarray(0, count);
  }

  /** The rest of the end mark. */
  async end(): Promise<void> {
    if (!isZero(await this.exactly(BLOCK))) throw refusedArchive('its end mark is damaged');
    for (let left: Buffer | undefined = this.#left; left !== undefined; left = await this.#next())
      if (!isZero(left)) throw refusedArchive('something lies behind its end');
  }

  /** Ends the source, also before its end. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #next(): Promise<Buffer | undefined> {
    for (;;) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return undefined;
      if (value.length > 0) return value;
    }
  }
}
