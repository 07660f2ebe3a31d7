// Copies checkpoints to a folder on another disk (`recovery.copyTo`): the folder of each, and the stored files that they share.
//
//   COPY-OUT-1  A copy has its name once every part was read back from there with the digest of the manifest. A kill leaves `.part`, which the next
//               copy and the next start remove. What names another project stays: its copy may be under way.
//   COPY-OUT-2  What is removed here is removed there. A checkpoint that was never here stays: it may be of a host that was restored elsewhere.
//   COPY-OUT-3  A name is no identity: another project and a machine set up anew count from c1 too. A copy with another `id` is neither replaced nor removed.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
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

/** What a copy must share with the checkpoint that it is a copy of. */
export type Identity = Pick<Manifest, 'name' | 'id' | 'project'>;

/**
 * Throws `storage_unavailable` where the folder is missing or full, `checkpoint_damaged` where the copy differs, and `refused` where another
 * checkpoint has the name there.
 */
export async function copyOut({ project, to, name }: CopyOutOptions): Promise<void> {
  const folder = checkpointFolder(project, name);
  const manifest = readManifest(folder);
  const target = join(to, name);
  const part = unfinished(target);
  try {
    if (!(await stat(to)).isDirectory()) throw new Error('it is no folder');
    refuseOther(target, manifest);
    await removeUnfinished({ to, project: manifest.project });
    await rm(part, { recursive: true, force: true });
    await mkdir(join(to, SHARED_FILES), { recursive: true, mode: 0o700 });
    await mkdir(part, { mode: 0o700 });
    await writeFile(join(part, OWNER), manifest.project);
    for (const { path, sha256 } of [...manifest.parts, await ofManifest(folder)])
      await copyPart({ path, sha256 }, { project, folder, to, part });
    await rm(join(part, OWNER));
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

/** In a copy that is not whole yet: the id of its project. */
const OWNER = 'project-id';

/** Removes what kills have left of this project. Nothing where the folder is missing. */
export async function removeUnfinished({ to, project }: { readonly to: string; readonly project: string }) {
  let isShared = false;
  for (const name of (await readdir(to).catch(() => [])).filter((entry) => /^c\d+\.part$/.test(entry))) {
    const owner = await ownerOf(join(to, name));
    if (owner === undefined || owner === project) await rm(join(to, name), { recursive: true, force: true });
    else isShared = true;
  }
  if (isShared) return;
  for (const name of await readdir(join(to, SHARED_FILES)).catch(() => []))
    if (name.endsWith('.tmp')) await rm(join(to, SHARED_FILES, name), { force: true });
}

/** Undefined: it was cut before it was noted, or while it was removed. */
async function ownerOf(part: string): Promise<string | undefined> {
  const noted = await readFile(join(part, OWNER), 'utf8').catch(() => undefined);
  if (noted !== undefined) return noted;
  try {
    return readManifest(part).project;
  } catch {
    return undefined;
  }
}

/** COPY-OUT-3. */
function refuseOther(target: string, manifest: Manifest): void {
  if (!existsSync(target) || isCopyOf(target, manifest)) return;
  throw new SvcError('refused', `${manifest.name} was not copied: ${target} is another checkpoint`, {
    hint:
      'set recovery.copyTo to a folder of this project alone; to restore that one, copy it and the files/ beside it into ' +
      '.svc/checkpoints of a new project folder: it can be restored there, or exported and imported elsewhere',
  });
}

/** One that cannot be read is nobody's. */
function isCopyOf(target: string, { id, project }: Identity): boolean {
  try {
    const there = readManifest(target);
    return there.id === id && there.project === project;
  } catch {
    return false;
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
  removed,
}: {
  readonly to: string;
  readonly removed: readonly Identity[];
}): Promise<void> {
  for (const one of removed) {
    const target = join(to, one.name);
    if (!isCopyOf(target, one)) continue; // it was never copied, or is another one
    await rm(unfinished(target), { recursive: true, force: true });
    await rename(target, unfinished(target));
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
