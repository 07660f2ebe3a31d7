// The watch of development, where it ends while files go, and where it cannot watch: the process that it is in lives as long as it should.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../shared/clock.ts';
import { watchProject } from '../../worker/runtime/watch.ts';

const PROGRAM = fileURLToPath(new URL('../support/fixture-programs/watches-and-ends.ts', import.meta.url));

it('leaves nothing that keeps a process alive, whenever it is ended', { timeout: 300_000 }, async (t) => {
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });

  const code = await new Promise((resolve) => child.once('exit', resolve));

  assert.deepEqual([code, said], [0, 'ended\n']);
});

it('says once what it cannot watch, and goes on', { timeout: 60_000 }, async (t) => {
  const said: unknown[] = [];

  const end = await watchProject({
    project: join('/', ...Array.from({ length: 50 }, () => 'x'.repeat(100))), // longer than any path may be
    clock: systemClock,
    changed: () => {},
    failed: (error) => said.push(error),
  });
  t.after(end);
  await new Promise((resolve) => setImmediate(resolve));

  assert.match(String(said), /ENAMETOOLONG/);
  assert.equal(said.length, 1);
});
