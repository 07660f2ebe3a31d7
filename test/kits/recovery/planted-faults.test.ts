// The kit sees what it is for: a host or a command with a planted fault is found.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopDiskMissing } from '../../support/disk/loop-disk.ts';
import { seeded } from '../crash/kit/random.ts';
import { CodeCutRun } from './kit/code-cut-run.ts';
import { CutRun } from './kit/cut-run.ts';
import { KillRun } from './kit/kill-run.ts';
import { moments } from './kit/moments.ts';

const MOST_CYCLES = 5;
const MOST_CUTS = 20;
const MOST_CHECKPOINTS = 20;

describe('a planted fault of a restore', { concurrency: 1 }, () => {
  for (const [plant, fault] of Object.entries({
    'restore-keeps-epoch': /the epoch is one of before/,
    'restore-without-carry': /is lost, not|was answered 2 times/,
  }))
    it(`is found: ${plant}`, { timeout: 900_000 }, async (t) => {
      const run = await KillRun.create(t, { random: seeded(1), kills: 0, plant });
      // A start that finishes a restore takes another epoch by itself.
      for (let cycle = 0; cycle < MOST_CYCLES && !run.faults.some((found) => fault.test(found)); cycle += 1)
        await run.cycle();
      console.log(`${plant}: ${run.summary()}: ${run.faults[0]}`);
      assert.ok(
        run.faults.some((found) => fault.test(found)),
        run.faults.slice(0, 3).join('; '),
      );
    });

  it('is found: folder-without-sync', { skip: loopDiskMissing(), timeout: 900_000 }, async (t) => {
    const fault = /the restore is undone by the cut/;
    const run = await CutRun.create(t, { random: seeded(1), fileSystem: 'ext4', plant: 'folder-without-sync' });
    while (run.cuts < MOST_CUTS && !run.faults.some((found) => fault.test(found))) await run.cut();
    console.log(`folder-without-sync: ${run.summary()}: ${run.faults[0]}`);
    assert.ok(
      run.faults.some((found) => fault.test(found)),
      `not found in ${run.cuts} cuts; ${run.faults.slice(0, 3).join('; ')}`,
    );
  });
});

describe('a planted fault of an exchange of code', { concurrency: 1, skip: loopDiskMissing() }, () => {
  for (const [plant, fault] of Object.entries({
    'folder-without-sync': /undone by the cut|is neither version|cannot be finished/,
    'code-without-sync': /is neither version|is not the tree that was checked/,
  }))
    it(`is found: ${plant}`, { timeout: 900_000 }, async (t) => {
      const run = await CodeCutRun.create(t, { random: seeded(1), fileSystem: 'ext4', plant });
      try {
        while (run.cuts < MOST_CUTS && run.faults.length === 0) await run.release();
      } catch (error) {
        run.faults.push(String(error)); // what lies there is of no use any more
      }
      const found = run.faults;
      console.log(`${plant}: ${run.summary()}: ${found[0]}`);
      assert.ok(
        found.some((text) => fault.test(text)),
        found.slice(0, 3).join('; '),
      );
    });
});

describe('a planted fault of a checkpoint under load', () => {
  it('is found: checkpoint-without-hold', { timeout: 900_000 }, async (t) => {
    const { faults } = await moments(t, { most: MOST_CHECKPOINTS, plant: 'checkpoint-without-hold' });
    console.log(`checkpoint-without-hold: ${faults[0]}`);
    assert.notDeepEqual(faults, []);
  });
});
