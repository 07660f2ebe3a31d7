// The disk budget: what it says before its first look, and what it looks at where the database lies elsewhere.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fewFilesLeft } from '../../../shared/files/free-files.ts';
import { systemClock } from '../../../shared/time/clock.ts';
import { DiskBudget, type DiskLimits } from '../../../worker/readiness/disk-budget.ts';
import { type SmallDisk, smallDisk, smallDiskMissing, takeInodes } from '../../support/disk/small-disk.ts';
import type { Cleanup } from '../../support/temporary-project.ts';

const MIB = 1024 * 1024;

function made(t: Cleanup, { kilobytes, inodes, ...limits }: Partial<DiskLimits & SmallDisk> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'svc-disk-'));
  const folder = join(root, '.svc');
  const elsewhere = join(root, 'elsewhere');
  for (const place of [folder, elsewhere]) mkdirSync(place);
  if (kilobytes !== undefined) smallDisk(t, elsewhere, { kilobytes, ...(inodes === undefined ? {} : { inodes }) });
  t.after(() => rmSync(root, { recursive: true }));
  const budget = (database: string): DiskBudget =>
    new DiskBudget({
      folders: [folder],
      without: [join(folder, 'checkpoints')],
      database,
      limits: () => ({ maxBytes: 1e12, minFreeBytes: 0, ...limits }),
      clock: systemClock,
      changed: () => {},
    });
  const write = (file: string): void => {
    writeFileSync(file, 'x'.repeat(4_096));
    writeFileSync(`${file}-wal`, 'x'.repeat(1_000));
  };
  return { folder, elsewhere, budget, write };
}

describe('the disk budget', () => {
  it('tells whoever asks before its first look what is there, not that it does not know', async (t) => {
    const { folder, budget, write } = made(t);
    write(join(folder, 'data.sqlite'));

    const { usedBytes, freeBytes } = await budget(join(folder, 'data.sqlite')).use();

    assert.equal(usedBytes, 5_096);
    assert.ok(freeBytes > 0 && Number.isFinite(freeBytes), String(freeBytes));
  });

  it('leaves checkpoints out: they have a bound of their own, and close no ingress', async (t) => {
    const { folder, budget, write } = made(t, { maxBytes: 6_000 });
    write(join(folder, 'data.sqlite'));
    mkdirSync(join(folder, 'checkpoints', 'c1'), { recursive: true });
    write(join(folder, 'checkpoints', 'c1', 'data.sqlite'));
    const disk = budget(join(folder, 'data.sqlite'));

    assert.deepEqual([(await disk.look()).usedBytes, disk.low], [5_096, undefined]);
  });

  it('counts a database that lies elsewhere, with its log', async (t) => {
    const { folder, elsewhere, budget, write } = made(t, { maxBytes: 5_000 });
    const database = budget(join(elsewhere, 'data.sqlite'));
    const before = await database.look();
    write(join(elsewhere, 'data.sqlite'));
    writeFileSync(join(elsewhere, 'of-somebody-else'), 'x'.repeat(10_000));

    const { usedBytes } = await database.look();

    assert.deepEqual([before.usedBytes, usedBytes], [0, 5_096]);
    assert.match(database.low ?? '', /^the state takes 5096 bytes, disk.maxBytes allows 5000$/);
    symlinkSync(join(elsewhere, 'data.sqlite'), join(folder, 'data.sqlite'));
    assert.equal((await budget(join(folder, 'data.sqlite')).look()).usedBytes, 5_096, 'by a link');
  });

  it('counts inodes, of which some file systems have no number', { skip: smallDiskMissing() }, async (t) => {
    const { folder, elsewhere, budget } = made(t, { kilobytes: 2_048, inodes: 16 });
    const far = budget(join(elsewhere, 'data.sqlite'));
    const lows: (string | undefined)[] = [];
    const look = async (): Promise<void> => {
      await far.look();
      lows.push(far.low);
    };

    await look();
    const giveBack = takeInodes(elsewhere);
    await look();
    giveBack();
    await look();

    assert.deepEqual([lows[0], lows[2]], [undefined, undefined]);
    assert.match(lows[1] ?? '', /^0 of 16 inodes are free: new files need some; remove files there/);
    assert.equal(fewFilesLeft({ files: 0, ffree: 0 }), undefined, 'btrfs');
    const near = budget(join(folder, 'data.sqlite'));
    await near.look();
    assert.equal(near.low, undefined);
  });

  it('asks for room where the database lies', { skip: smallDiskMissing() }, async (t) => {
    const { folder, elsewhere, budget, write } = made(t, { minFreeBytes: 4 * MIB, kilobytes: 2_048 });
    const far = budget(join(elsewhere, 'data.sqlite'));

    for (const _ of ['not there yet', 'there']) {
      const { freeBytes } = await far.look();
      assert.ok(freeBytes <= 2 * MIB, String(freeBytes));
      assert.match(
        far.low ?? '',
        /^\d+ bytes are free where the database lies, disk.minFreeBytes asks for \d+: \d+ more are needed$/,
      );
      write(join(elsewhere, 'data.sqlite'));
    }
    const near = budget(join(folder, 'data.sqlite'));
    await near.look();
    assert.equal(near.low, undefined);
  });
});
