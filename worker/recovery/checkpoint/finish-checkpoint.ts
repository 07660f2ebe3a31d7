// Completes a checkpoint after the barrier: project files, stored files, the search for secrets, digests, the manifest. The folder stays `.part`.
//
//   CHECKPOINT-1  No part holds a known secret in any spelling. A text that does refuses the checkpoint, with file and line. The database holds texts
//                 of people, so its hits are counted.
//   CHECKPOINT-2  The manifest is written last, and every file and name is synced before. The caller renames the folder.
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { stableJson } from '../../../shared/files/atomic-file.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { uuidv7 } from '../../../shared/identifiers.ts';
import { JOBS_FILE } from '../../../shared/jobs/job.ts';
import type { SecretRegistry } from '../../../shared/log/redaction.ts';
import { type KnownSecrets, printOf, registryOf, SHORTEST_SOUGHT } from '../../../shared/recovery/known-secrets.ts';
import { CHECKPOINT_FILES, SHARED_FILES } from '../../../shared/recovery/layout.ts';
import { MANIFEST_FORMAT, type Manifest } from '../../../shared/recovery/manifest.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { VERSION } from '../../../shared/version.ts';
import { checkBeside, checkedBefore, type RunningCheck } from './check-beside.ts';
import type { Digest } from './checked-copy.ts';
import { keepFile, type Part, storedNames, syncFolders, writePart } from './copied-files.ts';
import { type DatabaseFacts, examineDatabase } from './examine-database.ts';
import { type HeldFile, takeHeld } from './journal-files.ts';
import { ALWAYS, listProjectFiles, type ProjectFiles } from './project-files.ts';

/** Plain data: another process may do the work. */
export interface FinishOptions {
  readonly project: string;
  readonly name: string;
  /** The folder, with the database in it. */
  readonly folder: string;
  /** The database that was copied, which may lie among the code. */
  readonly database: string;
  readonly createdAt: string;
  readonly reason: string | null;
  readonly zone: string;
  readonly config: { readonly version: string; readonly isRunning: boolean };
  /** As they were at the barrier. Undefined: there was no such file. */
  readonly files: Readonly<Record<string, string | undefined>>;
  /** Files of the Workroom's journal, as they were at the barrier. */
  readonly journal: readonly HeldFile[];
  /** Of the database, whose pages were checked. Undefined: this is done here. */
  readonly digest?: Digest | undefined;
  readonly secrets: KnownSecrets;
  /** Key of the prints. Never stored here. */
  readonly key: string;
  /** Absolute paths in the project that are no code. */
  readonly without: readonly string[];
}

export interface Finished {
  readonly manifest: Manifest;
  readonly warnings: readonly string[];
  readonly secretHits: number;
}

/**
 * `facts`: of the database, where it was examined beside the copy; a failure of that is thrown by it. Default: the copy is examined. Throws `refused`
 * for a secret in a text, and `database_corrupt`.
 */
export async function finishCheckpoint(options: FinishOptions, facts?: () => DatabaseFacts): Promise<Finished> {
  const file = join(options.folder, CHECKPOINT_FILES.database);
  const registry = registryOf([...options.secrets.values, options.key]);
  const check = options.digest === undefined ? checkBeside(file, false) : checkedBefore(options.digest);
  try {
    const examine = facts ?? (() => examineDatabase(file, registry));
    return await finish(options, { registry, examine, check: check.result });
  } finally {
    await check.end();
  }
}

interface Examined {
  readonly registry: SecretRegistry;
  readonly examine: () => DatabaseFacts;
  readonly check: RunningCheck['result'];
}

async function finish(options: FinishOptions, { registry, examine, check }: Examined): Promise<Finished> {
  const { folder, project, secrets } = options;
  const database = await examined(examine, check);
  const listed = await listProjectFiles(project, [options.database, ...options.without]);
  const texts = await copyTexts(options, listed, registry);
  const media = await keepMedia(project, database.files);
  const held = await takeHeld(folder, options.journal, registry);
  const part = { path: CHECKPOINT_FILES.database, ...(await check) };
  const parts = [part, ...held.parts, ...texts.parts, ...media.parts].sort(byPath);
  const { rows, files: _files, secretHits: _hits, ...facts } = database;
  const secretHits = database.secretHits + held.hits;
  const lockfile = texts.parts.find(({ path }) => path === inProject('package-lock.json'));
  const config = texts.parts.find(({ path }) => path === inProject(ALWAYS[0]));
  const manifest: Manifest = {
    format: MANIFEST_FORMAT,
    id: uuidv7(),
    name: options.name,
    ...facts,
    createdAt: options.createdAt,
    reason: options.reason,
    svc: VERSION,
    node: process.version,
    tz: { zone: options.zone, tzdata: process.versions['tz'] ?? '' },
    commit: listed.commit,
    lockfile: lockfile === undefined ? null : { sha256: lockfile.sha256 },
    config: {
      version: options.config.version,
      sha256: config?.sha256 ?? '',
      isRunning: options.config.isRunning && texts.changed === 0,
    },
    database: { dialect: 'sqlite', rows },
    jobs: jobsOf(options.files[JOBS_FILE]),
    files: { count: media.parts.length, bytes: media.parts.reduce((sum, { bytes }) => sum + bytes, 0) },
    secrets: secrets.named.map((secret) => ({
      name: secret.name,
      print: printOf(Buffer.from(options.key, 'base64url'), secret),
    })),
    parts,
  };
  const text = stableJson(manifest);
  refuseSecrets(CHECKPOINT_FILES.manifest, Buffer.from(text), registry); // a path may hold one
  await writePart(folder, CHECKPOINT_FILES.manifest, text);
  await syncFolders(folder);
  return {
    manifest,
    secretHits,
    warnings: [...listed.warnings, ...texts.warnings, ...media.warnings, ...short(secrets)],
  };
}

/** What is damaged is told as such, wherever it was met first. */
async function examined(examine: () => DatabaseFacts, check: RunningCheck['result']): Promise<DatabaseFacts> {
  try {
    return examine();
  } catch (error) {
    await check;
    throw error;
  }
}

const byPath = (a: Part, b: Part): number => (a.path < b.path ? -1 : 1);
const inProject = (path: string): string => `${CHECKPOINT_FILES.project}/${path}`;

/** Jobs file and project files. Those read at the barrier are written as they were then. */
async function copyTexts(
  { project, folder, files, createdAt }: FinishOptions,
  listed: ProjectFiles,
  secrets: SecretRegistry,
): Promise<{ readonly parts: readonly Part[]; readonly warnings: readonly string[]; readonly changed: number }> {
  const parts: Part[] = [];
  const jobs = files[JOBS_FILE];
  if (jobs !== undefined) {
    refuseSecrets(JOBS_FILE, Buffer.from(jobs), secrets);
    parts.push(await writePart(folder, CHECKPOINT_FILES.jobs, jobs));
  }
  let changed = 0;
  for (const path of listed.paths) {
    const atBarrier = (ALWAYS as readonly string[]).includes(path);
    const content = atBarrier ? files[path] : await readFile(join(project, path)).catch(() => undefined);
    if (content === undefined) continue;
    if (!atBarrier && (await stat(join(project, path))).mtimeMs > Date.parse(createdAt)) changed += 1;
    const bytes = Buffer.from(content);
    refuseSecrets(path, bytes, secrets);
    parts.push(await writePart(folder, inProject(path), bytes));
  }
  const warnings = changed === 0 ? [] : [`${changed} project files changed while the checkpoint was made`];
  return { parts, warnings, changed };
}

/** Throws `refused` with file and line (CHECKPOINT-1). */
function refuseSecrets(path: string, bytes: Buffer, secrets: SecretRegistry): void {
  for (const text of bytes.includes(0) ? [bytes.toString('latin1')] : [bytes.toString('utf8')]) {
    const [hit] = secrets.find(text);
    if (hit === undefined) continue;
    const line = text.slice(0, hit.begin).split('\n').length;
    throw new SvcError('refused', `${path}:${line} holds a secret: no checkpoint was made`, {
      hint: 'Write ${NAME} in place of the value, and keep the value in .env. A value that was in a commit should be replaced.',
      details: { file: path, line },
    });
  }
}

const short = ({ named }: KnownSecrets): readonly string[] =>
  named
    .filter(({ value }) => value.length < SHORTEST_SOUGHT)
    .map(({ name }) => `${name} has under ${SHORTEST_SOUGHT} characters, so texts were not searched for it`);

function jobsOf(text: string | undefined): Manifest['jobs'] {
  try {
    const { jobs = [], revision = 0 } = JSON.parse(text ?? '{}') as {
      readonly jobs?: readonly { readonly do?: { readonly to?: unknown; readonly in?: unknown } }[];
      readonly revision?: number;
    };
    return { count: jobs.length, revision, targets: [...targetsOf(jobs)] };
  } catch {
    return { count: 0, revision: 0, targets: [] }; // kept as it is; the host refuses it as well
  }
}

/** Every `endpoint` that an action names. */
function targetsOf(value: unknown): readonly string[] {
  const found = new Set<string>();
  const look = (inner: unknown): void => {
    if (typeof inner !== 'object' || inner === null) return;
    for (const [key, deeper] of Object.entries(inner))
      if (key === 'endpoint' && typeof deeper === 'string') found.add(deeper);
      else look(deeper);
  };
  look(value);
  return [...found].sort();
}

/** Keeps each file of `data/media` that the database names. One that is gone meanwhile had no row that needed it. */
async function keepMedia(
  project: string,
  ids: readonly string[],
): Promise<{ readonly parts: readonly Part[]; readonly warnings: readonly string[] }> {
  const { mediaDir, checkpointsDir } = projectPaths(project);
  const shared = join(checkpointsDir, SHARED_FILES);
  const parts: Part[] = [];
  let lost = 0;
  for (const name of ids) {
    if (!(await keepFile(mediaDir, { shared, name }))) lost += 1;
    else parts.push({ path: `${SHARED_FILES}/${name}`, bytes: (await stat(join(shared, name))).size, sha256: name });
  }
  if (parts.length > 0) await syncFolders(shared);
  return { parts, warnings: lost === 0 ? [] : [`${lost} files of data/media are gone or damaged: they are not in it`] };
}

/** Before the barrier: what a retention deletes meanwhile is kept. */
export async function keepMediaBefore(project: string): Promise<void> {
  const { mediaDir, checkpointsDir } = projectPaths(project);
  for (const name of await storedNames(mediaDir))
    await keepFile(mediaDir, { shared: join(checkpointsDir, SHARED_FILES), name });
}
