// Writes a checkpoint as one archive, for another disk or machine.
//
//   EXPORT-1  The archive has its name once it is whole, on the disk and read back. It replaces no file.
//   EXPORT-2  Its database is vacuumed: pages that are free hold texts that were erased. The manifest in the archive has the hash of that database.
//   EXPORT-3  Nobody but this user can read it (0600).
//   EXPORT-4  It holds the lock of checkpoints: nothing removes the one that it reads. A kill leaves `c12-export.part`, which the next make, prune,
//             import or export removes.
import { createHash } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Environment } from '../../../shared/config/environment.ts';
import { defaultHostName, loadConfig } from '../../../shared/config/load.ts';
import { stableJson, syncFolder } from '../../../shared/files/atomic-file.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { failpointsOf } from '../../../shared/process/failpoints.ts';
import { CHECKPOINT_FILES, checkpointFolder, unfinished } from '../../../shared/recovery/layout.ts';
import { type Manifest, readManifest } from '../../../shared/recovery/manifest.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { lockRecovery } from '../checkpoint/lock.ts';
import { removeLeftovers } from '../checkpoint/make-checkpoint.ts';
import { hashOf, partFaults, placeOfPart } from '../verify/parts.ts';
import { damagedCheckpoint, namedCheckpoint } from '../verify/stored.ts';
import { encrypted, type Lock } from './age.ts';
import { MOST_GROWTH, readArchive } from './read-archive.ts';
import { type PackedFile, packed } from './tar-writer.ts';

export interface ExportOptions {
  readonly project: string;
  readonly environment: Environment;
  readonly name: string;
  /** A file or a folder. Left out: the current folder. */
  readonly to: string;
  readonly lock?: Lock | undefined;
  /** How long it waits for a process that makes or removes a checkpoint. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 10_000;

export interface Exported {
  readonly file: string;
  readonly bytes: number;
  /** SHA-256 of the manifest in the archive, for `import --expect`. */
  readonly manifest: string;
  readonly encrypted: boolean;
  /** Whether it was read back: an archive for recipients can only be opened by their keys. */
  readonly isReadBack: boolean;
}

/** Throws `not_found`, `checkpoint_damaged`, `refused` if the file is there, and `conflict` while a checkpoint is made or removed. */
export async function exportCheckpoint(options: ExportOptions): Promise<Exported> {
  const { project, name, patienceMs = PATIENCE_MS } = options;
  namedCheckpoint(project, name);
  const file = targetOf(options);
  if (existsSync(file))
    throw new SvcError('refused', `${file} is there already`, { hint: 'Take another name: --to FILE' });
  refuseUnwritable(dirname(file));
  process.umask(0o077); // as in a worker: new files are private to this user
  const held = lockRecovery(project, { patienceMs });
  try {
    removeLeftovers(project);
    return await exportTo(file, options);
  } finally {
    held.release();
  }
}

/** The caller holds the lock of checkpoints. */
async function exportTo(file: string, { project, environment, name, lock }: ExportOptions): Promise<Exported> {
  const point = FAILPOINTS ? failpointsOf(environment['SVC_FAILPOINTS']) : undefined;
  const folder = namedCheckpoint(project, name);
  const manifest = readManifest(folder);
  const [fault] = await partFaults(project, name, manifest);
  if (fault !== undefined) throw damagedCheckpoint(project, name, `${fault.part} ${fault.message}`);
  const staging = unfinished(checkpointFolder(project, `${name}-export`));
  const part = unfinished(file);
  rmSync(part, { force: true }); // a kill left it
  mkdirSync(staging, { mode: 0o700 });
  try {
    const content = await contentOf({ project, name, manifest, staging });
    if (FAILPOINTS) await point?.('export.staged');
    await write(part, content, lock);
    if (FAILPOINTS) await point?.('export.written');
    const isReadBack = lock === undefined || 'passphrase' in lock;
    if (isReadBack) await readBack(part, content.sha256, lock);
    renameSync(part, file);
    syncFolder(dirname(file));
    const { size } = statSync(file);
    return { file, bytes: size, manifest: content.sha256, encrypted: lock !== undefined, isReadBack };
  } finally {
    rmSync(staging, { recursive: true, force: true });
    rmSync(part, { force: true });
  }
}

function refuseUnwritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new SvcError('refused', `${folder} cannot be written: ${messageOf(error)}`, {
      hint: 'Make it, or name another place: --to FILE',
    });
  }
}

function targetOf({ project, environment, name, to, lock }: ExportOptions): string {
  const isFolder = statSync(to, { throwIfNoEntry: false })?.isDirectory() === true;
  const host = hostName(project, environment)
    .replace(/[^\w.-]+/gu, '-')
    .replace(/^[.-]+/u, '');
  const usual = `svc-${host === '' ? 'project' : host}-${name}.tar.gz${lock === undefined ? '' : '.age'}`;
  return isFolder ? join(resolve(to), usual) : resolve(to);
}

function hostName(project: string, environment: Environment): string {
  try {
    return loadConfig({ project, mode: 'development', environment, servesNothing: true }).config.host.name ?? '';
  } catch {
    return defaultHostName(projectPaths(project)); // a checkpoint can be taken away whatever the configuration is
  }
}

interface Content {
  readonly files: readonly PackedFile[];
  readonly sha256: string;
}

interface ContentOf {
  readonly project: string;
  readonly name: string;
  readonly manifest: Manifest;
  readonly staging: string;
}

async function contentOf({ project, name, manifest, staging }: ContentOf): Promise<Content> {
  const places = new Map(manifest.parts.map(({ path }) => [path, placeOfPart(project, name, path)]));
  const database = places.get(CHECKPOINT_FILES.database);
  const parts = [...manifest.parts];
  if (database !== undefined) {
    const file = vacuumed(database, staging);
    places.set(CHECKPOINT_FILES.database, file);
    const index = parts.findIndex(({ path }) => path === CHECKPOINT_FILES.database);
    parts[index] = { path: CHECKPOINT_FILES.database, bytes: statSync(file).size, sha256: await hashOf(file) };
  }
  const text = Buffer.from(stableJson({ ...manifest, parts }));
  const first = { path: CHECKPOINT_FILES.manifest, bytes: text.length, from: text };
  return {
    files: [first, ...parts.map(({ path, bytes }) => ({ path, bytes, from: places.get(path) ?? '' }))],
    sha256: createHash('sha256').update(text).digest('hex'),
  };
}

/** SQLite would make files beside the database that it opens, so it opens a copy. */
function vacuumed(database: string, staging: string): string {
  const copy = join(staging, 'copy.sqlite');
  const file = join(staging, CHECKPOINT_FILES.database);
  copyFileSync(database, copy, constants.COPYFILE_FICLONE);
  const connection = new Sqlite(copy);
  try {
    connection.prepare('VACUUM INTO ?').run(file);
  } finally {
    connection.close();
  }
  rmSync(copy);
  return file;
}

/** Content that shrinks more than an import takes is stored as it is. */
async function write(part: string, { files }: Content, lock: Lock | undefined): Promise<void> {
  const plain = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const written = await writeWith(part, files, { lock, level: 6 });
  if (plain < (MOST_GROWTH / 2) * written) return;
  rmSync(part);
  await writeWith(part, files, { lock, level: 0 });
}

async function writeWith(
  part: string,
  files: readonly PackedFile[],
  { lock, level }: { readonly lock: Lock | undefined; readonly level: number },
): Promise<number> {
  const zip = createGzip({ level });
  let failure: Error | null = null;
  pipeline(Readable.from(packed(files)), zip, (error) => {
    failure = error ?? null;
  });
  const stream = zip as AsyncIterable<Buffer>;
  const descriptor = openSync(part, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  let written = 0;
  try {
    for await (const chunk of lock === undefined ? stream : await encrypted(stream, lock))
      for (let at = 0; at < chunk.length; ) {
        const count = writeSync(descriptor, chunk, at);
        at += count;
        written += count;
      }
    if (failure !== null) throw failure as Error;
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
    zip.destroy();
  }
  return written;
}

async function readBack(file: string, expect: string, lock: Lock | undefined): Promise<void> {
  const key = lock !== undefined && 'passphrase' in lock ? lock : undefined;
  const nothing = { write: (): void => {}, end: (): void => {} };
  await readArchive({ file, key, expect }, { begin: () => {}, part: () => nothing });
}
