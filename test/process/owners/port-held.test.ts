// A stranger on the port of a project: what the commands say while it is there, and that the token is not told to it.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';

describe('a port that a stranger holds', () => {
  it('is what a start names, nobody else is asked there, and the next start is one', async (t) => {
    const project = await portProject(t);
    const asked: (string | undefined)[] = [];
    const run = (...words: string[]) => svc(words, { cwd: project.path });
    await run('runtime', 'start', '--daemon'); // its end has nothing to do with what follows
    await run('runtime', 'stop');
    const stranger = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => void stranger.listen(project.port, '127.0.0.1', resolve));
    t.after(() => stranger.close());

    const before = await run('endpoints', 'list');
    const first = await run('runtime', 'start', '--daemon');
    const failed = await run('endpoints', 'list', '--json');

    assert.deepEqual([before.code, /nothing is running here/.test(before.stderr)], [1, true], before.stderr);
    assert.match(first.stdout, new RegExp(`^failed: port ${project.port} is held by pid ${process.pid}`));
    assert.equal(first.code, 1);
    assert.match(first.stderr, /^next: `svc runtime logs --level error` shows the cause[^\n]+\n$/);
    assert.equal(failed.code, 1);
    const { error } = JSON.parse(failed.stdout);
    assert.equal(error.code, 'not_running');
    assert.match(error.message, new RegExp(`^the host is failed: port ${project.port} is held`));
    assert.deepEqual(asked, []);

    await new Promise((resolve) => stranger.close(resolve));
    const second = await run('runtime', 'start', '--daemon');
    assert.match(second.stdout, /^ready, pid/);
    const again = await run('runtime', 'start', '--daemon');
    assert.match(again.stdout, /^already running, pid/);
    assert.equal((await run('inbox', 'list')).code, 0);
  });
});

describe('a supervisor whose port a stranger holds', () => {
  const supervise = overWorkers(['listens']);

  it('tries three times in 3 s, spends no start on that, and is failed naming the stranger', async (t) => {
    const stranger = createServer();
    await new Promise<void>((resolve) => void stranger.listen(0, '127.0.0.1', resolve));
    t.after(() => stranger.close());
    const { port } = stranger.address() as AddressInfo;
    const run = supervise(t, 'listens', { settings: { port } });

    const { reason, exits, budget } = await run.state('failed');

    const lines = run
      .log()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const tries = lines.filter(({ msg }) => msg === 'port is not free yet');
    assert.deepEqual(
      tries.map(({ attempt }) => attempt),
      [1, 2], // after the third it is failed
    );
    const steps = run.trace();
    const at = (kind: string) => steps.find(({ event }) => event.kind === kind)?.moment.now ?? Number.NaN;
    const tookMs = at('stuck') - at('lock_held');
    assert.ok(tookMs >= 2_990, `${tookMs} ms`);
    assert.match(reason ?? '', new RegExp(`port ${port} is held by pid ${process.pid} `));
    assert.deepEqual([exits, budget?.left], [[], budget?.limit]);
    assert.ok(!steps.some(({ effects }) => effects.some(({ kind }) => kind === 'spawn')));
    assert.deepEqual(steps.at(-1)?.after.window, { starts: [], crashesInRow: 0 });
  });
});

describe('two hosts that start in the same moment on one port', () => {
  it('are one that serves and one that is refused before anything of it begins, in the foreground', async (t) => {
    const projects = await pair(t);
    const runs = projects.map(({ path }) => startSvc(['runtime', 'start', '--mode', 'production'], { cwd: path }));
    t.after(() => runs.forEach(({ child }) => child.kill('SIGKILL')));

    const { loser, index } = await Promise.race(runs.map(async ({ ended }, index) => ({ loser: await ended, index })));

    const holder = runs[1 - index]?.child.pid;
    assert.equal(loser.code, 1);
    assert.match(loser.stderr, new RegExp(`port ${projects[0]?.port} is held by pid ${holder}`));
    assert.match(loser.stderr, /Change http\.host or http\.port, or end what holds it/);
    assert.equal(existsSync(projects[index]?.paths.database ?? ''), false);
  });

  it('are one daemon that serves and one that is failed, and has touched no database', async (t) => {
    const projects = await pair(t);

    const ends = await Promise.all(projects.map(({ path }) => svc(['runtime', 'start', '--daemon'], { cwd: path })));

    const index = ends.findIndex(({ code }) => code === 1);
    assert.deepEqual(new Set(ends.map(({ code }) => code)), new Set([0, 1]));
    assert.match(ends[index]?.stdout ?? '', new RegExp(`^failed: port ${projects[0]?.port} is held by`));
    assert.equal(existsSync(projects[index]?.paths.database ?? ''), false);
  });
});

/** Two projects with one port. */
async function pair(t: TestContext) {
  const first = await portProject(t);
  const second = await portProject(t);
  second.write('svc.config.yml', second.read('svc.config.yml').replace(`${second.port}`, `${first.port}`));
  return [first, second] as const;
}
