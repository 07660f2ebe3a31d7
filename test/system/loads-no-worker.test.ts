// What the built programs load: a short command and the supervisor nothing of the worker, so that one is quick and the other small.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CLI, portProject, svc } from '../support/svc-command.ts';

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
    .filter((url) => url.startsWith('file:'))
    .map((url) => relative(DIST, fileURLToPath(url)))
    .filter((path) => !path.startsWith('..'));
}

/** What of the tree a built file was made of. */
const sourcesOf = (file: string): readonly string[] =>
  (JSON.parse(readFileSync(join(DIST, `${file}.map`), 'utf8')) as { readonly sources: readonly string[] }).sources;

const foreign = (file: string): readonly string[] =>
  sourcesOf(file).filter((source) => /^(\.\.\/)*worker\//.test(source));

describe('nothing of the worker is loaded', () => {
  it('by the commands that ask a running host', async (t) => {
    const project = await portProject(t);
    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: project.path })).code, 0);
    const commands = ['--version', '--help', 'runtime status', 'runtime logs', 'endpoints list', 'runtime stop'];
    for (const [index, command] of commands.entries()) {
      const coverage = join(project.path, `coverage-${index}`);
      mkdirSync(coverage);
      const env = { NODE_V8_COVERAGE: coverage };

      const { code, stderr } = await svc(command.split(' '), { cwd: project.path, env });

      assert.equal(code, 0, stderr);
      const files = loadedFiles(coverage);
      assert.ok(files.includes('cli.js'), `${command} loaded ${files.join(', ')}`);
      assert.deepEqual(
        files.flatMap((file) => foreign(file).map((source) => `${command}: ${source} in ${file}`)),
        [],
      );
    }
  });

  it('by the supervisor, nor any package', () => {
    const sources = sourcesOf('supervisor.cjs');

    assert.ok(sources.some((source) => source.endsWith('supervisor/transition.ts')));
    assert.deepEqual(
      sources.filter((source) => /^(\.\.\/)*(worker|node_modules)\//.test(source)),
      [],
    );
  });

  it('and what the worker is made of would be seen here', () => {
    assert.notDeepEqual(foreign('worker-main.cjs'), []);
  });
});
