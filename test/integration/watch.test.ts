// The watch of development over files that go while it ends: the process it is in comes to its end.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

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
