// Work that is open in the restored state and missing in the replaced one. It has ended only where the replaced state came from the restored one.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Database } from '../../../shared/sqlite.ts';
import { loadProjectState } from '../../../worker/database/project-state.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import { GroupingWriter, inlineRunner } from '../../../worker/database/writer.ts';
import { type RestoreRequest, readRestorePlan, restore } from '../../../worker/recovery/restore/restore.ts';
import { insert, item, rowsOf, send, withDatabase } from '../../support/recovery/changed-rows.ts';
import { type StoppedProject, stoppedProject } from '../../support/recovery/stopped-project.ts';

/** Restores a checkpoint; without a name, the newest replaced state. Returns what the plan said that comes along. */
async function bring(project: StoppedProject, name?: string, more: Partial<RestoreRequest> = {}) {
  const request = { project: project.path, environment: {}, name, carry: true, open: undefined, ...more };
  const { digest, comesAlong } = readRestorePlan(request);
  await restore({ ...request, digest });
  return comesAlong;
}

const change = (project: StoppedProject, statements: string): void =>
  withDatabase(project.paths.database, (database) => void database.exec(statements));

const states = ({ paths }: StoppedProject, table: 'inbox' | 'outbox') =>
  Object.fromEntries(
    rowsOf(paths.database, `SELECT id, state FROM ${table} ORDER BY id`) as (readonly [string, string])[],
  );

/** With an event, as a host stores them. */
function storeOpen(project: StoppedProject): void {
  withDatabase(project.paths.database, (database) => {
    insert(database, 'inbox', item('parked'));
    insert(database, 'outbox', send('waiting'));
  });
  project.store({ stored: 'open' });
}

function storeFailed(project: StoppedProject): void {
  withDatabase(project.paths.database, (database) => {
    insert(database, 'outbox', send('dead', { state: 'dead', done_at: 9, code: 'x' }));
    insert(database, 'outbox', send('unknown', { state: 'unknown', done_at: 9 }));
  });
  project.store({ stored: 'failed' });
}

/** As a start on a file that was copied. */
async function startOnCopy({ paths }: StoppedProject): Promise<boolean> {
  const core = new WriterCore({ file: paths.database, now: Date.now });
  core.open();
  const reader = new SqliteReader(() => openReadOnly(paths.database));
  const { isCopy } = await loadProjectState(new GroupingWriter(inlineRunner(core)), reader, { born: 'later' });
  reader.close();
  core.close();
  return isCopy;
}

const RETENTION = "DELETE FROM inbox WHERE id = 'parked'; DELETE FROM outbox WHERE id = 'waiting'";

async function withOlder(t: TestContext): Promise<StoppedProject> {
  const project = stoppedProject(t);
  await project.make();
  return project;
}

describe('open work that the replaced state never had', () => {
  it('stays open after the undo of a restore with which nothing came along', async (t) => {
    const project = await withOlder(t);
    storeOpen(project);
    await bring(project, 'c1', { carry: false });

    const along = await bring(project);

    assert.deepEqual([along?.endedItems, along?.endedSends], [0, 0]);
    assert.deepEqual(states(project, 'inbox'), { parked: 'received' });
    assert.deepEqual(states(project, 'outbox'), { waiting: 'pending' });
  });

  it('stays open in a newer checkpoint that is restored after an older one', async (t) => {
    const project = await withOlder(t);
    storeOpen(project);
    await project.make();
    await bring(project, 'c1', { carry: false });

    const along = await bring(project, 'c2');

    assert.deepEqual([along?.endedItems, along?.endedSends], [0, 0]);
    assert.deepEqual(states(project, 'inbox'), { parked: 'received' });
    assert.deepEqual(states(project, 'outbox'), { waiting: 'pending' });
  });

  it('stays open where an older copy of the same timeline lay here', async (t) => {
    const project = stoppedProject(t);
    storeOpen(project);
    project.store({ fact: 'then' });
    await project.make();
    change(project, `${RETENTION}; UPDATE counters SET value = value - 1 WHERE name = 'event'`);

    await bring(project, 'c1');

    assert.deepEqual(states(project, 'inbox'), { parked: 'received' });
    assert.deepEqual(states(project, 'outbox'), { waiting: 'pending' });
  });

  it('stays dead and unknown after an undo', async (t) => {
    const project = await withOlder(t);
    storeFailed(project);
    await bring(project, 'c1');

    await bring(project);

    assert.deepEqual(states(project, 'outbox'), { dead: 'dead', unknown: 'unknown' });
  });

  it('stays dead and unknown where a restore in between was of another checkpoint', async (t) => {
    const project = await withOlder(t);
    storeFailed(project);
    await project.make();
    await bring(project, 'c2');
    await bring(project, 'c1');

    await bring(project, 'c2');

    assert.deepEqual(states(project, 'outbox'), { dead: 'dead', unknown: 'unknown' });
  });
});

describe('open work that the replaced state had, and retention removed there', () => {
  it('has ended in the timeline of the checkpoint', async (t) => {
    const project = stoppedProject(t);
    storeOpen(project);
    await project.make();
    change(project, RETENTION);

    const along = await bring(project, 'c1');

    assert.deepEqual([along?.endedItems, along?.endedSends], [1, 1]);
    assert.deepEqual(states(project, 'inbox'), { parked: 'done' });
    assert.deepEqual(states(project, 'outbox'), { waiting: 'sent' });
  });

  it('has ended in the timeline of the checkpoint, also after a restore and its undo', async (t) => {
    const project = stoppedProject(t);
    storeOpen(project);
    await project.make();
    change(project, RETENTION);
    await bring(project, 'c1');
    await bring(project);

    await bring(project, 'c1');

    assert.deepEqual(states(project, 'inbox'), { parked: 'done' });
    assert.deepEqual(states(project, 'outbox'), { waiting: 'sent' });
  });

  it('has ended after the restore with which it came along, and the undo', async (t) => {
    const project = await withOlder(t);
    storeOpen(project);
    await bring(project, 'c1');
    assert.deepEqual(states(project, 'inbox'), { parked: 'received' });
    change(project, RETENTION);

    const along = await bring(project);

    assert.deepEqual([along?.endedItems, along?.endedSends], [1, 1]);
    assert.deepEqual(states(project, 'inbox'), { parked: 'done' });
    assert.deepEqual(states(project, 'outbox'), { waiting: 'sent' });
  });

  it('has ended where an older checkpoint is restored after a newer one', async (t) => {
    const project = stoppedProject(t);
    storeOpen(project);
    await project.make();
    change(project, RETENTION);
    project.store({ fact: 'later' });
    await project.make();
    await bring(project, 'c2');

    await bring(project, 'c1');

    assert.deepEqual(states(project, 'inbox'), { parked: 'done' });
    assert.deepEqual(states(project, 'outbox'), { waiting: 'sent' });
  });

  it('has ended where a copy of the file was put in its place, which began a timeline of its own', async (t) => {
    const project = stoppedProject(t);
    storeOpen(project);
    await project.make();
    change(project, `${RETENTION}; INSERT INTO meta (key, value) VALUES ('file_born', 'before')`);
    assert.equal(await startOnCopy(project), true);

    await bring(project, 'c1');

    assert.deepEqual(states(project, 'inbox'), { parked: 'done' });
    assert.deepEqual(states(project, 'outbox'), { waiting: 'sent' });
  });

  it('has ended in the state that was restored from this very checkpoint', async (t) => {
    const project = stoppedProject(t);
    storeOpen(project);
    await project.make();
    await bring(project, 'c1');
    change(project, RETENTION);

    const along = await bring(project, 'c1');

    assert.deepEqual([along?.endedItems, along?.endedSends], [1, 1]);
    assert.deepEqual(states(project, 'inbox'), { parked: 'done' });
    assert.deepEqual(states(project, 'outbox'), { waiting: 'sent' });
  });
});

describe('a restore', () => {
  for (const carry of [true, false])
    it(`gives no number twice and forgets no start, ${carry ? 'with' : 'without'} carry`, async (t) => {
      const start = (number: number) => ({
        runtime_id: `r${number}`,
        number,
        at: number,
        pid: 1,
        owner: 'daemon',
        version: '0',
        node: 'v',
        previous_end: number === 3 ? 'crashed' : 'stopped',
      });
      const count = (database: Database, values: Readonly<Record<string, number>>): void => {
        for (const [name, value] of Object.entries(values))
          database.prepare('INSERT OR REPLACE INTO counters (name, value) VALUES (?, ?)').run(name, value);
      };
      const project = stoppedProject(t);
      withDatabase(project.paths.database, (database) => {
        count(database, { authority: 5, generation: 9, 'starts.crashed': 0, 'starts.stopped': 2, event: 7 });
        insert(database, 'starts', start(1), start(2));
      });
      await project.make();
      withDatabase(project.paths.database, (database) => {
        count(database, { authority: 8, generation: 4, 'starts.crashed': 1, event: 70 });
        insert(database, 'starts', start(3));
      });

      await bring(project, 'c1', { carry, open: 'handle' });

      const rows = (query: string): readonly unknown[] => rowsOf(project.paths.database, query);
      assert.deepEqual(
        rows(
          "SELECT name, value FROM counters WHERE name IN ('authority', 'generation') OR name LIKE 'starts.%' ORDER BY name",
        ),
        [
          ['authority', 8],
          ['generation', 9],
          ['starts.crashed', 1],
          ['starts.stopped', 2],
        ],
      );
      assert.deepEqual(rows("SELECT value FROM counters WHERE name = 'event'"), [[7]]);
      assert.deepEqual(rows('SELECT runtime_id, previous_end FROM starts ORDER BY number'), [
        ['r1', 'stopped'],
        ['r2', 'stopped'],
        ['r3', 'crashed'],
      ]);
    });
});
