// A state folder that is no longer the one that a process began with.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { StateWatch } from '../../../shared/files/state-watch.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

/** A folder with something in it, changed later than it was made. */
async function folder(path: string): Promise<void> {
  mkdirSync(path, { mode: 0o700 });
  await until(
    () => {
      writeFileSync(join(path, 'file'), '');
      rmSync(join(path, 'file'));
      const { birthtimeNs, ctimeNs } = statSync(path, { bigint: true });
      return birthtimeNs === 0n || ctimeNs !== birthtimeNs;
    },
    { what: 'another time of change' },
  );
}

async function watched(t: Cleanup): Promise<{ readonly path: string; readonly watch: StateWatch }> {
  const path = temporaryProject(t).paths.stateDir;
  await folder(path);
  return { path, watch: new StateWatch(path) };
}

describe('the watch over the state folder', () => {
  it('sees one that was made anew, whatever inode it got', async (t) => {
    const { path, watch } = await watched(t);
    rmSync(path, { recursive: true });
    await folder(path);

    assert.match(watch.lostNow() ?? '', /\.svc was removed, moved or replaced while running: stopping$/);
    assert.equal(watch.lostNow(), undefined);
  });

  it('makes one again where it was moved', async (t) => {
    const { path, watch } = await watched(t);
    renameSync(path, `${path}-elsewhere`);

    assert.match(watch.lostNow() ?? '', /\.svc was removed/);
    assert.equal(statSync(path).mode & 0o777, 0o700);
  });

  it('takes no change of it for a loss', async (t) => {
    const { path, watch } = await watched(t);
    writeFileSync(join(path, 'another'), '');
    const first = watch.lostNow();
    chmodSync(path, 0o500);

    assert.deepEqual([first, watch.lostNow()], [undefined, undefined]);
    chmodSync(path, 0o700);
  });
});
