// A start on a file system without a free inode: as on a full disk the host runs, is not ready, and goes on once there is room.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { smallDisk, smallDiskMissing, takeInodes } from '../../support/disk/small-disk.ts';
import { portProject, startSvc, svc, untilReady } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const KEYS = { disk: { minFreeBytes: 1_048_576 } };

describe('a start without a free inode', { skip: smallDiskMissing(), concurrency: true }, () => {
  it('of a daemon that ran before is not ready, says why, and recovers', async (t) => {
    const project = await portProject(t, { keys: KEYS });
    const run = async (...args: readonly string[]) => {
      const { code, stdout } = await svc(['runtime', ...args, '--json'], { cwd: project.path });
      return { code, body: JSON.parse(stdout) };
    };
    smallDisk(t, project.paths.stateDir, { kilobytes: 65_536, inodes: 40 });
    await run('start', '--daemon');
    await run('stop');
    const giveBack = takeInodes(project.paths.stateDir);

    const started = await run('start', '--daemon', '--timeout', '3');
    const answer = async (path: string) => (await fetch(`${project.url}${path}`)).status;
    const health = await until(() => answer('/pub/health'), { what: 'the host to answer' });
    const ready = await answer('/pub/ready');
    const { body: silent } = await run('status');
    giveBack();
    await untilReady(project.url);
    const status = await until(async () => (await run('status')).body.ready === true && (await run('status')).body, {
      what: 'the control socket',
    });

    assert.equal(started.code, 1);
    assert.match(started.body.reasons.join('; '), /0 of 40 inodes are free/);
    assert.deepEqual([health, ready], [200, 503]);
    assert.match(silent.error.message, /has no socket to answer at: 0 of 40 inodes are free/);
    assert.deepEqual(
      [status.exits.filter(({ code }: { readonly code: number }) => code !== 0), status.generation],
      [[], 2],
    );
  });

  it('of a host in the foreground on a file system that holds too few is ready once it holds more', async (t) => {
    const project = await portProject(t, { keys: KEYS });
    smallDisk(t, project.paths.stateDir, { kilobytes: 65_536, inodes: 5 });
    const { child, ended, output } = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], {
      cwd: project.path,
    });
    await until(() => /disk budget is used up/.test(output()), { what: 'the host to be up' });

    const { status } = await fetch(`${project.url}/pub/ready`);
    smallDisk(t, project.paths.stateDir, { kilobytes: 65_536, inodes: 100, remount: true });
    await untilReady(project.url);
    child.kill('SIGTERM');

    assert.deepEqual([status, (await ended).code], [503, 0]);
  });
});
