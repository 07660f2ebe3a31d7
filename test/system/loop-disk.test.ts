// The disk of tests that cut its power: it comes back though somebody else still sees the one of before.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { LoopDisk, loopDiskMissing } from '../support/loop-disk.ts';
import { temporaryProject } from '../support/temporary-project.ts';

it('a disk takes writes after a cut of its power, whoever made a mount namespace before', {
  skip: loopDiskMissing(),
}, async (t) => {
  const { stateDir } = temporaryProject(t).paths;
  const disk = new LoopDisk(t, stateDir, 16);
  const kept = join(stateDir, 'kept');
  writeFileSync(kept, 'synced', { flush: true });
  // As sandboxes and containers of other tests do it.
  const other = spawn('unshare', ['--mount', 'sh', '-c', 'echo there; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => void other.kill('SIGKILL'));
  await once(other.stdout, 'data');

  await disk.cutPower();
  disk.unmount();
  disk.mount();

  assert.equal(readFileSync(kept, 'utf8'), 'synced');
  writeFileSync(kept, 'anew', { flush: true });
});
