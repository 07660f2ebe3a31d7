// Syncs that really fail, or whose disk goes while they run, under deliveries that do not pause: whatever was answered with 2xx is there when the
// disk is mounted anew, and nothing is answered so after the disk has gone. What is injected before a commit is in storage-faults.test.ts. A sync that
// a cut of the power overtakes is said to have worked by the kernel itself now and then (ext4, Linux 6.18: twice in 60 cuts under one file that is
// appended to and synced, without us): what is answered while the cut is made is left out; test/kits/crash/power-cut.test.ts freezes the worker first.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Sqlite } from '../../../shared/sqlite.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import type { Unit } from '../../../worker/database/unit.ts';
import { workerLog } from '../../kits/crash/kit/worker-life.ts';
import { LoopDisk, loopDiskMissing } from '../../support/disk/loop-disk.ts';
import { ThinDisk } from '../../support/disk/thin-disk.ts';
import { FaultyHost } from '../../support/hosts/faulty-host.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const TIMEOUT = { timeout: 590_000 };
const LANES = 8;
const REFUSALS = 200;
/** Half as long again as one that is brought over without a reader. */
const LONG_LOG_BYTES = 24 * 1_048_576;

const put = (key: string): Unit => ({
  name: 'test',
  statements: [{ sql: 'INSERT INTO meta (key, value) VALUES (?, ?)', parameters: [key, 'v'.repeat(20_000)] }],
});

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

const sizeOf = (host: FaultyHost, part: string): number =>
  statSync(join(host.project.paths.stateDir, `data.sqlite${part}`)).size;

/** The process that is started tries more than once to use the file. */
async function triesInVain(host: FaultyHost): Promise<void> {
  const log = (): string => readFileSync(workerLog(host.project.path), 'utf8');
  const { length } = log();
  host.restart();
  await until(() => log().slice(length).includes('storage_unavailable'), { what: 'it to fail to use the file' });
  await host.staysUnready();
}

/** Nothing behind what is there now is brought over until it is closed. */
function readingFrom(host: FaultyHost): InstanceType<typeof Sqlite> {
  const reading = new Sqlite(join(host.project.paths.stateDir, 'data.sqlite'), { readonly: true });
  reading.exec('BEGIN');
  reading.prepare('SELECT 1 FROM inbox').get();
  return reading;
}

/** Until the next time that it is brought over, the log is written over blocks that it has: what then needs room first is the file. */
async function leaveRoomInLog(host: FaultyHost): Promise<void> {
  const reading = readingFrom(host);
  await until(() => sizeOf(host, '-wal') > LONG_LOG_BYTES, { what: 'the log to be long' });
  const fileBytes = sizeOf(host, '');
  reading.close();
  await until(() => sizeOf(host, '') > fileBytes, { what: 'the log to be brought over' });
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

  // What a sync could not write stays in the memory of the kernel, which takes it for written: all that is synced behind it went with the power.
  for (const part of ['log', 'file'] as const)
    for (const user of ['the same process', 'the next process', 'one that was started without room'])
      it(
        `a disk that has room again for the ${part} is used again by ${user}, and all that was acknowledged outlasts the power`,
        TIMEOUT,
        async (t) => {
          const restarts = user !== 'the same process';
          let disk: ThinDisk | undefined;
          const host = await FaultyHost.start(t, {
            prepare: ({ paths }) => {
              disk = new ThinDisk(t, paths.stateDir, { roomForJournal: true });
            },
          });
          let end = deliveries(t, host);
          await until(() => host.acknowledged.length >= 100, { what: 'deliveries to be taken' });
          if (part === 'file') await leaveRoomInLog(host);
          const logBytes = sizeOf(host, '-wal');

          disk?.runOut();
          await until(() => host.refused.length >= REFUSALS, { what: 'deliveries to be refused' });
          if (part === 'file') assert.equal(sizeOf(host, '-wal'), logBytes, 'the log had room');
          if (restarts) {
            await end();
            await host.life.kill();
          }
          const startsWithRoom = user === 'the next process';
          if (startsWithRoom) disk?.refill();
          if (startsWithRoom) host.restart();
          else if (restarts) await triesInVain(host);
          if (!startsWithRoom) disk?.refill();
          if (restarts) {
            await host.isReady(true);
            end = deliveries(t, host);
          }
          const during = host.acknowledged.length;
          await until(() => host.acknowledged.length >= during + 100, { what: 'deliveries to be taken again' });
          await end();
          assert.equal(host.life.end, undefined);
          assert.match(readFileSync(workerLog(host.project.path), 'utf8'), /IOERR_FSYNC/, 'it was a sync that failed');
          await host.life.kill();
          disk?.remount();
          host.restart();

          await assertKept(host);
        },
      );

  it('a start without room takes nothing from what was acknowledged before', TIMEOUT, async (t) => {
    let disk: ThinDisk | undefined;
    const host = await FaultyHost.start(t, {
      prepare: ({ paths }) => {
        disk = new ThinDisk(t, paths.stateDir, { roomForJournal: true });
      },
    });
    const endFirst = deliveries(t, host);
    await until(() => host.acknowledged.length >= 100, { what: 'deliveries to be taken' });
    await endFirst();
    await host.life.stop(); // all is in the file, and whatever is in the log from now on needs room
    host.restart();
    await host.isReady(true);

    disk?.runOut();
    const end = deliveries(t, host);
    await until(() => host.refused.length >= REFUSALS, { what: 'deliveries to be refused' });
    await end();
    await host.life.kill();
    await triesInVain(host);
    await host.life.kill();
    disk?.refill();
    disk?.remount();
    host.restart();

    await assertKept(host);
  });

  // The kernel has all of it: whoever opens the file when nobody else has it open would take it for committed, and bring over what the disk lacks.
  it('a group whose sync failed is not in what is opened next', (t) => {
    const { stateDir } = temporaryProject(t).paths;
    const disk = new ThinDisk(t, stateDir, { roomForJournal: true });
    const file = join(stateDir, 'data.sqlite');
    const core = new WriterCore({ file, now: Date.now });
    t.after(() => void core.close());
    for (const key of ['k1', 'k2', 'k3']) core.run([put(key)]);
    const reader = openReadOnly(file); // as the host has one: the log outlasts the connection whose group failed
    reader.prepare('SELECT count(*) FROM meta').get();

    disk.runOut();
    assert.throws(() => core.run([put('lost')]), { code: 'storage_unavailable', message: /IOERR_FSYNC/ });
    reader.close();

    const next = openReadOnly(file);
    t.after(() => next.close());
    assert.deepEqual(next.prepare("SELECT key FROM meta WHERE key LIKE 'k%' OR key = 'lost'").pluck().all(), [
      'k1',
      'k2',
      'k3',
    ]);
  });

  it(
    'what a reader keeps from being brought over whole is synced, or the process ends and the next one mends it',
    TIMEOUT,
    async (t) => {
      let disk: ThinDisk | undefined;
      const host = await FaultyHost.start(t, {
        prepare: ({ paths }) => {
          disk = new ThinDisk(t, paths.stateDir, { roomForJournal: true });
        },
      });
      const endFirst = deliveries(t, host);
      await leaveRoomInLog(host);
      const during = host.acknowledged.length;
      await until(() => host.acknowledged.length >= during + 50, { what: 'deliveries to be taken' });

      const reading = readingFrom(host);
      disk?.runOut();
      const { signal } = await host.life.ended;
      await endFirst().catch(() => {}); // what was under way has no answer
      disk?.refill();
      host.restart();
      await host.staysUnready(); // as long as that reader is there
      reading.close();
      await host.isReady(true);
      assert.deepEqual(await host.deliverMany(20), [200]);
      await host.life.kill();
      disk?.remount();
      host.restart();

      assert.equal(signal, 'SIGKILL');
      assert.match(readFileSync(workerLog(host.project.path), 'utf8'), /the database cannot be synced/);
      await assertKept(host);
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
