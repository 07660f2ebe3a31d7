// Copies files into a checkpoint: synced, with the digest of what was written. And keeps files of `data/media` once for all checkpoints.
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface Part {
  /** Relative to the folder of the checkpoint, with `/`. `files/<sha256>` lies beside the checkpoints. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes a new file and syncs it. */
export async function writePart(folder: string, path: string, content: Buffer | string): Promise<Part> {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const bytes = Buffer.from(content);
  const file = await open(target, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  return { path, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

export async function digestOfFile(file: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1_048_576 }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Syncs the folder and every folder below it: names survive a power cut. */
export async function syncFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await syncFolders(join(folder, entry.name));
  await syncPath(folder);
}

export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const DIGEST = /^[0-9a-f]{64}$/;

/** Names of the files in a folder that are stored by content. Empty without the folder. */
export const storedNames = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder).catch(() => [])).filter((name) => DIGEST.test(name));

/**
 * Keeps a stored file for checkpoints: a hard link, or a copy where the file system takes none. Its content is checked once. False where it is gone,
 * or is not what its name says.
 */
export async function keepFile(
  from: string,
  { shared, name }: { readonly shared: string; readonly name: string },
): Promise<boolean> {
  const target = join(shared, name);
  if (await exists(target)) return true;
  const source = join(from, name);
  const part = `${target}.tmp`;
  await rm(part, { force: true });
  try {
    await link(source, part);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    await copyFile(source, part, constants.COPYFILE_EXCL);
    await syncPath(part);
  }
  if ((await digestOfFile(part)).sha256 !== name) {
    await rm(part, { force: true });
    return false;
  }
  await rename(part, target);
  return true;
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );
