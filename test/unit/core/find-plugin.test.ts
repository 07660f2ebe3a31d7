// What `plugins.<slot>.use` leads to, and what is said of a name that leads nowhere.
import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SvcError } from '../../../shared/svc-error.ts';
import { resolvePlugin } from '../../../worker/runtime/loading/find-plugin.ts';
import { lookAtPlugins } from '../../../worker/runtime/loading/look-at-plugins.ts';
import { loadPlugin } from '../../../worker/runtime/loading/plugin-loader.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';

function projectWith(t: Cleanup, files: readonly string[]): TemporaryProject {
  const project = temporaryProject(t);
  for (const file of files) project.write(file, 'export default 1;');
  project.write('package.json', '{"type":"module","dependencies":{"svc-plugin-greeter":"1.0.0","@team/bot":"1.0.0"}}');
  return project;
}

function refusal(run: () => unknown): SvcError {
  try {
    run();
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a name that no plugin has', () => {
  for (const [use, files, suggestion] of [
    ['remnd', [], 'remind'],
    ['svc-plugin-gretr', [], 'svc-plugin-greeter'],
    ['svc-plugin-wether', ['node_modules/svc-plugin-weather/index.js'], 'svc-plugin-weather'],
    ['@team/svc-wether', ['node_modules/@team/svc-weather/index.js'], '@team/svc-weather'],
    ['hello', ['plugins/hello/index.ts'], './plugins/hello'],
    ['plugins/hello.ts', ['plugins/hello.ts'], './plugins/hello'],
    ['./plugins/helo', ['plugins/hello/index.ts'], './plugins/hello'],
    ['./plugins/helo', ['dist/plugins/hello/index.js'], './plugins/hello'],
    ['./plugin/helo.js', ['plugins/hello.ts', 'plugins/hello.test.ts'], './plugins/hello'],
    ['./plugins/hello', ['plugins/hello/main.ts'], './plugins/hello/main'],
    ['./remind', [], 'remind'],
    ['/srv/nothing', [], undefined],
    ['nothing-like-it', ['node_modules/nothing-like-that/index.js'], undefined],
    ['fs', [], undefined],
  ] as const)
    for (const mode of ['production', 'development'] as const)
      it(`is a fault of the configuration in ${mode}, with the nearest one: ${use} with ${files[0] ?? 'no file'}`, (t) => {
        const { path } = projectWith(t, files);

        const { code, message, hint = '', details } = refusal(() => resolvePlugin(use, { project: path, mode }));

        assert.deepEqual([code, details['suggestion']], ['config_invalid', suggestion]);
        assert.doesNotMatch(message + hint, /npm/);
      });
});

describe('a plugin that is not ready to be loaded', () => {
  for (const [use, file] of [
    ['./plugins/hello', 'plugins/hello/index.ts'],
    ['./plugins/hello.js', 'plugins/hello.ts'],
    ['./dist/plugins/hello', 'plugins/hello.ts'],
    ['./plugins/hello.mjs', 'plugins/hello.mts'],
  ] as const)
    it(`is compiled by npm run build: ${use} of ${file}`, (t) => {
      const { path } = projectWith(t, [file]);

      const { code, hint } = refusal(() => resolvePlugin(use, { project: path, mode: 'production' }));

      assert.deepEqual([code, hint], ['plugin_failed', 'compile it first: npm run build']);
    });

  it('is installed by npm, where package.json lists it', (t) => {
    const { path } = projectWith(t, []);

    for (const use of ['svc-plugin-greeter', '@team/bot/plugin']) {
      const { code, message, hint } = refusal(() => resolvePlugin(use, { project: path, mode: 'production' }));

      assert.deepEqual([code, hint], ['plugin_failed', 'npm ci']);
      assert.match(message, /is in package\.json, but it is not installed/);
    }
  });

  it('is not called missing where its package is there without an entry', (t) => {
    const project = projectWith(t, []);
    project.write('node_modules/svc-plugin-greeter/package.json', '{"exports":{"import":"./index.js"}}');

    const { code, message } = refusal(() =>
      resolvePlugin('svc-plugin-greeter', { project: project.path, mode: 'test' }),
    );

    assert.equal(code, 'plugin_failed');
    assert.match(message, /is installed, but .*ERR_PACKAGE_PATH_NOT_EXPORTED/);
  });
});

describe('a source that is newer than its compiled code', () => {
  const OLD = 1_000_000;

  it('is told by a start in production, and by doctor', async (t) => {
    const project = projectWith(t, ['plugins/own/index.ts', 'plugins/words.ts', 'dist/plugins/words.js']);
    project.write('dist/plugins/own/index.js', "export { default } from '../words.js';");
    const warnings: string[] = [];
    const load = async (): Promise<readonly string[]> => {
      await loadPlugin('./plugins/own', {
        project: project.path,
        mode: 'production',
        warned: (text) => warnings.push(text),
      });
      return warnings.splice(0);
    };
    const touch = (name: string, time: number): void => utimesSync(join(project.path, name), time, time);
    for (const name of ['plugins/own/index.ts', 'plugins/words.ts']) touch(name, OLD);

    assert.deepEqual(await load(), []);
    touch('dist/plugins/words.js', OLD - 1);
    assert.deepEqual(await load(), [
      'plugins/words.ts is newer than dist/plugins/words.js: production runs the old code until npm run build',
    ]);
    touch('dist/plugins/own/index.js', OLD - 1);
    assert.match(
      (await load())[0] ?? '',
      /^plugins\/own\/index\.ts \(and 1 more\) is newer than dist\/plugins\/own\/index\.js/,
    );

    project.write(
      'svc.config.yml',
      'http: {token: "${HTTP_TOKEN}"}\nplugins: {own: {use: ./plugins/own}, remnd: {}}\n',
    );
    const look = lookAtPlugins({ project: project.path, mode: 'production', environment: {} });
    assert.match(look.stale.join('\n'), /^plugins\/own\/index\.ts \(and 1 more\)/);
    assert.match(
      look.missing.map(({ message }) => message).join('\n'),
      /^svc\.config\.yml:2:\d+ plugins\.remnd names no plugin: .*did you mean remind\?$/,
    );
  });

  it('is no matter of tests, nor of code without a source', async (t) => {
    const { path } = projectWith(t, [
      'plugins/own/own.test.ts',
      'dist/plugins/own/own.test.js',
      'dist/plugins/own/index.js',
    ]);
    utimesSync(join(path, 'dist/plugins/own/own.test.js'), OLD, OLD);

    await loadPlugin('./plugins/own', { project: path, mode: 'production', warned: (text) => assert.fail(text) });
  });
});
