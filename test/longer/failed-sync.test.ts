// Syncs that really fail, or whose disk goes while they run, under deliveries that do not pause: whatever was answered with 2xx is there when the
// disk is mounted anew, and nothing is answered so after the disk has gone. What is injected before a commit is in storage-faults.test.ts. A sync that
// a cut of the power overtakes is said to have worked by the kernel itself now and then (ext4, Linux 6.18: twice in 60 cuts under one file that is
// appended to and synced, without us): what is answered while the cut is made is left out; test/crash/power-cut.test.ts freezes the worker first.
// What is taken again after a failed sync is safe only once the disk was mounted anew. What could not be written the kernel takes for written; what is
// written over it later, and synced without an error, is not there after the next mount, or once the kernel has forgotten the page (the same kernel, a
// plain file). So what is taken after the fault is left out where the disk is not mounted anew, and README and the log tell operators to do that.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { workerLog } from '../crash/kit/worker-life.ts';
import { FaultyHost } from '../support/faulty-host.ts';
import { LoopDisk, loopDiskMissing } from '../support/loop-disk.ts';
import type { Cleanup } from '../support/temporary-project.ts';
import { ThinDisk } from '../support/thin-disk.ts';
import { until } from '../support/until.ts';

const TIMEOUT = { timeout: 590_000 };
const LANES = 8;
const REFUSALS = 200;

/** Deliveries from several senders at once, each the next one as soon as it has its answer; ends with the call, and with the test. */
function deliveries(t: Cleanup, host: FaultyHost): () => Promise<void> {
  const over = new AbortController();
  const sender = async (): Promise<void> => {
    while (!over.signal.aborted) await host.deliver(`hello ${'.'.repeat(2_000)}`);
  };
  const all = Promise.all(Array.from({ length: LANES }, sender));
  all.catch(() => {}); // told to whoever ends them
  t.after(() => over.abort());
  return async () => {
    over.abort();
    await all;
  };
}

/** All that was acknowledged is an item that was handled, also after the disk was mounted anew. */
async function assertKept(host: FaultyHost, acknowledged: readonly string[] = host.acknowledged): Promise<void> {
  await host.isReady(true);
  const items = await host.handled();
  assert.deepEqual(
    acknowledged.filter((id) => items.get(id)?.state !== 'done'),
    [],
  );
}

describe('under deliveries without a pause', { skip: loopDiskMissing() }, () => {
  it('a sync that fails on the disk is followed by no 2xx for what it should have kept', TIMEOUT, async (t) => {
    let disk: ThinDisk | undefined;
    const host = await FaultyHost.start(t, {
      prepare: ({ paths }) => {
        disk = new ThinDisk(t, paths.stateDir);
      },
    });
    const end = deliveries(t, host);
    await until(() => host.acknowledged.length >= 100, { what: 'deliveries to be taken' });

    disk?.runOut();
    await until(() => host.refused.length >= REFUSALS, { what: 'deliveries to be refused' });
    await end();
    const during = host.acknowledged.length;
    await host.life.kill();
    disk?.refill();
    disk?.remount();
    host.restart();

    await assertKept(host);
    t.diagnostic(`${during} acknowledged, ${host.refused.length} refused`);
    assert.match(readFileSync(workerLog(host.project.path), 'utf8'), /IOERR_FSYNC/, 'it was a sync that failed');
    assert.deepEqual(await host.redeliver(), [200]);
    await assertKept(host);
  });

  it(
    'a disk that has room again is used again by the same process, and nothing of what was acknowledged before is missing',
    TIMEOUT,
    async (t) => {
      let disk: ThinDisk | undefined;
      const host = await FaultyHost.start(t, {
        prepare: ({ paths }) => {
          disk = new ThinDisk(t, paths.stateDir, { roomForJournal: true });
        },
      });
      const end = deliveries(t, host);
      await until(() => host.acknowledged.length >= 100, { what: 'deliveries to be taken' });

      const before = [...host.acknowledged];
      disk?.runOut();
      await until(() => host.refused.length >= REFUSALS, { what: 'deliveries to be refused' });
      const during = host.acknowledged.length;
      disk?.refill();
      await until(() => host.acknowledged.length >= during + 100, { what: 'deliveries to be taken again' });
      await end();
      assert.equal(host.life.end, undefined);
      await host.life.kill();
      host.restart();

      await assertKept(host, before);
    },
  );

  it('no 2xx follows the loss of the power, and none from before it is lost', TIMEOUT, async (t) => {
    let disk: LoopDisk | undefined;
    const host = await FaultyHost.start(t, {
      prepare: ({ paths }) => {
        disk = new LoopDisk(t, paths.stateDir);
      },
    });
    const end = deliveries(t, host);
    await until(() => host.acknowledged.length >= 100, { what: 'deliveries to be taken' });

    const cutPower = await disk?.arm();
    const before = [...host.acknowledged];
    await cutPower?.();
    await until(() => host.refused.length >= LANES, { what: 'what was under way to be refused' });
    const atCut = host.acknowledged.length;
    await until(() => host.refused.length >= REFUSALS, { what: 'deliveries to be refused' });
    await end();
    const after = host.acknowledged.length - atCut;
    await host.life.kill();
    disk?.unmount();
    disk?.mount();
    host.restart();

    assert.equal(after, 0);
    await assertKept(host, before);
  });
});
