// Copies checkpoints to a folder on another disk (`recovery.copyTo`): the folder of each, and the stored files that they share.
//
//   COPY-OUT-1  A copy has its name once every part was read back from there with the digest of the manifest. A kill leaves `.part`, made anew.
//   COPY-OUT-2  What is removed here is removed there. A checkpoint that was never here stays: it may be of a host that was restored elsewhere.
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { CHECKPOINT_FILES, checkpointFolder, SHARED_FILES, unfinished } from '../../../shared/recovery/layout.ts';
import { type Manifest, readManifest } from '../../../shared/recovery/manifest.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { digestOfFile, syncFolders, syncPath } from './copied-files.ts';

export interface CopyOutOptions {
  readonly project: string;
  /** Absolute. It must exist: a disk that is not mounted is not replaced by a new folder. */
  readonly to: string;
  readonly name: string;
}

/** Throws `storage_unavailable` where the folder is missing or full, and `checkpoint_damaged` where the copy differs. */
export async function copyOut({ project, to, name }: CopyOutOptions): Promise<void> {
  const folder = checkpointFolder(project, name);
  const manifest = readManifest(folder);
  const target = join(to, name);
  const part = unfinished(target);
  try {
    if (!(await stat(to)).isDirectory()) throw new Error('it is no folder');
    await rm(part, { recursive: true, force: true });
    await mkdir(join(to, SHARED_FILES), { recursive: true, mode: 0o700 });
    for (const { path, sha256 } of [...manifest.parts, await ofManifest(folder)])
      await copyPart({ path, sha256 }, { project, folder, to, part });
    await syncFolders(part);
    await rm(target, { recursive: true, force: true });
    await rename(part, target);
    syncFolder(to);
  } catch (error) {
    await rm(part, { recursive: true, force: true }).catch(() => {});
    if (error instanceof SvcError) throw error;
    throw new SvcError('storage_unavailable', `${name} could not be copied to ${to}: ${String(error)}`, {
      cause: error,
      hint: 'mount the disk of recovery.copyTo, or free space there; the checkpoint itself was made',
    });
  }
}

const ofManifest = async (folder: string): Promise<Manifest['parts'][number]> => ({
  path: CHECKPOINT_FILES.manifest,
  ...(await digestOfFile(join(folder, CHECKPOINT_FILES.manifest))),
});

async function copyPart(
  { path, sha256 }: { readonly path: string; readonly sha256: string },
  {
    project,
    folder,
    to,
    part,
  }: { readonly project: string; readonly folder: string; readonly to: string; readonly part: string },
): Promise<void> {
  const isShared = path.startsWith(`${SHARED_FILES}/`);
  const target = isShared ? join(to, path) : join(part, path);
  if (isShared && (await stat(target).catch(() => undefined)) !== undefined) return;
  const written = isShared ? `${target}.tmp` : target;
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await copyFile(join(isShared ? projectPaths(project).checkpointsDir : folder, path), written);
  await syncPath(written);
  if ((await digestOfFile(written)).sha256 !== sha256)
    throw new SvcError('checkpoint_damaged', `the copy of ${path} in ${to} has another digest`, {
      hint: 'check both disks (dmesg, smartctl), and verify the checkpoint itself',
    });
  if (isShared) await rename(written, target);
}

/** Removes copies, and stored files that no copy there needs. */
export async function removeCopies({
  to,
  names,
}: {
  readonly to: string;
  readonly names: readonly string[];
}): Promise<void> {
  for (const name of names) {
    const target = join(to, name);
    await rename(target, unfinished(target)).catch(() => {}); // it was never copied
    await rm(unfinished(target), { recursive: true, force: true });
  }
  await removeUnnamed(to);
}

async function removeUnnamed(to: string): Promise<void> {
  const named = new Set<string>();
  for (const name of (await readdir(to)).filter((entry) => /^c\d+$/.test(entry)))
    try {
      for (const { path } of readManifest(join(to, name)).parts) named.add(path);
    } catch {
      return; // it may name any file
    }
  for (const file of await readdir(join(to, SHARED_FILES)).catch(() => []))
    if (!named.has(`${SHARED_FILES}/${file}`)) await rm(join(to, SHARED_FILES, file), { force: true });
}
