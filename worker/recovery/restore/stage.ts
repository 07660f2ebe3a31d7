// Copies a state into `.svc/restoring.part/`, synced, and compares every byte with the manifest. Nothing of the present state is touched.
import { createHash } from 'node:crypto';
import {
  constants,
  copyFileSync,
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { moveAcross, syncTree } from '../../../shared/files/move-across.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { digestOfFile } from '../checkpoint/copied-files.ts';
import { damaged, type Source, type SourcePart } from './source.ts';

const CHUNK_BYTES = 1_048_576;
/** Folder of the staged files of `data/media`. */
const STAGED_MEDIA = 'media';

export interface StageOptions {
  readonly project: string;
  readonly source: Source;
  /** The folder; made anew. */
  readonly to: string;
  readonly mediaDir: string;
  readonly onProgress?: ((copied: number, of: number) => void) | undefined;
}

/** Returns the digests of the staged files of `data/media`. Throws `checkpoint_damaged` and `storage_unavailable`. */
export async function stage(options: StageOptions): Promise<readonly string[]> {
  const { project, source, to, onProgress } = options;
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const of = source.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  let copied = 0;
  for (const part of source.parts)
    await copyPart(project, { source, part, to }, (bytes) => {
      copied += bytes;
      onProgress?.(copied, of);
    });
  const media = await stageMedia(options);
  syncTree(to);
  syncFolder(dirname(to));
  return media;
}

async function copyPart(
  project: string,
  { source, part, to }: { readonly source: Source; readonly part: SourcePart; readonly to: string },
  onBytes: (bytes: number) => void,
): Promise<void> {
  const [from, target] = [join(source.folder, part.path), join(to, part.path)];
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  let sha256: string;
  try {
    sha256 = await copyHashed(from, target, onBytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw damaged({ project, name: source.name }, `${part.path} is missing`, error);
    throw new SvcError('storage_unavailable', `${from} cannot be copied to ${target}: ${messageOf(error)}`, {
      cause: error,
      hint: 'nothing was changed; make room or mend the disk, then run the command again',
    });
  }
  if (part.sha256 !== undefined && sha256 !== part.sha256)
    throw damaged({ project, name: source.name }, `${part.path} has another digest than its manifest says`);
}

async function copyHashed(from: string, to: string, onBytes: (bytes: number) => void): Promise<string> {
  const hash = createHash('sha256');
  const target = await open(to, 'wx', 0o600);
  try {
    const chunks = createReadStream(from, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>;
    for await (const chunk of chunks) {
      hash.update(chunk);
      await target.writeFile(chunk);
      onBytes(chunk.length);
    }
    await target.sync();
  } finally {
    await target.close();
  }
  return hash.digest('hex');
}

/** Files that the checkpoint has and `data/media` lacks. The name is the digest of the bytes. */
async function stageMedia({ project, source, to, mediaDir }: StageOptions): Promise<readonly string[]> {
  const missing = source.media.filter(({ sha256 }) => !existsSync(join(mediaDir, sha256)));
  if (missing.length > 0) mkdirSync(join(to, STAGED_MEDIA), { mode: 0o700 });
  for (const { sha256, path } of missing) {
    const digest = existsSync(path) ? (await digestOfFile(path)).sha256 : undefined;
    if (digest !== sha256)
      throw damaged(
        { project, name: source.name },
        `its file ${path} is ${digest === undefined ? 'missing' : 'not what its name says'}`,
      );
    linkOrCopy(path, join(to, STAGED_MEDIA, sha256));
  }
  return missing.map(({ sha256 }) => sha256);
}

/** A hard link costs nothing. Some file systems take none. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}

/**
 * Moves staged files to `data/media`, which is there; on the disk when it returns. No switch has them: there may be more than its file can hold.
 * Throws `storage_unavailable`.
 */
export function moveMedia(
  media: readonly string[],
  { staging, mediaDir }: { readonly staging: string; readonly mediaDir: string },
): void {
  if (media.length === 0) return;
  try {
    for (const sha256 of media) move(join(staging, STAGED_MEDIA, sha256), join(mediaDir, sha256));
    syncFolder(mediaDir);
  } catch (error) {
    throw new SvcError('storage_unavailable', `stored files cannot be moved to ${mediaDir}: ${messageOf(error)}`, {
      cause: error,
      hint: 'the state was not changed; make room or mend the disk, then run the command again',
    });
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    moveAcross(from, to);
  }
}

/** Throws `refused` unless the disk has room for the database twice: the copy, and the WAL of its changes. */
export async function refuseWithoutRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const [free, needed] = [bavail * bsize, 2 * bytes];
  if (free >= needed) return;
  throw new SvcError('refused', `a restore needs ${needed} bytes in ${folder}, and ${free} are free`, {
    hint: `free ${needed - free} more bytes: \`svc checkpoint prune\` removes old checkpoints and replaced states`,
  });
}

export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
