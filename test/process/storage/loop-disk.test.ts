// The disks of tests: one whose power is cut comes back though somebody else still sees the one of before, and one without room says so.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { LoopDisk, loopDiskMissing } from '../../support/disk/loop-disk.ts';
import { ThinDisk } from '../../support/disk/thin-disk.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const PAGES = 16;
const PAGE_BYTES = 4_096;

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

it('a disk that has run out fails the sync of a write that it has room for only at first', {
  skip: loopDiskMissing(),
}, (t) => {
  const { stateDir } = temporaryProject(t).paths;
  const disk = new ThinDisk(t, stateDir, { roomForJournal: true });
  const file = join(stateDir, 'begun');
  execFileSync('fallocate', ['-l', String(PAGES * PAGE_BYTES), file]);
  writeFileSync(file, Buffer.alloc(PAGE_BYTES, 'a'), { flag: 'r+', flush: true });

  disk.runOut();

  writeFileSync(file, Buffer.alloc(PAGE_BYTES, 'b'), { flag: 'r+', flush: true });
  const all = { flag: 'r+', flush: true };
  assert.throws(() => writeFileSync(file, Buffer.alloc(PAGES * PAGE_BYTES, 'c'), all), /ENOSPC|EIO/);
});
