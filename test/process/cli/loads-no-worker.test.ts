// What the built programs load: a short command and the supervisor nothing of the worker, so that one is quick and the other small.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLI, portProject, svc } from '../../support/svc-command.ts';

const DIST = dirname(CLI);

/** Files of dist/ that V8 has seen a script of. */
function loadedFiles(coverage: string): readonly string[] {
  const urls = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as {
      readonly result: readonly { readonly url: string }[];
    };
    return result.map(({ url }) => url);
  });
  return urls
    .map((url) => (url.startsWith('file:') ? fileURLToPath(url) : url)) // made of kept code it has a path for its name
    .filter((path) => path.startsWith('/'))
    .map((path) => relative(DIST, path))
    .filter((path) => !path.startsWith('..'));
}

/** What of the tree a built file was made of. */
const sourcesOf = (file: string): readonly string[] =>
  (JSON.parse(readFileSync(join(DIST, `${file}.map`), 'utf8')) as { readonly sources: readonly string[] }).sources;

const foreign = (file: string): readonly string[] =>
  sourcesOf(file).filter((source) => /^(\.\.\/)*worker\//.test(source));

/** What `svc` with these words loads of dist/, and how it ends. */
async function loadedBy(project: string, command: string) {
  const coverage = mkdtempSync(join(project, 'coverage-'));
  const { code, stderr } = await svc(command.split(' '), { cwd: project, env: { NODE_V8_COVERAGE: coverage } });
  return { files: loadedFiles(coverage), code, stderr };
}

/** Of worker/: what listens, connects, writes or handles. */
const RUNS_A_HOST =
  /^(app|app-|main\.ts|run-worker\.ts|http\/|ingress\/|inbox\/|outbox\/|handling\/dispatch|endpoints\/|watchdog\/|checkpoint\/|events\/event-hub|database\/writer-thread)/;

/** In their order, over one daemon; with what they end with where that is not 0. */
const COMMANDS: readonly (readonly [string, number?])[] = [
  ['--version'],
  ['--help'],
  ['runtime status'],
  ['runtime logs'],
  ['runtime reload'],
  ['runtime reload --or-restart'],
  ['runtime restart'],
  ['endpoints list'],
  ['service status', 3],
  ['service install --print --user'],
  ['service logs', 3],
  ['runtime stop'],
];

describe('nothing of the worker is loaded', { concurrency: 3 }, () => {
  it('by the commands that ask a running host', async (t) => {
    const project = await portProject(t);
    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: project.path })).code, 0);
    for (const [command, expected = 0] of COMMANDS) {
      const { files, code, stderr } = await loadedBy(project.path, command);

      assert.equal(code, expected, `${command}: ${stderr}`);
      assert.ok(files.includes('cli.js') && files.includes('cli-main.cjs'), `${command} loaded ${files.join(', ')}`);
      assert.deepEqual(
        files.flatMap((file) => foreign(file).map((source) => `${command}: ${source} in ${file}`)),
        [],
      );
    }
  });

  it('by the start of a daemon but what judges its configuration and plugins before anything is started', async (t) => {
    const project = await portProject(t);

    const { files, code, stderr } = await loadedBy(project.path, 'runtime start --daemon');

    assert.equal(code, 0, stderr);
    const sources = files.flatMap(foreign).map((source) => source.replace(/^(\.\.\/)*worker\//, ''));
    assert.ok(sources.includes('task.ts') && sources.includes('plugins/echo/index.ts'));
    assert.deepEqual(
      sources.filter((source) => RUNS_A_HOST.test(source)),
      [],
    );
  });

  it('by the supervisor, nor any package', () => {
    const sources = sourcesOf('supervisor.cjs');

    assert.ok(sources.some((source) => source.endsWith('supervisor/machine/transition.ts')));
    assert.deepEqual(
      sources.filter((source) => /^(\.\.\/)*(worker|node_modules)\//.test(source)),
      [],
    );
  });

  it('and what the worker is made of would be seen here', () => {
    assert.notDeepEqual(foreign('worker-main.cjs'), []);
  });
});
