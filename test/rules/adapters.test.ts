// What all folders of adapters have, so that who knows one knows the others; and what each README says before anybody relies on it.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from './source-tree.ts';

const FOLDER = join(ROOT, 'worker/adapters');
/** `sandbox` is the chat page of the host itself. */
const ADAPTERS = readdirSync(FOLDER).filter((name) => name !== 'sandbox');
const read = (...path: string[]): string => readFileSync(join(FOLDER, ...path), 'utf8');

describe('folders of adapters', () => {
  it('have the same files: config, parse and send, verify where deliveries come, connect where a connection is kept', () => {
    const missing = ADAPTERS.flatMap((name) => {
      const index = read(name, 'index.ts');
      const wanted = [
        'config',
        'parse',
        'send',
        ...(/^ {2,4}webhook[,:]/m.test(index) ? ['verify'] : []),
        ...(/^ {2,4}connect[,:]/m.test(index) ? ['connect'] : []),
      ];
      return wanted.map((file) => `${name}/${file}.ts`).filter((file) => !existsSync(join(FOLDER, file)));
    });

    assert.ok(ADAPTERS.length >= 9);
    assert.deepEqual(missing, []);
  });

  it('have a README that shows a configuration, how to check an account, and what becomes of what the platform lacks', () => {
    for (const name of ADAPTERS) {
      const text = read(name, 'README.md');
      assert.match(text, /^```yaml$/m, name);
      assert.match(text, /^## Starting, checking, renewing$/m, name);
      assert.match(text, /svc doctor --endpoint/, name);
      assert.match(text, /^## What (?:becomes of what|goes out)$/m, name);
    }
  });

  it('say of every platform that the adapter has not run against it', () => {
    for (const name of ADAPTERS.filter((one) => one !== 'webhook'))
      assert.match(read(name, 'README.md').replaceAll(/\s+|\*/g, ' '), /has +not run against/i, name);
  });
});

describe('the suite of adapters, run for ours', () => {
  const files = ['contract', 'platforms'].flatMap((folder) =>
    readdirSync(join(ROOT, 'test', folder))
      .filter((name) => /^adapter-|-contract\.test\.ts$/.test(name))
      .map((name) => [name, readFileSync(join(ROOT, 'test', folder, name), 'utf8')] as const),
  );
  const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0;

  it('leaves nothing out but for a reason of the platform: each run says `without`', () => {
    for (const [name, text] of files)
      assert.equal(count(text, /^ +without: \{/gm), count(text, /^ *adapterContract\(/gm), name);
  });

  it('is run for each of them', () => {
    const tested = files.map(([name]) => name);

    assert.deepEqual(
      [...ADAPTERS, 'sandbox'].filter((name) => !tested.includes(`adapter-${name}.test.ts`)),
      [],
    );
  });
});
