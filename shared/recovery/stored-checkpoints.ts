// Reads which checkpoints lie in a project, without a host: for lists, status, doctor and the rules of pruning.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectPaths } from '../files/paths.ts';
import { CHECKPOINT_FILES, CHECKPOINT_NAME, checkpointFolder, verificationFile } from './layout.ts';
import type { MANIFEST_FORMAT, Manifest } from './manifest.ts';

/** Its module loads TypeBox, which a command and a start need not. */
const FORMAT: typeof MANIFEST_FORMAT = 'svc.checkpoint/1';

/** How far it is proven. `damaged`: its files are wrong. `failed`: its files are right, and its rehearsal found a fault. */
export type Level = 'made' | 'checked' | 'rehearsed' | 'failed' | 'damaged';

/** `c12.verified.json`. */
export interface Verification {
  /** RFC 3339, UTC. */
  readonly at: string;
  /** How far the verification went. */
  readonly level: 'checked' | 'rehearsed';
  readonly ok: boolean;
  /** Whether a fault is of the checkpoint's own files. Left out: no. */
  readonly isDamaged?: boolean;
  readonly ms: number;
  readonly svc: string;
  /** Number of the last migration, to which a rehearsal has brought it. */
  readonly schema?: number;
  readonly faults: readonly string[];
}

export interface StoredCheckpoint {
  readonly name: string;
  /** Rises with each checkpoint, whatever the clock says. */
  readonly number: number;
  /** Undefined: the manifest cannot be read, or is of another format. */
  readonly manifest: Manifest | undefined;
  readonly verification: Verification | undefined;
  /** Of all parts, shared files included. 0 without a manifest. */
  readonly bytes: number;
  readonly level: Level;
  /** Why it cannot be relied on; set with the levels `failed` and `damaged` alone. */
  readonly fault: string | undefined;
}

/** The newest first. Never throws. Manifests are read, not checked: `readManifest` does. */
export function storedCheckpoints(project: string): readonly StoredCheckpoint[] {
  return namesIn(projectPaths(project).checkpointsDir)
    .map((name) => readStored(project, name))
    .sort((a, b) => b.number - a.number);
}

/** Undefined: there is no such folder. */
export function storedCheckpoint(project: string, name: string): StoredCheckpoint | undefined {
  return namesIn(projectPaths(project).checkpointsDir).includes(name) ? readStored(project, name) : undefined;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => CHECKPOINT_NAME.test(name));
  } catch {
    return []; // none was made yet
  }
}

function readStored(project: string, name: string): StoredCheckpoint {
  const file = join(checkpointFolder(project, name), CHECKPOINT_FILES.manifest);
  const known = readJson(file) as Manifest | undefined;
  const isReadable = known?.format === FORMAT && known.name === name && Array.isArray(known.parts);
  const manifest = isReadable ? known : undefined;
  const verification = readVerification(project, name);
  const fault =
    manifest === undefined
      ? 'its manifest cannot be read'
      : verification?.ok === false
        ? (verification.faults[0] ?? 'its verification failed')
        : undefined;
  return {
    name,
    number: Number(name.slice(1)),
    manifest,
    verification,
    bytes: manifest?.parts.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0,
    level: levelOf(manifest, verification),
    fault,
  };
}

function levelOf(manifest: Manifest | undefined, verification: Verification | undefined): Level {
  if (manifest === undefined) return 'damaged';
  if (verification === undefined) return 'made';
  if (verification.ok) return verification.level;
  return verification.isDamaged === true ? 'damaged' : 'failed';
}

export function readVerification(project: string, name: string): Verification | undefined {
  const value = readJson(verificationFile(project, name)) as Verification | undefined;
  return typeof value?.at === 'string' && typeof value.ok === 'boolean'
    ? { ...value, faults: value.faults ?? [] }
    : undefined;
}

function readJson(file: string): unknown {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
