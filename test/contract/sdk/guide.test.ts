// The guides for authors (worker/sdk/guide/) and the plugin of the README: their code is taken out as it stands, checked by the compiler, and run.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { AdapterModule, PluginModule } from 'svc';
import { adapterBench, loopback, type TestBotOptions, testBot } from 'svc/testing';
import { compilerSays } from '../../support/compiler.ts';
import { importSource } from '../../support/import-source.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAGES = ['README.md', ...['plugins', 'adapters', 'testing'].map((name) => `worker/sdk/guide/${name}.md`)];
/** Its package.json has another name here: a package inside of a package is none. */
const PACKAGE = ['manifest.json', 'tsconfig.json', 'index.ts', 'index.test.ts'];
const run = promisify(execFile);

interface Block {
  /** Its first line says so, or the paragraph before it. */
  readonly name: string;
  readonly language: string;
  readonly code: string;
}

async function blocksOf(page: string): Promise<readonly Block[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  return [...text.matchAll(/(?:^`([\w.-]+)`:[^\n]*\n(?:[^\n]+\n)*\n)?^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, before, language = '', code = '']) => {
      const name = /^\/\/ ([\w./-]+)\n/.exec(code)?.[1];
      return { name: name ?? before ?? '', language, code };
    },
  );
}

describe('the guide', async () => {
  const folder = await mkdtemp(join(ROOT, 'test', '.guide-'));
  const blocks = (await Promise.all(PAGES.map(blocksOf))).flat();
  const code = blocks.filter(({ language }) => language === 'ts' || language === 'js');
  before(async () => {
    for (const { name, code: text } of code) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    // With that of the repository the loader would compile the sources below `svc` in place of the package.
    await writeFile(join(folder, 'tsconfig.json'), '{}');
  });
  after(() => rm(folder, { recursive: true }));

  const plugin = async (name: string, options: TestBotOptions = {}) => {
    const { default: module } = (await importSource(join(folder, 'plugins', `${name}.ts`))) as {
      default: PluginModule;
    };
    return testBot(module, options);
  };

  it('names the file of each piece of code, once', () => {
    const names = code.map(({ name }) => name);

    assert.ok(names.length >= 14, names.join(' '));
    assert.deepEqual(
      names.filter((name, index) => name === '' || names.indexOf(name) !== index),
      [],
    );
  });

  it('compiles', async () => {
    const sources = code.filter(({ language }) => language === 'ts').map(({ name }) => join(folder, name));

    assert.equal(await compilerSays(sources), '');
  });

  it('has a plugin and an adapter whose tests pass', async () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    // In one process, as `npm test` runs small files.
    const tests = code.filter(({ name }) => /\.test\.[jt]s$/.test(name)).map(({ name }) => join(folder, name));
    const program = tests.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};`).join('');
    const loader = pathToFileURL(join(ROOT, 'node_modules/tsx/dist/loader.mjs')).href;
    const args = ['--import', loader, '--test-reporter=tap', '--input-type=module', '--eval', program];
    const { stdout } = await run(process.execPath, args, { cwd: folder, env });
    // 17 of the adapter, the one of the plugin, the one of the harness.
    assert.match(stdout, /^# pass 19$/m);
    assert.match(stdout, /^# fail 0$/m);
  });

  it('has a command', async () => {
    const bot = await plugin('greeter', { config: { greeting: 'hi' } });
    await bot.person('ann').says('/greet Bob');
    assert.deepEqual(bot.shown('dm-ann'), ['hi Bob']);
  });

  it('has buttons', async () => {
    const bot = await plugin('lunch');
    await bot.person('ann').says('/lunch');
    await bot.person('ann').presses('pizza');
    assert.deepEqual(bot.shown('dm-ann'), ['**Lunch?**', 'ann takes pizza.']);
  });

  it('has a state', async () => {
    const bot = await plugin('visits');
    await bot.person('ann').says('/hello');
    await bot.restart();
    await bot.person('ann').says('/hello');
    assert.deepEqual(bot.shown('dm-ann'), ['Visit 1.', 'Visit 2.']);
  });

  it('has a dialog', async () => {
    const bot = await plugin('order');
    for (const line of ['/order', 'large', '12 High Street']) await bot.person('ann').says(line);
    assert.deepEqual(bot.shown('dm-ann'), ['Which size?', 'Where to?', 'A large one goes to 12 High Street.']);
  });

  it('has a time', async () => {
    const bot = await plugin('morning', { config: { to: { endpoint: 'fake', id: 'team' } } });
    await bot.due('morning', 'morning', bot.clock.now());
    assert.deepEqual(bot.shown('team'), ['Good morning.']);
  });

  it('has a webhook', async () => {
    const bot = await plugin('deploys', { config: { secret: 's3cret', to: { endpoint: 'fake', id: 'team' } } });
    const body = JSON.stringify({ version: '1.2' });
    const signature = createHmac('sha256', 's3cret').update(body).digest('hex');
    const post = async (headers: Record<string, string>) =>
      (await bot.post('deploys/done', { body, headers: { 'x-delivery': '1', ...headers } })).status;

    assert.deepEqual([await post({ 'x-signature': signature }), await post({ 'x-signature': 'wrong' })], [202, 401]);
    assert.deepEqual(bot.shown('team'), ['Version 1.2 is out.']);
  });

  it('has a call to the outside', async (t) => {
    const url = await loopback(t, () => ({ json: { number: 7 } }));
    const bot = await plugin('ticket', { config: { url } });
    await bot.person('ann').says('/ticket The door is stuck');
    assert.deepEqual(bot.shown('dm-ann'), ['Ticket 7 is open.']);
  });

  it('has a listener and a route', async () => {
    const bot = await plugin('gate');
    await bot.person('ann').says('Knock knock');
    assert.deepEqual(bot.shown('dm-ann'), ['Come in.']);
    assert.deepEqual(await bot.call('root/gate#route/GET /opened'), { status: 200, json: { opened: 1 } });
  });

  it('shows the package that is packed, installed and run (platforms/third-party-adapter.test.ts), file by file', async () => {
    const shown = blocks.map(({ code: text }) => sameAs(text));
    for (const name of PACKAGE) {
      const text = await readFile(join(ROOT, 'test/support/fixtures/svc-adapter-ntfy', name), 'utf8');
      assert.ok(shown.includes(sameAs(text)), name);
    }
  });

  it('has an adapter that takes what is signed', async () => {
    const { default: wire } = (await importSource(join(folder, 'adapters/wire.ts'))) as { default: AdapterModule };
    const bench = adapterBench(wire, { url: 'http://127.0.0.1:9', token: 'tok' });
    const body = Buffer.from(
      JSON.stringify({ id: 'd1', room: 'r', author: { id: 'u', name: 'Ann' }, text: 'hi', at: 1 }),
    );
    const signature = createHmac('sha256', 'tok').update(body).digest('hex');
    const request = {
      method: 'POST',
      path: '',
      query: {},
      headers: { 'wire-signature': signature },
      body,
      receivedAt: 0,
    };

    assert.deepEqual(await bench.deliver(request), { status: 200 });
    assert.deepEqual(await bench.deliver({ ...request, headers: {} }), { status: 401 });
    assert.match(JSON.stringify(bench.logs.at(-1)), /refused/);
    assert.match(JSON.stringify(bench.logs.at(-1)), /no signature/);
    assert.deepEqual(
      bench.stored.map(({ id }) => id),
      ['d1'],
    );
  });
});

/** JSON however it is laid out. */
const sameAs = (text: string): string => (text.startsWith('{') ? JSON.stringify(JSON.parse(text)) : text);
