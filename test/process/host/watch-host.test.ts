// The host in development, as an author has it: what is saved is served, what cannot be served is said, and 75 asks for a restart.
// And plugins from packages.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { portProject, type StartedSvc, startSvc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const source = (version: string): string => `import { definePlugin, t } from 'svc';
import { name } from './name.ts';
const version: string = '${version}';
export default definePlugin({ name: 'own', config: { word: t.string({ default: 'none' }), key: t.optional(t.secret()) }, setup(p) {
  p.route('GET /', { scope: 'none' }, () => ({ json: { version, name, word: p.config.word, key: p.config.key?.reveal() ?? null } }));
} });
`;
const keys = (word: string) => ({
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
  plugins: { sandbox: {}, own: { use: './plugins/own', word, key: '${OWN_KEY}' } },
});

interface Author {
  readonly run: StartedSvc;
  write(name: string, text: string): void;
  writeEnv(key: string): void;
  configure(word: string): void;
  /** Saves again and again until the plugin's route answers so: a watcher does not see what comes while it begins. */
  serves(expected: object, save?: () => void): Promise<void>;
  answer(): Promise<unknown>;
}

async function author(t: TestContext): Promise<Author> {
  const project = await portProject(t, {
    keys: keys('one'),
    env: { OWN_KEY: 'first-key' },
    plugins: { 'own/index.ts': source('1'), 'own/name.ts': "export const name = 'ann';\n" },
  });
  const run = startSvc(['runtime', 'start'], { cwd: project.path });
  t.after(() => void run.child.kill('SIGKILL'));
  const answer = async (): Promise<unknown> => (await fetch(`${project.url}/plugins/own/`)).json();
  return {
    run,
    write: project.write,
    writeEnv: (key) => project.write('.env', project.read('.env').replace(/^OWN_KEY=.*$/m, `OWN_KEY=${key}`)),
    configure: (word) =>
      project.write('svc.config.yml', project.read('svc.config.yml').replace(/word: \w+/, `word: ${word}`)),
    answer,
    async serves(expected, save = () => {}) {
      await until(
        async () => {
          save();
          return JSON.stringify(await answer()) === JSON.stringify(expected);
        },
        { what: JSON.stringify(expected), everyMs: 700 },
      ).catch((error: unknown) => assert.fail(`${String(error)}\n${run.output().slice(-4_000)}`));
    },
  };
}

describe('svc runtime start in development', { concurrency: 3 }, () => {
  it('serves what was saved: TypeScript, a file that it imports, configuration and .env; refuses what is broken and goes on', async (t) => {
    const { run, write, writeEnv, configure, serves, answer } = await author(t);
    const served = { version: '1', name: 'ann', word: 'one', key: 'first-key' };
    await serves(served);

    await serves({ ...served, version: '2' }, () => write('plugins/own/index.ts', source('2')));
    await serves({ ...served, version: '2', name: 'bob' }, () =>
      write('plugins/own/name.ts', "export const name = 'bob';\n"),
    );
    write('plugins/own/index.ts', 'const = broken');
    await until(() => /generation not committed/.test(run.output()), { what: 'the refusal' });
    assert.deepEqual(await answer(), { ...served, version: '2', name: 'bob' });
    assert.match(run.output(), /plugins\/own/);
    await serves({ ...served, version: '3', name: 'bob' }, () => write('plugins/own/index.ts', source('3')));
    await serves({ ...served, version: '3', name: 'bob', key: 'other-key' }, () => writeEnv('other-key'));
    await serves({ version: '3', name: 'bob', word: 'two', key: 'other-key' }, () => configure('two'));
  });

  it('ends with 75 when the lockfile changes, for whoever starts it again', async (t) => {
    const { run, write, serves } = await author(t);
    await serves({ version: '1', name: 'ann', word: 'one', key: 'first-key' });

    let version = 3;
    await until(
      () => {
        if (run.child.exitCode === null)
          write('package-lock.json', JSON.stringify({ lockfileVersion: (version += 1), packages: {} }));
        return run.child.exitCode !== null;
      },
      { what: 'the end', everyMs: 700 },
    );

    assert.equal((await run.ended).code, 75, run.output());
  });
});

describe('a plugin from a package', { concurrency: 3 }, () => {
  it('is found by its name, scoped or not, in development and in production', async (t) => {
    const plugin = (name: string): string => `import { definePlugin } from 'svc';
export default definePlugin({ name: '${name}', setup(p) { p.route('GET /', { scope: 'none' }, () => ({ text: '${name}' })); } });
`;
    for (const mode of ['development', 'production']) {
      const project = await portProject(t, {
        keys: { plugins: { plain: { use: 'svc-plugin-plain' }, scoped: { use: '@ann/greeter' } } },
        plugins: {},
      });
      for (const [name, slot] of [
        ['svc-plugin-plain', 'plain'],
        ['@ann/greeter', 'scoped'],
      ] as const) {
        project.write(
          `node_modules/${name}/package.json`,
          JSON.stringify({ name, version: '1.0.0', type: 'module', exports: './main.js' }),
        );
        project.write(`node_modules/${name}/main.js`, plugin(slot));
      }
      const run = startSvc(['runtime', 'start', '--mode', mode, '--no-watch'], { cwd: project.path });
      t.after(() => void run.child.kill('SIGKILL'));
      const said = async (slot: string): Promise<string> => (await fetch(`${project.url}/plugins/${slot}/`)).text();

      await until(async () => (await said('plain')) === 'plain', { what: `the plugin in ${mode}` });
      assert.equal(await said('scoped'), 'scoped', run.output());
      run.child.kill('SIGTERM');
      assert.equal((await run.ended).code, 0);
    }
  });
});
