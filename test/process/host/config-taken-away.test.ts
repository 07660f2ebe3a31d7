// A host that runs on while svc.config.yml is gone from its folder (moved, or not there yet after a deploy): it is still seen, and stopped.
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const FOREGROUND = ['runtime', 'start', '--mode', 'production', '--no-watch'];

for (const owner of ['daemon', 'foreground'] as const)
  it(`lets the ${owner} be seen and stopped, and nothing else`, async (t) => {
    const { url, path } = await portProject(t, { keys: { plugins: { sandbox: {} } } });
    if (owner === 'daemon') assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path })).code, 0);
    else startSvc(FOREGROUND, { cwd: path });
    await until(async () => (await fetch(`${url}/pub/ready`)).ok, { what: 'the host to be ready' });
    const below = join(path, 'plugins', 'below');
    mkdirSync(below, { recursive: true });
    renameSync(join(path, 'svc.config.yml'), join(path, 'aside.yml'));

    for (const [cwd, ...args] of [[path], [below], ['/', '--project', path]] as const) {
      const { code, stdout, stderr } = await svc(['runtime', 'status', '--json', ...args], { cwd });
      assert.equal(code, 0, stdout + stderr);
      const { state, owner: told, notes } = JSON.parse(stdout);
      assert.deepEqual([state, told], ['running', owner]);
      assert.match(notes.join('\n'), new RegExp(`${path} holds no svc.config.yml: [^\n]*put it back`));
    }
    const logs = await svc(['runtime', 'logs', '-n', '1'], { cwd: path });
    assert.equal(logs.code, 0, logs.stderr);
    for (const words of ['runtime restart', 'runtime reload', 'runtime start --daemon', 'inbox list']) {
      const { code, stderr } = await svc(words.split(' '), { cwd: path });
      assert.equal(code, 1, words);
      assert.match(stderr, /holds svc\.config\.yml/, words);
    }
    const stop = await svc(['runtime', 'stop', '--json'], { cwd: below });
    assert.deepEqual([stop.code, JSON.parse(stop.stdout).wasRunning], [0, true], stop.stderr);
    await assert.rejects(fetch(`${url}/pub/health`));
    for (const verb of ['status', 'stop']) {
      const { code, stderr } = await svc(['runtime', verb], { cwd: path });
      assert.deepEqual(
        [code, /holds svc\.config\.yml/.test(stderr)],
        [1, true],
        'nothing says any more that it is one',
      );
    }
  });

it('does not take a project further up for the one whose host runs here', async (t) => {
  let moved = '/nowhere';
  t.after(() => svc(['runtime', 'stop', '--now', '--project', moved])); // before the folder above is removed
  const above = await portProject(t, { keys: { plugins: { sandbox: {} } } });
  const own = await portProject(t, { keys: { plugins: { sandbox: {} } } });
  moved = join(above.path, 'own');
  assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: above.path })).code, 0);
  renameSync(own.path, moved);
  assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: moved })).code, 0);
  renameSync(join(moved, 'svc.config.yml'), join(moved, 'aside.yml'));

  const stop = await svc(['runtime', 'stop'], { cwd: moved });

  assert.equal(stop.code, 0, stop.stderr);
  await assert.rejects(fetch(`${own.url}/pub/health`));
  assert.equal((await fetch(`${above.url}/pub/ready`)).status, 200);
  // With its configuration it is a project again, and one without a host is the next above.
  const status = await svc(['runtime', 'status', '--json'], { cwd: moved });
  assert.deepEqual([status.code, JSON.parse(status.stdout).address.port], [0, above.port]);
  writeFileSync(join(moved, 'svc.config.yml'), '');
  assert.equal((await svc(['runtime', 'status'], { cwd: moved })).code, 3);
});
