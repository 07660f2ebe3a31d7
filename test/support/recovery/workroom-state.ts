// A Workroom host that has run and is stopped, its checkpoints, and the means to change a part of one.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { stableJson } from '../../../shared/files/atomic-file.ts';
import { JOBS_FILE } from '../../../shared/jobs/job.ts';
import { CHECKPOINT_FILES, checkpointFolder } from '../../../shared/recovery/layout.ts';
import { type Manifest, readManifest } from '../../../shared/recovery/manifest.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import { sql, statement } from '../../../worker/database/statement.ts';
import { makeStopped } from '../../../worker/recovery/checkpoint/make-stopped.ts';
import { HTTP, running } from '../hosts/app-host.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from '../temporary-project.ts';

export const job = (id: string, endpoint = 'sandbox') => ({
  id,
  cron: '0 9 * * *',
  do: { say: { to: { endpoint, conversation: 'room' }, text: 'Good morning' } },
});

export interface StateOptions {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly project?: TemporaryProject;
}

/** The project of a Workroom host that has run: a board, two items, a job, a stored file, a plugin. */
export async function stoppedWorkroom(t: Cleanup, { config, project }: StateOptions = {}): Promise<TemporaryProject> {
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
  host.project.write(JOBS_FILE, stableJson({ version: 1, revision: 3, jobs: [job('morning')] }));
  storeFile(host.project, 'bytes of a picture');
  return host.project;
}

function storeFile({ paths }: TemporaryProject, content: string): void {
  const id = sha256(content);
  mkdirSync(paths.mediaDir, { recursive: true });
  writeFileSync(join(paths.mediaDir, id), content);
  const core = new WriterCore({ file: paths.database, now: Date.now });
  core.open();
  const row = { id, name: 'a.png', mime: 'image/png', bytes: content.length, created_at: 1, fetched_at: null };
  core.run([{ name: 'test', statements: [statement(sql.insertInto('files').values(row))] }]);
  core.close();
}

/** The same files in a folder of their own: a host has to run once for many cases. */
function copyOf(t: Cleanup, { path, env, token }: TemporaryProject): TemporaryProject {
  const copy = temporaryProject(t, { config: null });
  cpSync(path, copy.path, { recursive: true, verbatimSymlinks: true });
  return { ...copy, env, token };
}

/** Called at the top of a test file. Gives each case a copy of one project with the checkpoint `c1`: its host runs once for all of them. */
export function workroomWithCheckpoint(): (t: Cleanup) => Promise<TemporaryProject> {
  const ends: (() => void | Promise<void>)[] = [];
  after(async () => {
    for (const end of ends) await end();
  });
  let made: Promise<TemporaryProject> | undefined;
  return async (t) => {
    made ??= stoppedWorkroom({ after: (end) => ends.unshift(end) }).then(async (project) => {
      await checkpointOf(project);
      return project;
    });
    return copyOf(t, await made);
  };
}

/** Makes a checkpoint as the command does. Returns its name. */
export async function checkpointOf({ path, env }: TemporaryProject): Promise<string> {
  return (await makeStopped({ project: path, environment: env, reason: null })).manifest.name;
}

/** Writes the manifest anew from what lies in the folder: hashes and sizes are right again, all else stays. */
export function rehash(project: string, name: string, change: Partial<Manifest> = {}): Manifest {
  const folder = checkpointFolder(project, name);
  const before = readManifest(folder);
  const shared = before.parts.filter(({ path }) => path.startsWith('files/'));
  const parts = filesBelow(folder)
    .filter((path) => path !== CHECKPOINT_FILES.manifest)
    .map((path) => {
      const bytes = readFileSync(join(folder, path));
      return { path, bytes: bytes.length, sha256: sha256(bytes) };
    });
  const manifest = { ...before, parts: [...parts, ...shared], ...change };
  writeFileSync(join(folder, CHECKPOINT_FILES.manifest), stableJson(manifest));
  return manifest;
}

/** Where a part lies. */
export function partFile(project: string, name: string, path: string): string {
  const folder = checkpointFolder(project, name);
  return join(path.startsWith('files/') ? dirname(folder) : folder, path);
}

/** Paths of all files below, with `/`. */
export function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)).map((path) => `${entry.name}/${path}`) : [entry.name],
  );
}

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
