// What a lane runner reads from the disk: all that is open, and not more often than there is something new.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../shared/time/clock.ts';
import type { Core } from '../../../worker/core/core.ts';
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

  next(): LaneItem {
    this.#seq += 1;
    return { seq: this.#seq, id: `i${this.#seq}`, endpoint: 'e', lane: `l${this.#seq}`, nextAt: null };
  }

  store(item = this.next()): number {
    this.#open.push(item);
    return item.seq;
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

  it('starts what may start as soon as it is stored without a read, and not before', async (t) => {
    const disk = new Disk();
    t.after(() => disk.runner.stop(0));
    disk.runner.start();
    await disk.runner.settled();
    const before = disk.reads;
    const item = disk.next();
    const slot = disk.runner.storing(item, true);
    disk.store(item);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(disk.ran, []);

    slot.begin();

    await disk.runner.settled();
    assert.deepEqual(disk.ran, [item.seq]);
    assert.equal(disk.reads, before);
  });

  it('frees the lane of what could not be stored', async (t) => {
    const disk = new Disk();
    t.after(() => disk.runner.stop(0));
    disk.runner.start();
    await disk.runner.settled();
    const item = disk.next();

    disk.runner.storing(item, true).abandon();
    await disk.runner.settled();

    assert.equal(disk.runner.isFree(item.lane), true);
    disk.store(item);
    disk.runner.wake();
    await until(() => disk.ran.includes(item.seq), { what: 'the same item, stored after all' });
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
