// A restore of a stopped project, with real databases: the new state whole, the old one kept, and every refusal leaves all as it was.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkpointFolder } from '../../../shared/recovery/layout.ts';
import { readSwitch } from '../../../shared/recovery/switch.ts';
import { lockWriter } from '../../../worker/database/writer-lock.ts';
import {
  finishPending,
  type RestoreRequest,
  readRestorePlan,
  restore,
} from '../../../worker/recovery/restore/restore.ts';
import { due, insert, item, rowsOf, send, withDatabase } from '../../support/recovery/changed-rows.ts';
import { type StoppedProject, stoppedProject } from '../../support/recovery/stopped-project.ts';

const requestOf = (project: StoppedProject, more: Partial<RestoreRequest> = {}): RestoreRequest => ({
  project: project.path,
  environment: {},
  name: 'c1',
  carry: true,
  open: undefined,
  ...more,
});

/** Restores what the plan of this moment says. */
function restored(project: StoppedProject, more: Partial<RestoreRequest> = {}) {
  const request = requestOf(project, more);
  return restore({ ...request, digest: readRestorePlan(request).digest });
}

const metaOf = (project: StoppedProject): Readonly<Record<string, string>> =>
  Object.fromEntries(rowsOf(project.paths.database, 'SELECT key, value FROM meta') as [string, string][]);

/** Names and bytes of the state, without the checkpoints and what only one process has. */
function stateOf(project: StoppedProject): Readonly<Record<string, string>> {
  const { stateDir, dataDir } = project.paths;
  const passing = /writer\.lock|recovery\.(json|lock)|link\.key|checkpoints|-shm$/;
  const files = [stateDir, dataDir].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name)),
  );
  return Object.fromEntries(
    files.filter((file) => !passing.test(file)).map((file) => [file, hash('sha256', readFileSync(file))]),
  );
}

async function withCheckpoint(t: TestContext, before: (project: StoppedProject) => void = () => {}) {
  const project = stoppedProject(t);
  before(project);
  await project.make();
  return project;
}

describe('a restore', () => {
  it('brings the state of the checkpoint, as a new timeline, paused, and keeps the one before', async (t) => {
    const project = await withCheckpoint(t, (made) => made.store({ fact: 'then' }));
    project.store({ fact: 'now', other: 'since' });
    project.write('data/schedule-jobs.json', '{"version":1,"revision":9,"jobs":[]}');
    rmSync(join(project.paths.mediaDir, project.media));
    const before = metaOf(project);

    const plan = readRestorePlan(requestOf(project));
    const done = await restored(project);

    const after = metaOf(project);
    assert.deepEqual([plan.lost?.events, plan.lost?.jobs, plan.secrets, plan.now?.head], [1, 1, [], 3]);
    assert.deepEqual(done, { name: 'c1', replaced: 's1', lost: 1, carried: 0, notHeld: {} });
    assert.deepEqual([after['fact'], after['other'], after['project_id']], ['then', undefined, before['project_id']]);
    assert.notEqual(after['epoch'], before['epoch']);
    const { state, mode, by, until } = JSON.parse(after['ingress'] ?? '');
    assert.deepEqual([state, mode, by, until], ['paused', 'park', 'restore', null]);
    assert.equal(JSON.parse(project.read('data/schedule-jobs.json')).revision, 4);
    assert.equal(readFileSync(join(project.paths.mediaDir, project.media), 'utf8'), 'a picture');
    const rows = rowsOf(
      project.paths.database,
      'SELECT replaced, purpose, source, lost, carried, is_told FROM restores',
    );
    assert.deepEqual(rows, [['s1', 'restore', 'c1', 1, 0, 0]]);
    const kept = join(project.paths.replacedDir, 's1');
    assert.deepEqual(readdirSync(kept).toSorted(), ['data.sqlite', 'data.sqlite.known', 'jobs.json', 'replaced.json']);
    assert.deepEqual(rowsOf(join(kept, 'data.sqlite'), "SELECT value FROM meta WHERE key = 'fact'"), [['now']]);
    assert.deepEqual(
      ['restoring.part', 'switch.json', 'data.sqlite.known', 'data.sqlite-wal'].filter((name) =>
        existsSync(join(project.paths.stateDir, name)),
      ),
      [],
    );
  });

  it('names no stored file in its switch: however many are missing, it stays a file that a start reads', async (t) => {
    const project = await withCheckpoint(t);
    rmSync(project.paths.mediaDir, { recursive: true });
    const request = requestOf(project);
    const { digest } = readRestorePlan(request);

    await assert.rejects(restore({ ...request, digest, environment: { SVC_FAILPOINTS: 'restore.decided=error' } }));

    const renames = readSwitch(project.path)?.renames.map(({ to }) => to) ?? [];
    assert.deepEqual(renames.filter((to) => !to.startsWith('.svc/replaced/')).toSorted(), [
      '.svc/data.sqlite',
      'data/schedule-jobs.json',
    ]);
    assert.equal(finishPending(project.path)?.purpose, 'restore');
    assert.equal(readFileSync(join(project.paths.mediaDir, project.media), 'utf8'), 'a picture');
  });

  it('is undone the same way, and the undoing too', async (t) => {
    const project = await withCheckpoint(t, (made) => made.store({ fact: 'then' }));
    project.store({ fact: 'now' });
    await restored(project);

    const undone = await restored(project, { name: undefined });
    const afterUndo = metaOf(project)['fact'];
    const again = await restored(project, { name: undefined });

    assert.deepEqual([undone.name, undone.replaced, afterUndo], ['s1', 's2', 'now']);
    assert.deepEqual([again.name, again.replaced, metaOf(project)['fact']], ['s2', 's3', 'then']);
    project.write('svc.config.yml', `${project.read('svc.config.yml')}\nrecovery: { replacedDays: 0 }\n`);
    assert.throws(() => readRestorePlan(requestOf(project, { name: undefined })), { code: 'not_found' });
  });

  it('keeps alerts as they were told last, and silences as they are', async (t) => {
    const alert = (name: string, told: string | null) => ({
      name,
      key: '',
      labels: '{}',
      severity: 'warning',
      phase: 'firing',
      since: 1,
      value: 1,
      told,
      changes: '[]',
      is_flapping: 0,
    });
    const silence = (name: string) => ({ name, key: '', until: 9e15, reason: 'x', actor: 'token:full', at: 1 });
    const project = await withCheckpoint(t, ({ paths }) =>
      withDatabase(paths.database, (database) => {
        insert(database, 'alerts', alert('SvcBacklog', 'firing'), alert('SvcNotReady', null));
        insert(database, 'alert_silences', silence('SvcBacklog'));
      }),
    );
    withDatabase(project.paths.database, (database) => {
      database.exec("DELETE FROM alerts WHERE name = 'SvcBacklog'"); // its end was told
      database.exec("UPDATE alerts SET told = 'firing'");
      database.exec('DELETE FROM alert_silences');
      insert(database, 'alerts', alert('SvcPausedLong', 'firing'));
      insert(database, 'alert_silences', silence('SvcDiskLow'));
    });
    await restored(project);

    const { database } = project.paths;
    assert.deepEqual(rowsOf(database, 'SELECT name, told FROM alerts ORDER BY name'), [
      ['SvcNotReady', 'firing'],
      ['SvcPausedLong', 'firing'],
    ]);
    assert.deepEqual(rowsOf(database, 'SELECT name FROM alert_silences'), [['SvcDiskLow']]);
  });

  it('into an empty folder needs a word about open items, since nobody knows what became of them', async (t) => {
    const project = await withCheckpoint(t, (made) =>
      withDatabase(made.paths.database, (database) => {
        insert(database, 'inbox', item('open'), item('done', { state: 'done', done_at: 5 }));
        insert(database, 'outbox', send('open'));
      }),
    );
    for (const suffix of ['', '.known']) rmSync(`${project.paths.database}${suffix}`);
    const plan = readRestorePlan(requestOf(project));

    await assert.rejects(restored(project), { code: 'usage', message: /1 open items/ });
    const done = await restored(project, { open: 'drop' });

    assert.deepEqual([plan.now, plan.comesAlong, plan.open], [null, null, { items: 1, sends: 1 }]);
    assert.deepEqual([done.lost, done.carried], [0, 0]);
    assert.deepEqual(rowsOf(project.paths.database, 'SELECT id, state FROM inbox ORDER BY seq'), [
      ['open', 'done'],
      ['done', 'done'],
    ]);
    assert.deepEqual(rowsOf(project.paths.database, 'SELECT id, state, code FROM outbox'), [
      ['open', 'unknown', 'result_unknown'],
    ]);
  });

  for (const [what, from, bytes] of [
    ['is no database', 0, 4_096],
    ['is damaged in the middle', 8_192, 200_000],
  ] as const)
    it(`over a state that ${what} goes without it, and keeps it aside`, async (t) => {
      const project = await withCheckpoint(t, (made) => {
        made.store({ fact: 'then' });
        withDatabase(made.paths.database, (database) => insert(database, 'inbox', item('open')));
      });
      const content = readFileSync(project.paths.database);
      content.fill(0x5a, from, Math.min(content.length, from + bytes));
      writeFileSync(project.paths.database, content);

      const plan = readRestorePlan(requestOf(project));
      await assert.rejects(restored(project), { code: 'usage', message: /1 open items/ });
      await restored(project, { open: 'handle' });

      assert.ok(plan.unreadable !== null);
      assert.deepEqual([plan.comesAlong, plan.open?.items], [null, 1]);
      assert.equal(metaOf(project)['fact'], 'then');
      assert.deepEqual(readFileSync(join(project.paths.replacedDir, 's1', 'data.sqlite')), content);
      assert.deepEqual(rowsOf(project.paths.database, 'SELECT id, state FROM inbox'), [['open', 'received']]);
    });

  it('of a state that a crash left reads its log too', async (t) => {
    const project = await withCheckpoint(t);
    const folder = project.paths.stateDir;
    project.store({ fact: 'in the log' }, () => {
      for (const name of ['data.sqlite', 'data.sqlite-wal'])
        writeFileSync(join(folder, `${name}.crashed`), readFileSync(join(folder, name)));
    });
    for (const name of ['data.sqlite', 'data.sqlite-wal'])
      writeFileSync(join(folder, name), readFileSync(join(folder, `${name}.crashed`)));
    assert.equal(readRestorePlan(requestOf(project)).lost?.events, 1);

    await restored(project);
    await restored(project, { name: undefined });

    assert.equal(metaOf(project)['fact'], 'in the log');
  });

  it('carries the outcomes over', async (t) => {
    const project = await withCheckpoint(t, ({ paths }) =>
      withDatabase(paths.database, (database) => {
        insert(database, 'inbox', item('ends'), item('stays'), item('was-dead', { state: 'dead', done_at: 3 }));
        insert(database, 'outbox', send('goes-out'), send('waits', { state: 'waiting', next_at: 9 }));
        insert(database, 'due', due('task/gone', 'task', 5), due('task/stays', 'task', 6), due('cron/x', 'cron', 7));
        insert(database, 'endpoints', { endpoint: 'e', cursor: 'old', revision: 1 });
      }),
    );
    withDatabase(project.paths.database, (database) => {
      database.exec(
        `UPDATE inbox SET state = 'dead', done_at = 8, code = 'handler_failed', attempts = 5 WHERE id = 'ends'`,
      );
      database.exec(`UPDATE outbox SET state = 'sent', done_at = 8, platform_message = 'm' WHERE id = 'goes-out'`);
      database.exec("DELETE FROM due WHERE id = 'task/gone'");
      database.exec("UPDATE due SET at = 700 WHERE id = 'cron/x'");
      database.exec("UPDATE endpoints SET cursor = 'new'");
      database.exec("UPDATE counters SET value = 40 WHERE name = 'generation'");
      insert(
        database,
        'inbox',
        item('new'),
        item('handled', { state: 'done', done_at: 9, attempts: 1 }),
        item('half', { state: 'handling', attempts: 2 }),
      );
      insert(database, 'handler_runs', { item_id: 'half', handler: 'a', attempts: 1, verdict: 'done' });
      insert(database, 'outbox', send('reply', { item_id: 'handled' }), send('sent', { state: 'sent', done_at: 9 }));
      insert(database, 'due', due('task/new', 'task', 8));
    });

    const plan = readRestorePlan(requestOf(project));
    const done = await restored(project);

    const rows = (query: string): readonly unknown[] => rowsOf(project.paths.database, query);
    assert.deepEqual(rows('SELECT id, state, body IS NULL, attempts, code FROM inbox ORDER BY seq'), [
      ['ends', 'dead', 0, 5, 'handler_failed'],
      ['stays', 'received', 0, 0, null],
      ['was-dead', 'dead', 0, 0, null],
      ['new', 'received', 0, 0, null],
      ['handled', 'done', 1, 1, null],
      ['half', 'received', 0, 2, null],
    ]);
    assert.deepEqual(rows('SELECT item_id, verdict FROM handler_runs'), [['half', 'done']]);
    assert.deepEqual(rows('SELECT id, state, platform_message FROM outbox ORDER BY seq'), [
      ['goes-out', 'sent', 'm'],
      ['waits', 'pending', null],
      ['reply', 'pending', null],
    ]);
    assert.deepEqual(rows('SELECT id, at FROM due ORDER BY at'), [
      ['task/stays', 6],
      ['task/new', 8],
      ['cron/x', 700],
    ]);
    assert.deepEqual(rows('SELECT cursor FROM endpoints'), [['new']]);
    assert.deepEqual(rows("SELECT value FROM counters WHERE name = 'generation'"), [[40]]);
    assert.deepEqual(plan.comesAlong, {
      received: 3,
      waitingSends: 2,
      waitingTasks: 1,
      ids: 1,
      endedItems: 1,
      endedSends: 1,
      tasks: 2,
    });
    assert.deepEqual(plan.notUndone, { sends: { 'root/echo:echo': 2 } });
    assert.deepEqual([plan.lost?.handled, plan.lost?.tasks], [2, 0]);
    assert.equal(done.carried, 8);
  });
});

describe('a restore is refused, and all is as it was:', () => {
  const refusals: readonly (readonly [string, object, (project: StoppedProject) => Partial<RestoreRequest> | void])[] =
    [
      [
        'a part has other bytes',
        { code: 'checkpoint_damaged', message: /jobs\.json has another digest/ },
        ({ path }) => appendFileSync(join(checkpointFolder(path, 'c1'), 'jobs.json'), ' '),
      ],
      [
        'a part is missing',
        { code: 'checkpoint_damaged', message: /jobs\.json is missing/ },
        ({ path }) => rmSync(join(checkpointFolder(path, 'c1'), 'jobs.json')),
      ],
      [
        'a stored file is gone',
        { code: 'checkpoint_damaged', message: /missing/ },
        ({ paths, media }) => {
          rmSync(join(paths.checkpointsDir, 'files', media));
          rmSync(join(paths.mediaDir, media));
        },
      ],
      [
        'the manifest is cut',
        { code: 'checkpoint_damaged' },
        ({ path }) => writeFileSync(join(checkpointFolder(path, 'c1'), 'manifest.json'), '{'),
      ],
      ['there is no such checkpoint', { code: 'not_found' }, () => ({ name: 'c9' })],
      ['nothing was replaced yet', { code: 'not_found' }, () => ({ name: undefined })],
      [
        'the state is of another project',
        { code: 'checkpoint_foreign' },
        ({ store }) => store({ project_id: 'another' }),
      ],
      [
        'a breaking migration is not known',
        { code: 'schema_newer', hint: /install svc/ },
        ({ path }) =>
          changeManifest(path, (manifest) => {
            manifest['schema'] = { migrations: [{ id: 900, sha256: '0'.repeat(64), breaking: true }] };
          }),
      ],
      [
        'it is of another dialect',
        { code: 'refused', hint: /svc migrate/ },
        ({ path }) =>
          changeManifest(path, (manifest) => {
            manifest['database'] = { dialect: 'postgres', rows: {} };
          }),
      ],
      ['a switch is pending', { code: 'switch_pending' }, ({ paths }) => writeFileSync(paths.pendingSwitch, '{}')],
    ];
  for (const [why, error, change] of refusals)
    it(why, async (t) => {
      const project = await withCheckpoint(t);
      project.store({ fact: 'now' });
      const more = change(project) ?? {};
      const before = stateOf(project);

      await assert.rejects(async () => restored(project, more), error);

      assert.deepEqual(stateOf(project), before);
    });

  it('something runs', async (t) => {
    const project = await withCheckpoint(t);
    const request = requestOf(project);
    const { digest } = readRestorePlan(request);
    const record = { version: 1, pid: process.pid, start: '', boot: '', owner: 'daemon', mode: 'production' };
    const lock = lockWriter(project.paths);
    const { identify } = await import('../../../shared/process/process-identity.ts');
    writeFileSync(
      project.paths.workerRecord,
      JSON.stringify({ ...record, ...identify(process.pid), runtimeId: 'r', startedAt: 'now' }),
    );
    t.after(() => void lock.close());

    await assert.rejects(restore({ ...request, digest }), { code: 'already_running' });
  });

  it('the state has moved since the plan', async (t) => {
    const project = await withCheckpoint(t);
    const request = requestOf(project);
    const { digest } = readRestorePlan(request);
    project.store({ fact: 'later' });

    await assert.rejects(restore({ ...request, digest }), { code: 'conflict' });
    await assert.rejects(restore({ ...request, carry: false, digest: readRestorePlan(request).digest }), {
      code: 'conflict',
    });
    assert.equal(metaOf(project)['fact'], 'later');
  });
});

function changeManifest(project: string, change: (manifest: Record<string, unknown>) => void): void {
  const file = join(checkpointFolder(project, 'c1'), 'manifest.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  change(manifest);
  writeFileSync(file, JSON.stringify(manifest));
}
