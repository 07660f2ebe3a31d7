// Projects whose path is longer than the name of a socket may be (107 bytes), and the same up to there: the built commands over real workers find
// their own host by control.sock and by worker.sock, and no other.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import { portProject, type StartedSvc, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const LIMIT_BYTES = 107;

async function longProject(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const name = randomUUID();
  const project = await portProject(t, { prefix: `svc-long-${'x'.repeat(110)}-`, keys: { host: { name } } });
  assert.ok(Buffer.byteLength(project.path) > LIMIT_BYTES);
  const run = (...words: string[]) => svc(['runtime', ...words, '--json'], { cwd: project.path, env });
  return {
    name,
    project,
    run,
    /** The answer of a command that ends with 0. */
    answer: async (...words: string[]) => {
      const { code, stdout, stderr } = await run(...words);
      assert.equal(code, 0, words.join(' ') + stdout + stderr);
      return JSON.parse(stdout);
    },
    foreground(): StartedSvc {
      const started = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: project.path, env });
      t.after(() => void started.child.kill('SIGKILL'));
      return started;
    },
  };
}

type LongProject = Awaited<ReturnType<typeof longProject>>;

const ready = ({ run }: LongProject, besides: number | null = null) =>
  until(
    async () => {
      const { code, stdout } = await run('status');
      const status = code === 0 ? JSON.parse(stdout) : undefined;
      return status?.pid === besides ? undefined : status;
    },
    { what: 'a host that is ready' },
  );

/** The lines are those of this host, and not of its neighbour. */
async function assertOwnLog(host: LongProject): Promise<void> {
  const lines: readonly { readonly project?: string; readonly msg?: string }[] = await host.answer('logs');
  assert.ok(lines.some(({ msg }) => msg === 'worker up'));
  for (const { project, msg } of lines) assert.equal(project, host.name, msg);
}

describe('the commands in a project of a long path', { concurrency: 3 }, () => {
  it('reach their own daemon, beside a host in the foreground whose path begins the same', async (t) => {
    const [daemon, other] = [await longProject(t), await longProject(t)];
    const foreground = other.foreground();
    const { pid: otherPid } = await ready(other);
    await daemon.answer('start', '--daemon');
    const { pid } = await ready(daemon);

    assert.notEqual(pid, otherPid);
    const { generation } = await daemon.answer('status');
    assert.equal((await daemon.answer('reload')).generation, generation + 1);
    await assertOwnLog(daemon);
    await daemon.answer('restart');
    const next = await ready(daemon, pid);
    await daemon.answer('restart', '--daemon');
    assert.notEqual((await ready(daemon, next.pid)).supervisorPid, next.supervisorPid);
    assert.equal((await daemon.run('stop')).code, 0);

    assert.equal((await daemon.run('status')).code, 3);
    assert.equal((await other.answer('status')).pid, otherPid);
    assert.equal(foreground.child.exitCode, null);
  });

  it('reach a host in the foreground by its own socket, whatever its owner', async (t) => {
    const [host, neighbour] = [await longProject(t, { pm_id: '0', PM2_HOME: '/nonexistent' }), await longProject(t)];
    const first = host.foreground();
    neighbour.foreground();
    const [{ pid, generation }, { pid: neighbours }] = await Promise.all([ready(host), ready(neighbour)]);

    assert.deepEqual([pid, neighbours === pid], [first.child.pid, false]);
    assert.equal((await host.answer('reload')).generation, generation + 1);
    await assertOwnLog(host);
    const restarted = host.answer('restart');
    assert.equal((await first.ended).code, 51);
    const second = host.foreground(); // as its owner would
    await restarted;
    assert.equal((await ready(host, pid)).pid, second.child.pid);
    const refused = await neighbour.run('restart');
    assert.deepEqual([refused.code, refused.stdout.includes('no_restart_owner')], [1, true]);
    assert.equal((await neighbour.run('stop')).code, 0);

    assert.equal((await neighbour.run('status')).code, 3);
    assert.equal((await host.answer('status')).pid, second.child.pid);
  });
});
