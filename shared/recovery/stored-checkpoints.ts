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
  /** SHA-256 of the manifest that was verified. */
  readonly manifest?: string;
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

/**
 * The newest whose rehearsal, or whose own files, told whether it can be relied on: if it cannot. A check of hashes alone settles nothing: the fault
 * may lie beside the files, and the next checkpoint would have it too.
 */
export function failedCheckpoint(all: readonly StoredCheckpoint[]): StoredCheckpoint | undefined {
  const settled = all.find(({ level, manifest }) => level !== 'made' && level !== 'checked' && !isImported(manifest));
  return settled?.fault === undefined ? undefined : settled;
}

/** One that came from elsewhere may be of another svc, and says nothing of those that are made here. */
const isImported = (manifest: Manifest | undefined): boolean => manifest?.imported !== undefined;

/** The newest one, as a status shows it. */
export interface NewestCheckpoint {
  readonly name: string;
  /** Null: its manifest cannot be read. */
  readonly at: string | null;
  readonly level: Level;
  readonly verifiedAt: string | null;
  /** Why it cannot be relied on. */
  readonly fault: string | null;
  /** The one that failed last, itself or an older one. Null once a newer one was rehearsed without a fault. */
  readonly failed: string | null;
  /** The newest that no verification found a fault in. */
  readonly good: string | null;
}

/** Null before the first. */
export function newestCheckpoint(project: string): NewestCheckpoint | null {
  const all = storedCheckpoints(project);
  const [newest] = all;
  if (newest === undefined) return null;
  const { name, level, manifest, verification, fault } = newest;
  return {
    name,
    at: manifest?.createdAt ?? null,
    level,
    verifiedAt: verification?.at ?? null,
    fault: fault ?? null,
    failed: failedCheckpoint(all)?.name ?? null,
    good: all.find((one) => one.fault === undefined)?.name ?? null,
  };
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
