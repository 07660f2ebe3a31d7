// A start that takes longer than its limit, because a migration does: whoever counts its seconds is told that it goes on.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { migrate } from '../../worker/database/migrate.ts';
import { init } from '../../worker/database/migrations/0001-init.ts';
import { noNotifySocket, notifySocket } from '../support/notify-socket.ts';
import { portProject, startSvc, svc } from '../support/svc-command.ts';
import { until } from '../support/until.ts';

const UP_SECONDS = 2;
const MIGRATION_MS = 5_000;
const ROWS_TRIED = 150;

/** A project with the first schema, on which the note of the next migration takes its time. */
async function slowToMigrate(t: TestContext) {
  const project = await portProject(t, { keys: { supervisor: { upTimeoutSeconds: UP_SECONDS } } });
  mkdirSync(project.paths.stateDir, { mode: 0o700 });
  const database = new Database(project.paths.database);
  database.pragma('journal_mode = WAL');
  migrate(database, Date.now(), [init]);
  database.exec('CREATE TABLE slow (n INTEGER)');
  const fill = (rows: number): void => {
    database.exec('DELETE FROM slow');
    for (let n = 0; n < rows; n += 1) database.exec('INSERT INTO slow VALUES (0)');
  };
  const work = 'UPDATE slow SET n = (SELECT count(*) FROM slow a, slow b, slow c) WHERE rowid = 1';
  fill(ROWS_TRIED);
  const from = performance.now();
  database.exec(work);
  fill(Math.ceil(ROWS_TRIED * Math.cbrt(MIGRATION_MS / (performance.now() - from))));
  database.exec(`CREATE TRIGGER slow AFTER INSERT ON migrations BEGIN ${work}; END`);
  database.close();
  return project;
}

describe('a migration that takes longer than a start may', () => {
  it('renews the limit of the supervisor', async (t) => {
    const { path, read } = await slowToMigrate(t);

    await svc(['runtime', 'start', '--daemon'], { cwd: path });
    const status = await until(
      async () => {
        const now = JSON.parse((await svc(['runtime', 'status', '--json'], { cwd: path })).stdout);
        return now.ready ? now : undefined;
      },
      { what: 'ready', timeoutMs: 120_000, everyMs: 100 },
    );

    const entries = read('.svc/runtime.log')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
    const last = (message: string) => entries.findLast(({ msg }) => msg === message);
    const ms = Date.parse(last('supervisor running').time) - Date.parse(last('supervisor starting').time);
    assert.ok(ms > UP_SECONDS * 1_000, `${ms} ms`);
    assert.equal(status.state, 'running');
  });

  it('puts off the limit of an owner that listens', { skip: noNotifySocket }, async (t) => {
    const project = await slowToMigrate(t);
    const socket = await notifySocket(t, join(project.path, 'notify'));

    const host = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch', '--project', project.path], {
      env: { NOTIFY_SOCKET: socket.name },
    });
    t.after(() => void host.child.kill('SIGKILL'));
    await socket.said(/^READY=1$/);

    assert.equal(
      socket.words()[0],
      'EXTEND_TIMEOUT_USEC=30000000 STATUS=starting: the database is being opened',
      socket.words().join('\n'),
    );
    host.child.kill('SIGTERM');
    assert.equal((await host.ended).code, 0);
  });
});
