// What a lane runner reads from the disk: all that is open, and not more often than there is something new.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../shared/clock.ts';
import type { Core } from '../../../worker/core.ts';
import { LaneRunner } from '../../../worker/lanes/lane-runner.ts';
import type { LaneItem } from '../../../worker/lanes/lanes.ts';
import { until } from '../../support/until.ts';

const LIMITS = { concurrency: 10, endpointConcurrency: 10 };

/** A disk on which items are stored one after the other; each is done when it has run. */
class Disk {
  readonly ran: number[] = [];
  reads = 0;
  #open: LaneItem[] = [];
  #seq = 0;
  /** Called while a page is being read, after what it saw. */
  meanwhile: () => void = () => {};
  readonly runner = new LaneRunner<LaneItem>({
    name: 'test',
    core: { clock: systemClock } as Core,
    limits: () => LIMITS,
    held: () => false,
    readOpen: async (after, limit) => {
      this.reads += 1;
      const rows = this.#open.filter(({ seq }) => seq > after).slice(0, limit);
      this.meanwhile();
      return rows;
    },
    readLane: async () => [],
    run: async ({ seq }) => {
      this.ran.push(seq);
      this.#open = this.#open.filter((one) => one.seq !== seq);
      return 'left';
    },
  });

  store(): number {
    this.#seq += 1;
    const seq = this.#seq;
    this.#open.push({ seq, id: `i${seq}`, endpoint: 'e', lane: `l${seq}`, nextAt: null });
    return seq;
  }
}

describe('LaneRunner', () => {
  it('reads once for what is stored once, though items end while it reads', async (t) => {
    const disk = new Disk();
    t.after(() => disk.runner.stop(0));
    disk.runner.start();
    await disk.runner.settled();
    const before = disk.reads;
    // A turn while a page is read, as the end of any item makes one.
    disk.meanwhile = () => {
      if (disk.reads - before < 5) disk.runner.release('another');
    };

    const seq = disk.store();
    disk.runner.wake();

    await until(() => disk.ran.includes(seq), { what: 'the item' });
    await disk.runner.settled();
    assert.equal(disk.reads - before, 1);
  });

  it('reads again for what is stored behind a read that is under way', async (t) => {
    const disk = new Disk();
    t.after(() => disk.runner.stop(0));
    let late: number | undefined;
    disk.meanwhile = () => {
      if (late !== undefined) return;
      late = disk.store();
      disk.runner.wake();
    };

    disk.runner.start();

    await until(() => late !== undefined && disk.ran.includes(late), { what: 'the late item' });
  });
});
