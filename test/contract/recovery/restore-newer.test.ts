// A restore over the state of a newer svc, whose schema this one does not open: what came in since comes along all the same.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Sqlite } from '../../../shared/sqlite.ts';
import { planLines } from '../../../supervisor/cli/output/restore-text.ts';
import { migrate } from '../../../worker/database/migrate.ts';
import { MIGRATIONS } from '../../../worker/database/migrations/list.ts';
import { compareStates } from '../../../worker/recovery/restore/compare-states.ts';
import { readRestorePlan, restore } from '../../../worker/recovery/restore/restore.ts';
import { type State, stateOf } from '../../../worker/recovery/restore/state-reader.ts';
import { insert, item, rowsOf, send, withDatabase } from '../../support/recovery/changed-rows.ts';
import { stoppedProject } from '../../support/recovery/stopped-project.ts';

const NEWER = { id: 9_000, name: '9000-shades', breaking: 1, sha256: '0'.repeat(64), applied_at: 1 };

/** A checkpoint, and a newer svc that has changed the schema since. */
async function upgraded(t: TestContext, statement: string) {
  const project = stoppedProject(t);
  withDatabase(project.paths.database, (database) => insert(database, 'inbox', item('open')));
  await project.make();
  withDatabase(project.paths.database, (database) => {
    database.exec(statement);
    insert(database, 'migrations', NEWER);
    database.pragma(`user_version = ${NEWER.id}`);
  });
  const request = { project: project.path, environment: {}, name: 'c1', carry: true, open: 'handle' } as const;
  return { project, request };
}

describe('a restore over the state of a newer svc', () => {
  it('carries what was parked, handled and sent there, and brings the schema of before', async (t) => {
    const { project, request } = await upgraded(
      t,
      "ALTER TABLE inbox ADD COLUMN shade TEXT NOT NULL DEFAULT 'plain'; ALTER TABLE outbox ADD COLUMN shade TEXT; CREATE TABLE shades (name TEXT)",
    );
    withDatabase(project.paths.database, (database) => {
      insert(database, 'inbox', item('parked'), item('handled', { state: 'done', done_at: 2 }));
      insert(database, 'outbox', send('waits'));
      insert(database, 'shades', { name: 'dark' }, { name: 'light' });
      insert(database, 'endpoints', { endpoint: 'root/echo:echo', enabled: 0, revision: 1 });
    });

    const plan = readRestorePlan(request);
    const { notHeld } = await restore({ ...request, digest: plan.digest });

    // The parked one alone is stored anew: of the handled one the id comes along, and of the open one its end.
    assert.deepEqual([plan.notHeld, notHeld], [{ 'inbox.shade': 1, shades: 2 }, plan.notHeld]);
    const lines = planLines(plan, Date.now());
    assert.ok(
      lines.includes(
        'NOT HELD     inbox.shade of 1 row, shades of 2 rows: the schema of the checkpoint has no place for it',
      ),
      lines.join('\n'),
    );
    assert.match(lines[1] ?? '', /^now +schema 9000 \(breaking, newer/);
    assert.deepEqual([plan.unreadable, plan.now?.schema, plan.lost?.accounts], [null, NEWER.id, 1]);
    const { received, waitingSends, ids } = plan.comesAlong ?? assert.fail();
    assert.deepEqual([received, waitingSends, ids], [2, 1, 1]);
    assert.deepEqual(rowsOf(project.paths.database, 'SELECT id, state FROM inbox ORDER BY id'), [
      ['handled', 'done'],
      ['open', 'received'],
      ['parked', 'received'],
    ]);
    assert.deepEqual(rowsOf(project.paths.database, 'SELECT id FROM outbox'), [['waits']]);
    const [[schema]] = rowsOf(project.paths.database, 'SELECT max(id) FROM migrations') as [[number]];
    assert.equal(schema, plan.past.schema);
  });

  it('counts no column that this svc adds to an older checkpoint before anything is carried', () => {
    const databases = [MIGRATIONS.slice(0, 2), MIGRATIONS, MIGRATIONS].map((list) => {
      const database = new Sqlite(':memory:');
      migrate(database, 1, list);
      return database;
    });
    const [kept, replaced, schema] = databases.map(stateOf);
    assert.ok(kept !== undefined && replaced !== undefined && schema !== undefined);
    insert(replaced.database, 'inbox', item('parked'));

    const notHeld = (of?: State) => compareStates({ replaced, kept, at: 1, schema: of }).notHeld;

    assert.deepEqual(notHeld(schema), {});
    assert.ok((notHeld()['inbox.operator_changes'] ?? 0) > 0);
    for (const database of databases) database.close();
  });

  it('says that nothing comes along where the newer svc keeps its messages elsewhere', async (t) => {
    const { project, request } = await upgraded(t, 'ALTER TABLE inbox RENAME TO arrivals');

    const plan = readRestorePlan(request);
    await restore({ ...request, digest: plan.digest });

    assert.match(plan.unreadable ?? '', /no such table: inbox/);
    assert.equal(plan.comesAlong, null);
    assert.deepEqual(rowsOf(project.paths.database, 'SELECT id, state FROM inbox'), [['open', 'received']]);
  });
});
