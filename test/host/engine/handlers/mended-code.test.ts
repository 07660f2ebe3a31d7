// Code of a plugin that could not be taken in, and was mended: a module that has failed fails the same way ever after in this process.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { SvcError } from '../../../../shared/svc-error.ts';
import { EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';
import { temporaryProject } from '../../../support/temporary-project.ts';

const GOOD = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'own', setup(p) { p.on('message', {}, () => 'own'); } });
`;
const CONFIG = { plugins: { own: { use: './plugins/own.js' } } };
const WITH_LIB = `import './parts/lib.js';\n${GOOD}`;

/** What it is broken by, and what mends it. */
const FAULTS: readonly {
  readonly what: string;
  readonly broken: Readonly<Record<string, string>>;
  readonly mended: Readonly<Record<string, string>>;
  readonly told: readonly string[];
}[] = [
  {
    what: 'a syntax error',
    broken: { 'own.js': 'syntax error(' },
    mended: { 'own.js': GOOD },
    told: ['plugins/own.js'],
  },
  {
    what: 'a setup that throws',
    broken: { 'own.js': GOOD.replace('p.on(', "throw new Error('boom'); p.on(") },
    mended: { 'own.js': GOOD },
    told: ['plugins/own.js'],
  },
  {
    what: 'a syntax error in a file that it imports',
    broken: { 'own.js': WITH_LIB, 'parts/lib.js': "import '../more.js';\n", 'more.js': 'syntax error(' },
    mended: { 'more.js': '' },
    told: ['plugins/more.js'],
  },
  {
    what: 'a file that it imports and that is not there',
    broken: { 'own.js': WITH_LIB },
    mended: { 'parts/lib.js': '' },
    told: ['plugins/parts/lib.js'],
  },
  {
    what: 'a package that it imports and that is not installed',
    broken: { 'own.js': `import '@scope/absent';\n${GOOD}` },
    mended: { '../node_modules/@scope/absent/package.json': '{ "exports": "./x.js" }' },
    told: ['node_modules/@scope/absent/package.json'],
  },
];

const reloadOf = (host: EngineHost): Promise<SvcError | undefined> =>
  host.engine.runtime.reload('test').then(
    () => undefined,
    (error: SvcError) => error,
  );

/** Nothing of the plugin serves: the first assembly has failed. */
async function failedHost(t: TestContext, plugins: Readonly<Record<string, string>>): Promise<EngineHost> {
  const project = temporaryProject(t, { plugins });
  const host = new EngineHost(project, { mode: 'production', config: CONFIG });
  t.after(() => host.stop());
  await host.start().catch(() => {}); // said by the runtime
  return host;
}

describe('code that was mended', () => {
  for (const { what, broken, mended, told } of FAULTS) {
    const mend = (host: EngineHost): void => {
      for (const [name, text] of Object.entries(mended)) host.project.write(join('plugins', name), text);
    };

    it(`needs a restart after a first assembly that failed for ${what}`, async (t) => {
      const host = await failedHost(t, broken);
      const before = await reloadOf(host);
      mend(host);

      const after = await reloadOf(host);

      assert.equal(before?.code, 'plugin_failed');
      assert.deepEqual([after?.code, after?.details['files']], ['restart_required', told]);
      assert.equal((await host.engine.runtime.checkNext()).isChanged, true);
    });

    it(`needs a restart after a reload that was refused for ${what}, and the old generation serves`, async (t) => {
      const host = await engineHost(t, { mode: 'production', plugins: broken });
      host.configure(CONFIG);
      const before = await reloadOf(host);
      mend(host);

      const after = await reloadOf(host);

      assert.equal(before?.code, 'plugin_failed');
      assert.deepEqual([after?.code, after?.details['files']], ['restart_required', told]);
      assert.equal(host.engine.runtime.current?.number, 1);
    });
  }

  it('is no matter for a reload that does without the plugin', async (t) => {
    const host = await failedHost(t, { 'own.js': 'syntax error(' });
    host.project.write('plugins/own.js', GOOD);
    host.configure({});

    const end = await reloadOf(host);

    assert.deepEqual([end, host.engine.runtime.current?.number], [undefined, 1]);
  });

  it('needs no restart where the file was not there: nothing of it was loaded', async (t) => {
    const host = await failedHost(t, {});
    const before = await reloadOf(host);
    mkdirSync(join(host.project.path, 'plugins'), { recursive: true });
    host.project.write('plugins/own.js', GOOD);

    const after = await reloadOf(host);

    assert.match(String(before?.message), /nothing is at/);
    assert.equal(after, undefined);
  });

  it('counts where a file that a serving plugin imports has changed', async (t) => {
    const host = await engineHost(t, {
      mode: 'production',
      plugins: { 'own.js': WITH_LIB, 'parts/lib.js': '' },
      config: CONFIG,
    });
    host.project.write('plugins/parts/lib.js', '// changed\n');

    const end = await reloadOf(host);

    assert.deepEqual([end?.code, end?.details['files']], ['restart_required', ['plugins/parts/lib.js']]);
  });
});
