// The door of the README: `npm start` in a fresh copy of the tree builds, makes .env, starts the host in the foreground, and
// passes signals and exit codes through npm unchanged.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeLive } from '../../support/disk/remove-live.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
/** What git does not have, and what a start does not need. */
const LEFT_OUT = new Set(['node_modules', 'dist', 'data', 'coverage', 'test', '.git', '.svc', '.env']);
/** It builds: minutes on a machine that has others to serve. */
const START_LIMIT_MS = 400_000;

// One tree: what the first start has built, the second one finds.
describe('npm start in a fresh copy of the tree', () => {
  const tree = mkdtempSync(join(tmpdir(), 'svc-tree-'));
  before(() => {
    for (const name of readdirSync(REPOSITORY).filter((entry) => !LEFT_OUT.has(entry)))
      cpSync(join(REPOSITORY, name), join(tree, name), { recursive: true });
    symlinkSync(join(REPOSITORY, 'node_modules'), join(tree, 'node_modules'), 'dir');
  });
  after(() => removeLive(tree));

  it('builds, makes a private .env, says what to open, serves, and ends with 0 on SIGTERM', async (t) => {
    const port = await freePort();
    const { child, output } = npmStart(t, tree, { HTTP_PORT: String(port) });

    const isServing = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/pub/ready`)).status === 200;
    const end = once(child, 'exit').then(([code]) => assert.fail(`ended with ${code}: ${output()}`));
    end.catch(() => {}); // it also ends where it should
    const waiting = { what: 'the host to be ready', timeoutMs: START_LIMIT_MS, everyMs: 100 };
    const ready = await Promise.race([until(isServing, waiting), end]);
    const door = new RegExp(`open +http://127\\.0\\.0\\.1:${port}/`);
    await until(() => door.test(output()), { what: 'the line that says what to open' });
    assert.match(output(), /^type +ping /m);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number | null];

    assert.equal(ready, true);
    assert.equal(statSync(join(tree, '.env')).mode & 0o777, 0o600);
    const token = /^HTTP_TOKEN=([\w-]{43})$/m.exec(readFileSync(join(tree, '.env'), 'utf8'))?.[1];
    assert.ok(token !== undefined, '256 bits');
    assert.ok(!output().includes(token), 'the token is not in what may end in a log');
    assert.equal(code, 0, output());
    await assert.rejects(fetch(`http://127.0.0.1:${port}/pub/health`), 'nothing is left that listens');
  });

  it('ends with 78 where the configuration is invalid', async (t) => {
    const { child, output } = npmStart(t, tree, { HTTP_PORT: 'not-a-port' });

    const [code] = (await once(child, 'exit')) as [number | null];

    assert.equal(code, 78, output());
  });
});

function npmStart(
  t: TestContext,
  cwd: string,
  environment: Readonly<Record<string, string>>,
): { child: ChildProcess; output: () => string } {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^npm_(?!config_)|^NODE_TEST|^NODE_OPTIONS$|^HTTP_/i.test(name),
  );
  const child = spawn('npm', ['start'], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  t.after(() => child.kill('SIGKILL'));
  return { child, output: () => text };
}
