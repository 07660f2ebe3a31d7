// A checkpoint put together by hand from the state of a stopped project, and a Workroom host that leaves such a state. It serves tests of what reads
// checkpoints, so that they do not depend on what makes them.
import { createHash, randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stableJson } from '../../../shared/files/atomic-file.ts';
import { JOBS_FILE } from '../../../shared/jobs/job.ts';
import { CHECKPOINT_FILES, checkpointFolder, SHARED_FILES } from '../../../shared/recovery/layout.ts';
import { MANIFEST_FORMAT, type Manifest, readManifest } from '../../../shared/recovery/manifest.ts';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { VERSION } from '../../../shared/version.ts';
import { HTTP, running } from '../hosts/app-host.ts';
import type { Cleanup, TemporaryProject } from '../temporary-project.ts';

/** Folders and files of a project that are no code. */
const NO_CODE = new Set(['node_modules', 'dist', '.svc', 'data', '.git', '.env']);

export const JOBS = {
  version: 1,
  revision: 3,
  jobs: [
    {
      id: 'morning',
      cron: '0 9 * * *',
      do: { say: { to: { endpoint: 'sandbox', conversation: 'room' }, text: 'Good morning' } },
    },
  ],
} as const;

export interface StateOptions {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly project?: TemporaryProject;
  /** Null: no jobs file. */
  readonly jobs?: unknown;
}

/** The project of a Workroom host that has run and is stopped: a board, two items, a job, a file. */
export async function stoppedProject(
  t: Cleanup,
  { config, project, jobs = JOBS }: StateOptions = {},
): Promise<TemporaryProject> {
  const host = await running(t, {
    config: {
      host: { name: 'team', kind: 'workroom' },
      http: HTTP,
      plugins: { sandbox: {}, work: {}, echo: {} },
      ...config,
    },
    ...(project === undefined ? {} : { project }),
  });
  for (const command of [
    { kind: 'board.add', board: 'web', name: 'Web site' },
    { kind: 'member.add', member: 'ann' },
    { kind: 'new', board: 'web', title: 'Home page' },
    { kind: 'new', board: 'web', title: 'Prices' },
  ]) {
    const { status, text } = await host.call('POST', '/api/workroom/commands', command);
    if (status !== 200) throw new Error(text);
  }
  await host.app.stop(2_000);
  if (jobs !== null) host.project.write(JOBS_FILE, `${JSON.stringify(jobs, null, 2)}\n`);
  const picture = 'bytes of a picture';
  host.project.write(join('data', 'media', sha256(picture)), picture);
  return host.project;
}

/** Copies the state of a stopped project into `.svc/checkpoints/<name>/`. */
export function handMadeCheckpoint({ path: project, paths }: TemporaryProject, name = 'c1'): Manifest {
  const folder = checkpointFolder(project, name);
  const put = (from: string, to: string): void => {
    const file = join(folder, to);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    copyFileSync(from, file);
  };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = new Sqlite(paths.database);
  try {
    database.exec(`VACUUM INTO '${join(folder, CHECKPOINT_FILES.database)}'`);
  } finally {
    database.close();
  }
  const jobs = join(project, JOBS_FILE);
  if (existsSync(jobs)) put(jobs, CHECKPOINT_FILES.jobs);
  for (const file of filesBelow(project, (entry) => !NO_CODE.has(entry)))
    put(join(project, file), join(CHECKPOINT_FILES.project, file));
  const media = existsSync(paths.mediaDir) ? readdirSync(paths.mediaDir) : [];
  const shared = join(paths.checkpointsDir, SHARED_FILES);
  mkdirSync(shared, { recursive: true, mode: 0o700 });
  for (const file of media) copyFileSync(join(paths.mediaDir, file), join(shared, file));
  return writeManifest(project, name, {
    name,
    files: { count: media.length, bytes: sum(media.map((file) => statSync(join(shared, file)).size)) },
    media,
  });
}

/** Takes the manifest anew from what lies in the folder, so that a test can change a part and leave hashes and counts right. */
export function againManifest(project: string, name: string, change: Partial<Manifest> = {}): Manifest {
  const before = readManifest(checkpointFolder(project, name));
  const media = before.parts.flatMap(({ path }) => (path.startsWith(`${SHARED_FILES}/`) ? [path.slice(6)] : []));
  return writeManifest(project, name, { ...before, media, ...change });
}

function writeManifest(
  project: string,
  name: string,
  { media, ...given }: Partial<Manifest> & { readonly media: readonly string[] },
): Manifest {
  const folder = checkpointFolder(project, name);
  const file = join(folder, CHECKPOINT_FILES.database);
  const database = new Sqlite(file, { readonly: true });
  let facts: ReturnType<typeof factsOf>;
  try {
    facts = factsOf(database);
  } finally {
    database.close();
  }
  const { id, createdAt, name: named } = given;
  const manifest: Manifest = {
    format: MANIFEST_FORMAT,
    reason: null,
    svc: VERSION,
    node: process.versions.node,
    tz: { zone: 'UTC', tzdata: process.versions['tz'] ?? '' },
    commit: null,
    lockfile: existsSync(join(folder, 'project/package-lock.json'))
      ? { sha256: sha256(readFileSync(join(folder, 'project/package-lock.json'))) }
      : null,
    config: {
      version: 'sha256:0',
      sha256: sha256(readFileSync(join(folder, 'project/svc.config.yml'))),
      isRunning: false,
    },
    ...facts,
    jobs: jobsOf(join(folder, CHECKPOINT_FILES.jobs)),
    files: { count: 0, bytes: 0 },
    secrets: [],
    ...given,
    id: id ?? randomUUID(),
    name: named ?? name,
    createdAt: createdAt ?? new Date().toISOString(),
    parts: [
      ...filesBelow(folder)
        .filter((path) => path !== CHECKPOINT_FILES.manifest)
        .map((path) => partOf(join(folder, path), path)),
      ...media.map((path) => partOf(join(projectChecks(project), SHARED_FILES, path), `${SHARED_FILES}/${path}`)),
    ].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  };
  writeFileSync(join(folder, CHECKPOINT_FILES.manifest), stableJson(manifest), { mode: 0o600 });
  return manifest;
}

const projectChecks = (project: string): string => dirname(checkpointFolder(project, 'c1'));

function factsOf(database: Database) {
  const one = (text: string): unknown => database.prepare(text).pluck().get();
  const meta = (key: string): string => String(one(`SELECT value FROM meta WHERE key = '${key}'`));
  const counter = (name: string): number => Number(one(`SELECT value FROM counters WHERE name = '${name}'`));
  const tables = database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )
    .pluck()
    .all() as string[];
  const head = database.prepare('SELECT seq, hash FROM workroom_head').get() as { seq: number; hash: string };
  const migrations = database.prepare('SELECT id, sha256, breaking FROM migrations ORDER BY id').all() as {
    id: number;
    sha256: string;
    breaking: number;
  }[];
  return {
    project: meta('project_id'),
    schema: { migrations: migrations.map((row) => ({ ...row, breaking: row.breaking === 1 })) },
    database: {
      dialect: 'sqlite' as const,
      rows: Object.fromEntries(tables.map((table) => [table, Number(one(`SELECT count(*) FROM "${table}"`))])),
    },
    events: { epoch: meta('epoch'), head: counter('event'), oldest: counter('event_oldest') },
    generation: counter('generation'),
    journal: { store: 'database', ...head },
    catalog: { appliedSeq: Number(one('SELECT coalesce(max(applied_seq), 0) FROM workroom_catalog')) },
    open: {
      inbox: Number(one("SELECT count(*) FROM inbox WHERE state IN ('received', 'handling', 'waiting')")),
      outbox: Number(one("SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending', 'waiting')")),
    },
  };
}

function jobsOf(file: string): Manifest['jobs'] {
  if (!existsSync(file)) return { count: 0, revision: 0, targets: [] };
  try {
    const { jobs = [], revision = 0 } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly jobs?: readonly { readonly do?: { readonly say?: { readonly to?: { readonly endpoint?: string } } } }[];
      readonly revision?: number;
    };
    const targets = jobs.flatMap((job) => job.do?.say?.to?.endpoint ?? []);
    return { count: jobs.length, revision, targets: [...new Set(targets)] };
  } catch {
    return { count: 0, revision: 0, targets: [] };
  }
}

/** Paths of all files below, with `/`. */
export function filesBelow(folder: string, takes: (entry: string) => boolean = () => true): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => takes(name))
    .flatMap((entry) =>
      entry.isDirectory() ? filesBelow(join(folder, entry.name)).map((path) => `${entry.name}/${path}`) : [entry.name],
    );
}

const partOf = (file: string, path: string): Manifest['parts'][number] => {
  const bytes = readFileSync(file);
  return { path, bytes: bytes.length, sha256: sha256(bytes) };
};
export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
