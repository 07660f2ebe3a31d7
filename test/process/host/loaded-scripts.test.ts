// Which of the built scripts a host loads until it is ready: V8 tells of each at the end of the process.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { CLI } from '../../support/process/built-svc.ts';
import { portProject, startProgram, untilReady } from '../../support/svc-command.ts';

/** Names of the scripts of `dist` that a host of this project has loaded once it is ready. */
async function loadedUntilReady(t: TestContext, options: Parameters<typeof portProject>[1], files: object = {}) {
  const project = await portProject(t, options);
  for (const [name, content] of Object.entries(files)) project.write(name, JSON.stringify(content));
  const folder = join(project.path, 'coverage');
  const host = startProgram(CLI, ['runtime', 'start', '--mode', 'production', '--no-watch'], {
    cwd: project.path,
    env: { NODE_V8_COVERAGE: folder },
  });
  t.after(() => void host.child.kill('SIGKILL'));
  await untilReady(project.url);
  host.child.kill('SIGTERM');
  assert.equal((await host.ended).code, 0);
  const scripts = readdirSync(folder)
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: { url: string }[] })
    .flatMap(({ result }) => result.map(({ url }) => url.split(/[/\\]/u)))
    .filter((parts) => parts.at(-2) === 'dist')
    .map((parts) => parts.at(-1));
  assert.ok(scripts.includes('worker-main.cjs'), scripts.join());
  return scripts.filter((name) => name === 'jobs.cjs' || name === 'workroom.cjs').toSorted();
}

describe('a host that is ready', { concurrency: 2 }, () => {
  it('has loaded nothing of jobs and of the Workroom where it has neither', async (t) => {
    assert.deepEqual(await loadedUntilReady(t, {}), []);
  });

  it('has loaded both where it has both', async (t) => {
    const keys = { host: { kind: 'workroom' }, plugins: { sandbox: {}, work: {} } };
    const job = {
      id: 'morning',
      cron: '0 8 * * *',
      do: { say: { to: { endpoint: 'sandbox', conversation: 'main' }, text: 'hello' } },
    };
    assert.deepEqual(await loadedUntilReady(t, { keys }, { 'data/schedule-jobs.json': { version: 1, jobs: [job] } }), [
      'jobs.cjs',
      'workroom.cjs',
    ]);
  });
});
