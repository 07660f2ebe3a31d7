// Compares a checkpoint with its manifest: each part is there, has its size and its hash, and nothing lies beside.
import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CHECKPOINT_FILES, checkpointFolder, SHARED_FILES } from '../../../shared/recovery/layout.ts';
import type { Manifest } from '../../../shared/recovery/manifest.ts';
import { messageOf } from '../../../shared/svc-error.ts';
import { namesFault, quoted } from '../archive/names.ts';

export interface PartFault {
  /** Path of a part, the manifest, or a step of a start. */
  readonly part: string;
  readonly message: string;
  readonly remedy: string;
  /** The file itself is wrong. */
  readonly isDamage?: boolean;
}

type Part = Manifest['parts'][number];

/** Where a part lies. Shared files lie beside the folders of checkpoints. */
export function placeOfPart(project: string, name: string, path: string): string {
  const folder = checkpointFolder(project, name);
  return path.startsWith(`${SHARED_FILES}/`) ? join(dirname(folder), path) : join(folder, path);
}

/** Never throws for what is wrong with the checkpoint. */
export async function partFaults(project: string, name: string, manifest: Manifest): Promise<readonly PartFault[]> {
  const fault = namesFault(manifest.parts);
  if (fault !== undefined) return [damaged(CHECKPOINT_FILES.manifest, fault)];
  const faults: PartFault[] = [];
  for (const part of manifest.parts) {
    const message = await partFault(placeOfPart(project, name, part.path), part);
    if (message !== undefined) faults.push(damaged(part.path, message));
  }
  const known = new Set([CHECKPOINT_FILES.manifest, ...manifest.parts.map(({ path }) => path)]);
  for (const path of filesBelow(checkpointFolder(project, name)))
    if (!known.has(path)) faults.push({ ...damaged(path, 'is not in the manifest'), remedy: `remove ${quoted(path)}` });
  return faults;
}

async function partFault(file: string, { bytes, sha256 }: Part): Promise<string | undefined> {
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return 'is missing';
    if (!stat.isFile()) return 'is no regular file';
    if (stat.size !== bytes) return `has ${stat.size} bytes, the manifest says ${bytes}`;
    return (await hashOf(file)) === sha256 ? undefined : 'was changed: its hash differs from the manifest';
  } catch (error) {
    return `cannot be read: ${messageOf(error)}`;
  }
}

export async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1_048_576 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)).map((path) => `${entry.name}/${path}`) : [entry.name],
  );
}

export const damaged = (part: string, message: string): PartFault => ({
  part,
  message,
  remedy: 'restore another checkpoint',
  isDamage: true,
});
