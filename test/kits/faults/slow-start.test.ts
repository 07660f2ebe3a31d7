// A start that takes longer than its limit, because a migration does: whoever counts its seconds is told that it goes on.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { slowToMigrate } from '../../support/disk/slow-migration.ts';
import { noNotifySocket, notifySocket } from '../../support/owners/notify-socket.ts';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const UP_SECONDS = 2;
const MIGRATION_MS = 5_000;

async function slowProject(t: TestContext) {
  const project = await portProject(t, { keys: { supervisor: { upTimeoutSeconds: UP_SECONDS } } });
  mkdirSync(project.paths.stateDir, { mode: 0o700 });
  slowToMigrate(project.paths.database, MIGRATION_MS);
  return project;
}

describe('a migration that takes longer than a start may', () => {
  it('renews the limit of the supervisor', async (t) => {
    const { path, read } = await slowProject(t);

    await svc(['runtime', 'start', '--daemon'], { cwd: path });
    const status = await until(
      async () => {
        const now = JSON.parse((await svc(['runtime', 'status', '--json'], { cwd: path })).stdout);
        return now.ready ? now : undefined;
      },
      { what: 'ready', everyMs: 100 },
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
    const project = await slowProject(t);
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
