// What a worker in the foreground tells the owner that listens on NOTIFY_SOCKET, through the real systemd-notify.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { noNotifySocket, notifySocket } from '../../support/owners/notify-socket.ts';
import { standIn } from '../../support/stand-in.ts';
import { portProject, type StartedSvc, startSvc, svc } from '../../support/svc-command.ts';
import type { TemporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const FOREGROUND = ['runtime', 'start', '--mode', 'production', '--no-watch', '--project'];

function foreground({ path }: TemporaryProject, env: Readonly<Record<string, string>>): StartedSvc {
  return startSvc([...FOREGROUND, path], { env });
}

const up = (host: StartedSvc): Promise<unknown> =>
  until(() => host.output().includes('worker up'), { what: 'worker up' });

const TELLS_ITS_ENVIRONMENT = `
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { definePlugin } from 'svc';
export default definePlugin({
  name: 'tells',
  setup() {
    writeFileSync('child-environment.txt', execFileSync('env', { encoding: 'utf8' }));
  },
});
`;

describe('a worker whose owner listens on NOTIFY_SOCKET', { skip: noNotifySocket, concurrency: 3 }, () => {
  for (const kind of ['path', 'abstract name'])
    it(`says up, status, reload and stop in order, over a socket with ${kind === 'path' ? 'a path' : 'an abstract name'}`, async (t) => {
      const project = await portProject(t);
      const name = kind === 'path' ? join(project.path, 'notify') : `@svc-test-${project.port}`;
      const socket = await notifySocket(t, name);
      const host = foreground(project, { NOTIFY_SOCKET: name });
      await socket.said(/^STATUS=ready, generation 1$/);

      assert.equal((await svc(['runtime', 'reload', '--project', project.path])).code, 0);
      await socket.said(/^STATUS=ready, generation 2$/);
      host.child.kill('SIGTERM');
      assert.equal((await host.ended).code, 0);

      const words = socket.words().map((word) => word.replace(/(MONOTONIC_USEC)=\d+/, '$1=…'));
      assert.deepEqual(
        words.filter((word) => !word.startsWith('STATUS=not ready')),
        [
          'READY=1',
          'STATUS=ready, generation 1',
          'RELOADING=1 MONOTONIC_USEC=…',
          'READY=1',
          'STATUS=ready, generation 2',
          'STOPPING=1 STATUS=stopping: SIGTERM',
        ],
      );
    });

  it('gives the time of the monotonic clock with a reload', async (t) => {
    const project = await portProject(t);
    const socket = await notifySocket(t, join(project.path, 'notify'));
    const host = foreground(project, { NOTIFY_SOCKET: socket.name });
    await socket.said(/^READY=1$/);
    // oxlint-disable-next-line eslint/no-restricted-properties -- the clock that is told, before and after
    const now = (): number => Number(process.hrtime.bigint() / 1_000n);
    const before = now();

    await svc(['runtime', 'reload', '--project', project.path]);

    const usec = Number(/MONOTONIC_USEC=(\d+)/.exec(await socket.said(/^RELOADING/))?.[1]);
    assert.ok(before < usec && usec < now(), `${usec} after ${before}`);
    host.child.kill('SIGTERM');
    await host.ended;
  });

  it('pings a watchdog that watches it, and none that watches another process', async (t) => {
    const watched = await portProject(t);
    const socket = await notifySocket(t, join(watched.path, 'notify'));
    const host = foreground(watched, { NOTIFY_SOCKET: socket.name, WATCHDOG_USEC: '300000' });
    await socket.said(/^WATCHDOG=1$/);
    host.child.kill('SIGTERM');
    await host.ended;

    const other = await portProject(t);
    const silent = await notifySocket(t, join(other.path, 'notify'));
    const second = foreground(other, { NOTIFY_SOCKET: silent.name, WATCHDOG_USEC: '1000', WATCHDOG_PID: '1' });
    await silent.said(/^STATUS=ready/);
    second.child.kill('SIGTERM');
    await second.ended;
    assert.ok(!silent.words().includes('WATCHDOG=1'));
  });

  it('keeps the variables of its owner from its children', async (t) => {
    const project = await portProject(t, {
      plugins: { 'tells.ts': TELLS_ITS_ENVIRONMENT },
      keys: { plugins: { tells: { use: './plugins/tells.ts' } } },
    });
    const socket = await notifySocket(t, join(project.path, 'notify'));
    const owned = { NOTIFY_SOCKET: socket.name, WATCHDOG_USEC: '3000000', LISTEN_PID: '1', LISTEN_FDS: '1' };
    const host = startSvc(['runtime', 'start', '--no-watch', '--project', project.path], {
      env: { ...owned, KEPT: 'yes' },
    });
    await socket.said(/^READY=1$/);
    host.child.kill('SIGTERM');
    await host.ended;

    const seen = readFileSync(join(project.path, 'child-environment.txt'), 'utf8');
    assert.match(seen, /^KEPT=yes$/m);
    for (const name of Object.keys(owned)) assert.doesNotMatch(seen, new RegExp(`^${name}=`, 'm'));
  });

  it('runs on where systemd-notify is missing or fails, and says so once', async (t) => {
    const missing = await portProject(t);
    const host = foreground(missing, { NOTIFY_SOCKET: '/nonexistent', PATH: '/nonexistent' });
    await up(host);
    host.child.kill('SIGTERM');
    const { code, stdout } = await host.ended;
    assert.equal(code, 0);
    assert.equal(stdout.split('the owner cannot be told').length - 1, 1);

    const failing = await portProject(t);
    const program = standIn(failing.path, ['systemd-notify']);
    program.answer('systemd-notify', { code: 1 });
    const second = foreground(failing, {
      NOTIFY_SOCKET: '/nonexistent',
      PATH: `${program.folder}:${process.env['PATH']}`,
    });
    await until(() => program.calls().some((call) => call.startsWith('systemd-notify STATUS=')), {
      what: 'a word after one that failed',
    });
    second.child.kill('SIGTERM');
    const ended = await second.ended;
    assert.equal(ended.code, 0);
    assert.equal(ended.stdout.split('the owner cannot be told').length - 1, 1);
  });
});
