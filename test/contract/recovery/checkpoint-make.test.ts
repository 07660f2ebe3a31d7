// A checkpoint of a stopped host: whole and of one moment, or not there.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { projectPaths } from '../../../shared/files/paths.ts';
import { identify } from '../../../shared/process/process-identity.ts';
import { checkpointFolder } from '../../../shared/recovery/layout.ts';
import { readManifest } from '../../../shared/recovery/manifest.ts';
import { storedCheckpoints } from '../../../shared/recovery/stored-checkpoints.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { lockWriter } from '../../../worker/database/writer-lock.ts';
import { lockRecovery } from '../../../worker/recovery/checkpoint/lock.ts';
import { makeRunning } from '../../../worker/recovery/checkpoint/make-running.ts';
import { makeStopped } from '../../../worker/recovery/checkpoint/make-stopped.ts';
import { gitIn } from '../../support/git-repository.ts';
import { copyHost } from '../../support/recovery/copy-host.ts';
import { stoppedProject } from '../../support/recovery/stopped-project.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';
import { withFile } from '../../support/workroom/room.ts';

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

describe('a checkpoint of a stopped host', () => {
  it('holds the database as one file, the jobs, the project and the stored files, each with its digest', async (t) => {
    const project = stoppedProject(t);

    const name = await project.make('before the move');

    const folder = checkpointFolder(project.path, name);
    const manifest = readManifest(folder);
    assert.deepEqual(filesBelow(folder), [
      'data.sqlite',
      'jobs.json',
      'manifest.json',
      'project/package-lock.json',
      'project/package.json',
      'project/plugins/own/index.js',
      'project/svc.config.yml',
    ]);
    for (const { path, bytes, sha256: digest } of manifest.parts) {
      const file = path.startsWith('files/') ? join(project.paths.checkpointsDir, path) : join(folder, path);
      assert.deepEqual([path, statSync(file).size, sha256(file)], [path, bytes, digest]);
    }
    assert.equal(manifest.parts.length, 7);
    const { name: named, project: id, reason, svc, node, tz, commit, events, jobs, files, journal } = manifest;
    assert.deepEqual(
      { named, id, reason, svc, node, commit, events, jobs, files, journal, zone: tz.zone },
      {
        named: 'c1',
        id: 'p-1',
        reason: 'before the move',
        svc: '0.0.0-dev',
        node: process.version,
        commit: null,
        events: { epoch: 'abcdefghijklmnop', head: 1, oldest: 1 },
        jobs: { count: 1, revision: 4, targets: ['echo'] },
        files: { count: 1, bytes: 9 },
        journal: null,
        zone: 'UTC',
      },
    );
    assert.equal(manifest.config.isRunning, false);
    assert.equal(manifest.config.sha256, sha256(project.paths.config));
    assert.equal(manifest.lockfile?.sha256, sha256(project.paths.lockfile));
    assert.equal(manifest.database.rows['files'], 1);
    assert.ok(manifest.schema.migrations.length > 10);
    assert.deepEqual(readdirSync(project.paths.checkpointsDir).sort(), ['c1', 'files']);
  });

  it('reads what the last crash left in the WAL, and is readable without leaving a file beside it', async (t) => {
    const project = stoppedProject(t);
    const { database } = project.paths;
    const files = [database, `${database}-wal`];
    project.store({ late: 'row' }, () => files.forEach((file) => copyFileSync(file, `${file}.kept`)));
    files.forEach((file) => renameSync(`${file}.kept`, file)); // as a kill leaves them

    const name = await project.make();

    const file = join(checkpointFolder(project.path, name), 'data.sqlite');
    const copy = openReadOnly(file);
    const row = copy.prepare("SELECT value FROM meta WHERE key = 'late'").get();
    copy.close();
    assert.deepEqual(row, { value: 'row' });
    assert.ok(!existsSync(`${file}-wal`) && !existsSync(`${file}-shm`));
  });

  it('counts up, and never gives a number twice although the former checkpoint is gone', async (t) => {
    const project = stoppedProject(t);
    mkdirSync(join(project.paths.checkpointsDir, 'c7.part'), { recursive: true });

    assert.equal(await project.make(), 'c1');
    assert.equal(await project.make(), 'c2');

    assert.deepEqual(
      storedCheckpoints(project.path).map(({ name, level }) => [name, level]),
      [
        ['c2', 'made'],
        ['c1', 'made'],
      ],
    );
    assert.ok(!existsSync(join(project.paths.checkpointsDir, 'c7.part')), 'what a kill left is removed');
  });

  it('takes the code that git tracks, with the commit and whether it was changed', async (t) => {
    const project = stoppedProject(t);
    const git = gitIn(project.path, temporaryProject(t, { config: null }).path);
    git('init', '-q');
    project.write('.gitignore', '.svc\ndata\n.env\nsvc.config.yml\n');
    git('add', '-A');
    git('commit', '-qm', 'first');
    project.write('untracked.txt', 'no');

    const manifest = readManifest(checkpointFolder(project.path, await project.make()));

    assert.deepEqual(manifest.commit, { id: git('rev-parse', 'HEAD'), dirty: true });
    assert.deepEqual(
      manifest.parts.map(({ path }) => path).filter((path) => path.startsWith('project/')),
      [
        'project/.gitignore',
        'project/package-lock.json',
        'project/package.json',
        'project/plugins/own/index.js',
        'project/svc.config.yml',
      ],
    );
  });

  it('leaves out files that exist to hold a secret, and links that lead out of the project', async (t) => {
    const project = stoppedProject(t);
    for (const name of ['.npmrc', 'tls/host.pem', 'tls/HOST.KEY', 'link.key', '.env.production'])
      project.write(name, 'x');
    project.write('.env.example', 'HTTP_TOKEN=\n');
    symlinkSync(join(project.path, '.env'), join(project.path, 'linked-env'));
    symlinkSync('/etc/hostname', join(project.path, 'outside'));
    symlinkSync(join(project.path, 'plugins/own/index.js'), join(project.path, 'inside.js'));

    const made = await makeStopped({ project: project.path, environment: {}, reason: null });

    const kept = made.manifest.parts.map(({ path }) => path);
    assert.deepEqual(
      kept.filter((path) => /env|key|pem|npmrc|outside|inside/i.test(path)),
      ['project/.env.example', 'project/inside.js'],
    );
    assert.deepEqual(made.warnings, ['left out 1 symbolic links that lead out of the project']);
  });
});

describe('a checkpoint of a large database, which is checked in a thread', () => {
  it('has the digest of the copy, counts each value that holds a secret once, and tells how far it is', async (t) => {
    const secret = 'a-secret-of-the-shop-+/-0123456789';
    const project = stoppedProject(t, { env: { SHOP_TOKEN: secret } });
    grow(project.paths.database);
    project.store({
      plain: `it is ${secret}, and again ${secret}`,
      escaped: `a \\ and ${encodeURIComponent(secret)}`,
      parted: `${secret.slice(0, 20)}\u001e${secret.slice(20)}`,
      none: 'nothing',
    });
    const told: number[] = [];

    const made = await makeStopped({
      project: project.path,
      environment: {},
      reason: null,
      onProgress: ({ copied, of }) => told.push(copied / of),
    });

    const file = join(checkpointFolder(project.path, made.manifest.name), 'data.sqlite');
    const part = made.manifest.parts.find(({ path }) => path === 'data.sqlite');
    assert.deepEqual(part, { path: 'data.sqlite', bytes: statSync(file).size, sha256: sha256(file) });
    assert.equal(made.secretHits, 2);
    assert.ok(told.length > 10 && (told[0] ?? 1) < 0.1 && (told.at(-1) ?? 0) > 0.9, told.join());
    assert.deepEqual(
      told,
      told.toSorted((a, b) => a - b),
    );
    assert.equal(made.manifest.database.rows['cells'], LARGE_ROWS);
  });

  it('is not made where a page of it is damaged', async (t) => {
    const project = stoppedProject(t);
    grow(project.paths.database);
    const bytes = readFileSync(project.paths.database);
    bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 8_192);
    writeFileSync(project.paths.database, bytes);

    await assert.rejects(project.make(), { code: 'database_corrupt', message: /^the database is damaged: / });

    assert.deepEqual(
      readdirSync(project.paths.checkpointsDir).filter((name) => name !== 'files'),
      [],
    );
  });
});

describe('a checkpoint that cannot be made', () => {
  it('is refused beside a worker that holds the writer lock', async (t) => {
    const project = stoppedProject(t);
    const lock = lockWriter(projectPaths(project.path));
    t.after(() => lock.close());
    writeFileSync(
      project.paths.workerRecord,
      JSON.stringify({
        ...IDENTITY(),
        version: 1,
        runtimeId: 'r',
        owner: 'foreground',
        mode: 'production',
        startedAt: 'now',
      }),
    );

    await assert.rejects(project.make(), { code: 'already_running' });
    assert.ok(!existsSync(project.paths.checkpointsDir));
  });

  it('is refused while another one is made', async (t) => {
    const project = stoppedProject(t);
    const lock = lockRecovery(project.path);

    await assert.rejects(project.make(), { code: 'conflict' });
    lock.release();

    assert.equal(await project.make(), 'c1');
  });

  it('leaves nothing but a spent number where the database is damaged', async (t) => {
    const project = stoppedProject(t);
    const bytes = readFileSync(project.paths.database);
    bytes.fill(0xff, 8_192 * 3, 8_192 * 6);
    writeFileSync(project.paths.database, bytes);

    await assert.rejects(project.make());

    assert.deepEqual(
      readdirSync(project.paths.checkpointsDir).filter((name) => name !== 'files'),
      [],
    );
  });

  it('is refused before it begins where the disk has no room for the database and a tenth', async (t) => {
    const project = stoppedProject(t);
    truncateSync(project.paths.database, 2 ** 43);

    await assert.rejects(project.make(), { code: 'storage_unavailable', message: /^no room for a checkpoint in / });

    assert.deepEqual(readdirSync(project.paths.checkpointsDir), []);
    assert.ok(!existsSync(project.paths.recoveryNumbers), 'no number is spent');
  });

  it('says that there is no database yet', async (t) => {
    const project = stoppedProject(t, { config: { database: { filename: 'elsewhere/bot.sqlite' } } });

    await assert.rejects(project.make(), { code: 'not_found' });
  });
});

describe('a checkpoint of a running host that stops', () => {
  it('removes the folder once the process that completes it has ended, then frees the lock', async (t) => {
    const { host, file, folder } = await copyHost(t);
    const project = dirname(folder);
    const stop = new AbortController();
    const started = startedProcesses(t);
    let atWork = 0;

    const making = makeRunning({
      project,
      database: file,
      reason: null,
      zone: 'UTC',
      config: { version: 'v', isRunning: true },
      secrets: { named: [], values: [] },
      key: Buffer.alloc(32).toString('base64url'),
      without: [],
      now: Date.now,
      writer: host,
      maxLogBytes: 2 ** 30,
      signal: stop.signal,
      point: (name) => {
        if (name === 'checkpoint.copied')
          setImmediate(() => {
            atWork = running(started);
            stop.abort(new SvcError('draining', 'the host is stopping'));
          });
      },
    });
    const settled = assert.rejects(making, { code: 'draining' }).then(() => running(started));
    const { checkpointsDir } = projectPaths(project);
    await until(() => atWork > 0 && !existsSync(join(checkpointsDir, 'c1.part')), { what: 'the removal' });
    const atRemoval = running(started);

    assert.deepEqual([atWork, atRemoval, await settled], [1, 0, 0]);
    assert.deepEqual(readdirSync(checkpointsDir), ['files']);
    lockRecovery(project).release();
  });
});

/** Children of this process from now on. */
function startedProcesses(t: TestContext): ChildProcess[] {
  const started: ChildProcess[] = [];
  const take = (message: unknown): void => void started.push((message as { readonly process: ChildProcess }).process);
  subscribe('child_process', take);
  t.after(() => unsubscribe('child_process', take));
  return started;
}

const running = (started: readonly ChildProcess[]): number =>
  started.filter(({ pid, exitCode, signalCode }) => pid !== undefined && exitCode === null && signalCode === null)
    .length;

const LARGE_ROWS = 20_000;

/** 40 MiB of cells. */
function grow(file: string): void {
  withFile(file, (database) =>
    database
      .prepare(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        INSERT INTO cells SELECT 'plugin', 'own', i, '"' || hex(randomblob(1000)) || '"', 1 FROM n`)
      .run(LARGE_ROWS),
  );
}

const IDENTITY = () => identify(process.pid) ?? { pid: process.pid, start: 'unknown', boot: 'unknown' };
