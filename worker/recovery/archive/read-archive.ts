// Reads an archive of a checkpoint and hands out what was judged: the manifest first, then each part that it names, up to its size.
//
//   ARCHIVE-1  A name is compared with the manifest before it is used. No entry may be missing, repeated, longer or other than the manifest says.
//   ARCHIVE-2  An archive that grows to more than MOST_GROWTH times its size is refused while it is read, not after.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CHECKPOINT_FILES } from '../../../shared/recovery/layout.ts';
import { type Manifest, parseManifest } from '../../../shared/recovery/manifest.ts';
import { coerceError, messageOf, SvcError } from '../../../shared/svc-error.ts';
import { decrypted, type Key, sealOf } from './age.ts';
import { namesFault, quoted } from './names.ts';
import { refusedArchive, type TarEntry, tarEntries } from './tar-reader.ts';

/** Largest ratio of the archive's bytes to its compressed ones. Small archives are let off. */
export const MOST_GROWTH = 100;
const LET_OFF_BYTES = 1_048_576;
const MOST_MANIFEST_BYTES = 64 * 1_048_576;

export interface FoundManifest {
  readonly manifest: Manifest;
  /** As it stands in the archive. */
  readonly text: string;
  readonly sha256: string;
}

export interface ArchiveSink {
  /** The manifest was accepted. Nothing was written yet. */
  begin(found: FoundManifest): void;
  part(path: string): { write(chunk: Buffer): void; end(): void };
}

export interface ReadOptions {
  readonly file: string;
  readonly key?: Key | undefined;
  /** SHA-256 of the manifest, as the export printed it. */
  readonly expect?: string | undefined;
}

/** Throws `archive_refused`, `schema_newer`, and what the sink throws. */
export async function readArchive(options: ReadOptions, sink: ArchiveSink): Promise<FoundManifest> {
  const entries = tarEntries(unpacked(await opened(options)));
  try {
    return await readEntries(entries, options.expect, sink);
  } finally {
    await entries.return();
  }
}

async function readEntries(
  entries: AsyncGenerator<TarEntry, void, void>,
  expect: string | undefined,
  sink: ArchiveSink,
): Promise<FoundManifest> {
  const first = await entries.next();
  if (first.done === true) throw refusedArchive('it is empty');
  const found = await readManifestEntry(first.value, expect);
  sink.begin(found);
  const left = new Map(found.manifest.parts.map((part) => [part.path, part]));
  const seen = new Set([CHECKPOINT_FILES.manifest as string]);
  for await (const entry of entries) {
    const part = left.get(entry.path);
    if (part === undefined)
      throw refusedArchive(
        `${quoted(entry.path)} ${seen.has(entry.path) ? 'is there twice' : 'is not in its manifest'}`,
      );
    left.delete(entry.path);
    seen.add(entry.path);
    if (entry.bytes !== part.bytes)
      throw refusedArchive(`${quoted(entry.path)} has ${entry.bytes} bytes, its manifest says ${part.bytes}`);
    const to = sink.part(entry.path);
    const hash = createHash('sha256');
    for await (const chunk of entry.content()) {
      hash.update(chunk);
      to.write(chunk);
    }
    if (hash.digest('hex') !== part.sha256)
      throw refusedArchive(`${quoted(entry.path)} has another hash than its manifest says`);
    to.end();
  }
  const [missing] = left.keys();
  if (missing !== undefined) throw refusedArchive(`${quoted(missing)} of its manifest is missing`);
  return found;
}

async function opened({ file, key }: ReadOptions): Promise<AsyncIterable<Buffer>> {
  const seal = await sealOf(file);
  if (seal === 'armor')
    throw new SvcError('archive_refused', `${file} is an age file in its text form`, {
      hint: 'Decrypt it first: age -d -o plain.tar.gz FILE',
    });
  const source = bytesOf(file);
  if (seal === 'plain') return source;
  if (key === undefined)
    throw new SvcError('archive_refused', `${file} is encrypted`, {
      hint: 'Add --passphrase-file F or --identity-file F.',
    });
  return decrypted(source, key);
}

/** Opened by the first read: a stream that nobody reads would tell its error to nobody. */
async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  yield* createReadStream(file) as AsyncIterable<Buffer>;
}

/** Unzips, and ends where the content grows beyond what an honest archive does. */
async function* unpacked(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let taken = 0;
  let given = 0;
  let failure: Error | undefined;
  async function* counted(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of source) {
        taken += chunk.length;
        yield chunk;
      }
    } catch (error) {
      failure = coerceError(error);
      throw error;
    }
  }
  const unzip = createGunzip();
  pipeline(Readable.from(counted()), unzip, () => {});
  try {
    for await (const chunk of unzip as AsyncIterable<Buffer>) {
      given += chunk.length;
      if (given > MOST_GROWTH * taken + LET_OFF_BYTES)
        throw refusedArchive(`it grows to more than ${MOST_GROWTH} times its size`);
      yield chunk;
    }
  } catch (error) {
    if (failure !== undefined) throw failure;
    if (error instanceof SvcError || (error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    const isShort = (error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR';
    throw refusedArchive(isShort ? 'it is cut short' : `it is no gzip file (${messageOf(error)})`, error);
  }
}

async function readManifestEntry(entry: TarEntry, expect: string | undefined): Promise<FoundManifest> {
  if (entry.path !== CHECKPOINT_FILES.manifest)
    throw refusedArchive(`it begins with ${quoted(entry.path)}, not with ${CHECKPOINT_FILES.manifest}`);
  if (entry.bytes > MOST_MANIFEST_BYTES) throw refusedArchive('its manifest is too large');
  const chunks: Buffer[] = [];
  for await (const chunk of entry.content()) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (expect !== undefined && expect !== sha256)
    throw refusedArchive(`its manifest has the SHA-256 ${sha256}, expected was ${expect}`);
  const text = bytes.toString('utf8');
  const manifest = judged(text);
  const fault = namesFault(manifest.parts);
  if (fault !== undefined) throw refusedArchive(fault);
  return { manifest, text, sha256 };
}

function judged(text: string): Manifest {
  try {
    return parseManifest(text, CHECKPOINT_FILES.manifest);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'schema_newer') throw error;
    throw refusedArchive(messageOf(error), error);
  }
}
