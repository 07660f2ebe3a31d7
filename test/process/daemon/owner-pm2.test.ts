// A worker that PM2 started, as its variables tell it: a stop and a second start name PM2 and the app.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

describe('a worker under PM2', { concurrency: 2 }, () => {
  it('is stopped by PM2 alone, and is the only one', async (t) => {
    const project = await portProject(t);
    const host = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], {
      cwd: project.path,
      env: { pm_id: '3', name: 'my-bot', PM2_HOME: project.path },
    });
    await until(() => host.output().includes('worker up'), { what: 'worker up' });

    const stop = await svc(['runtime', 'stop'], { cwd: project.path });
    const second = await svc(['runtime', 'start', '--daemon'], { cwd: project.path });

    assert.deepEqual([stop.code, second.code], [1, 1]);
    assert.match(stop.stderr, /belongs to pm2[^]*pm2 stop my-bot/);
    assert.doesNotMatch(stop.stderr, /stopping/, 'it stops nothing');
    assert.match(second.stderr, /started by pm2[^]*pm2 stop my-bot/);
    host.child.kill('SIGTERM');
    assert.equal((await host.ended).code, 0);
  });

  it('is refused from elsewhere where PM2 would start it at boot, and not when it is PM2 that starts it', async (t) => {
    const project = await portProject(t);
    project.write('.pm2/dump.pm2', JSON.stringify([{ name: 'my-bot', pm_cwd: project.path }]));
    const start = ['runtime', 'start', '--mode', 'production', '--no-watch'];

    const other = await svc(start, { cwd: project.path, env: { HOME: project.path } });
    assert.equal(other.code, 1);
    assert.match(other.stderr, /belongs to pm2, which starts it as my-bot[^]*pm2 delete my-bot/);

    const env = { HOME: project.path, pm_id: '3', name: 'my-bot', PM2_HOME: `${project.path}/.pm2` };
    const host = startSvc(start, { cwd: project.path, env });
    await until(() => host.output().includes('worker up'), { what: 'worker up' });
    host.child.kill('SIGTERM');
    assert.equal((await host.ended).code, 0);
  });
});
