// The guide for authors (worker/sdk/README.md): its code is taken out as it stands, checked by the compiler, and run.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { AdapterModule } from 'svc';
import { adapterBench } from 'svc/testing';
import { compilerSays } from '../../support/compiler.ts';
import { importSource } from '../../support/import-source.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const NAMES = ['tea.ts', 'tea.test.ts', 'wire.ts', 'index.ts', 'index.test.ts'];
/** Its package.json has another name here: a package inside of a package is none. */
const PACKAGE = ['manifest.json', 'tsconfig.json', 'index.ts', 'index.test.ts'];
const run = promisify(execFile);

describe('the guide', async () => {
  const folder = await mkdtemp(join(ROOT, 'test', '.guide-'));
  before(async () => {
    const guide = await readFile(join(ROOT, 'worker/sdk/README.md'), 'utf8');
    const blocks = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
    assert.equal(blocks.length, NAMES.length);
    for (const [i, code] of blocks.entries()) await writeFile(join(folder, NAMES[i] ?? ''), code);
  });
  after(() => rm(folder, { recursive: true }));

  it('compiles', async () => {
    assert.equal(await compilerSays(NAMES.map((name) => join(folder, name))), '');
  });

  it('has a plugin and an adapter whose tests pass', async () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    // In one process, as `npm test` runs small files.
    const tests = ['tea.test.ts', 'index.test.ts'].map((name) => pathToFileURL(join(folder, name)).href);
    const program = tests.map((url) => `import ${JSON.stringify(url)};`).join('');
    const args = ['--import', 'tsx', '--test-reporter=tap', '--input-type=module', '--eval', program];
    const { stdout } = await run(process.execPath, args, { cwd: ROOT, env });
    assert.match(stdout, /^# pass 18$/m);
  });

  it('shows the package that is packed, installed and run (test/platforms/any/third-party-adapter.test.ts), file by file', async () => {
    const guide = await readFile(join(ROOT, 'worker/sdk/README.md'), 'utf8');
    const shown = [...guide.matchAll(/^```(?:json|ts)\n([\s\S]*?)^```$/gm)].map(([, text = '']) => sameAs(text));
    for (const name of PACKAGE) {
      const text = await readFile(join(ROOT, 'test/support/fixtures/svc-adapter-ntfy', name), 'utf8');
      assert.ok(shown.includes(sameAs(text)), name);
    }
  });

  it('has an adapter that takes what is signed', async () => {
    const { default: wire } = (await importSource(join(folder, 'wire.ts'))) as { default: AdapterModule };
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
