// Another program truncates or overwrites the WAL, or the database file, in place under the running writer. No acknowledged unit is lost, even if the
// process is killed at once. After a fault of the WAL the writer goes on by itself (WRITER-7). After a fault of the file it answers nothing until the
// file is whole (WRITER-8). With the writer inline and in its thread.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { SvcError } from '../../../shared/svc-error.ts';
import { systemClock } from '../../../shared/time/clock.ts';
import { DatabaseHost, threadRunner } from '../../../worker/database/database-host.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import type { Unit } from '../../../worker/database/unit.ts';
import { GroupingWriter, type GroupRunner, inlineRunner } from '../../../worker/database/writer.ts';
import { afterAKill, beside } from '../../support/disk/beside-database.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const KINDS: readonly (readonly [string, (file: string) => GroupRunner])[] = [
  ['inline', (file) => inlineRunner(new WriterCore({ file, now: Date.now }))],
  ['in its thread', (file) => threadRunner({ file, failpoints: undefined })(() => {})],
];

const put = (key: string): Unit => ({
  name: 'test',
  statements: [{ sql: "INSERT INTO meta (key, value) VALUES (?, 'v')", parameters: [key] }],
});

function fileOf(t: Cleanup): string {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

/** Writes so much of a file in place. */
function overwrite(
  file: string,
  { at = 0, byte = 0, bytes = statSync(file).size - at }: { at?: number; bytes?: number; byte?: number } = {},
): Promise<void> {
  return beside({ deed: 'overwrite', file, at, bytes, byte });
}

const checkpoint = (file: string, mode: 'PASSIVE' | 'TRUNCATE' = 'PASSIVE'): Promise<void> =>
  beside({ deed: 'checkpoint', file, mode });

const ALTERED: readonly (readonly [string, (log: string) => void | Promise<void>])[] = [
  ['truncated to nothing', (log) => truncateSync(log)],
  ['cut in half', (log) => truncateSync(log, Math.floor(statSync(log).size / 2))],
  ['cut by a byte', (log) => truncateSync(log, statSync(log).size - 1)],
  ['overwritten with zeros', (log) => overwrite(log)],
  ['overwritten with garbage', (log) => overwrite(log, { byte: 0o252 })],
  ['overwritten in its header', (log) => overwrite(log, { bytes: 32, byte: 0o125 })],
  ['overwritten in its last frames', (log) => overwrite(log, { at: statSync(log).size - 9_000 })],
  ['overwritten with an older copy of itself', (log) => copyFileSync(`${log}.older`, log)],
  ['overwritten with a copy from before it was begun anew', (log) => copyFileSync(`${log}.former`, log)],
  ['overwritten with a text', (log) => writeFileSync(log, 'not a log')],
];

for (const [kind, make] of KINDS)
  describe(`the writer ${kind}, when the log is`, () => {
    async function open(t: Cleanup) {
      const file = fileOf(t);
      const runner = make(file);
      await runner.open();
      let mended = 0;
      const writer = new GroupingWriter(runner, { logMended: () => void (mended += 1) });
      t.after(() => runner.close());
      return { file, runner, writer, mended: () => mended };
    }

    for (const [what, alter] of ALTERED)
      it(`${what}, loses nothing that it has answered, and goes on`, async (t) => {
        const { file, writer, mended } = await open(t);
        const log = `${file}-wal`;
        await writer.commit(put('k1'));
        if (what.includes('begun anew')) {
          copyFileSync(log, `${log}.former`);
          await checkpoint(file);
        }
        await writer.commit(put('k2'));
        copyFileSync(log, `${log}.older`);
        for (const key of ['k3', 'k4']) await writer.commit(put(key));
        const before = mended();

        await alter(log);
        const stored = ['k1', 'k2', 'k3', 'k4'];
        for (const key of ['k5', 'k6', 'k7']) {
          assert.equal((await writer.commit(put(key))).kind, 'committed');
          stored.push(key);
          assert.deepEqual(await afterAKill(file), stored);
        }
        assert.deepEqual([before, mended()], [0, 1]);
      });

    it('given garbage at its end, needs no mending', async (t) => {
      const { file, writer, mended } = await open(t);
      await writer.commit(put('k1'));
      writeFileSync(`${file}-wal`, Buffer.alloc(100_000, 0xaa), { flag: 'a' });
      for (const key of ['k2', 'k3']) await writer.commit(put(key));

      assert.deepEqual([await afterAKill(file), mended()], [['k1', 'k2', 'k3'], 0]);
    });

    it('altered before a stop, leaves all in the one file', async (t) => {
      const { file, runner, writer } = await open(t);
      for (const key of ['k1', 'k2']) await writer.commit(put(key));

      await overwrite(`${file}-wal`);
      await runner.close();

      assert.deepEqual([await afterAKill(file), existsSync(`${file}-wal`)], [['k1', 'k2'], false]);
    });

    it('begun anew by this writer or another program, sees nothing in that', async (t) => {
      const { file, writer, mended } = await open(t);
      for (const round of [1, 2, 3]) {
        for (const n of [1, 2, 3]) await writer.commit(put(`k${round}${n}`));
        await checkpoint(file, round === 2 ? 'TRUNCATE' : 'PASSIVE');
        await beside({ deed: 'write', file, key: `k${round}9` });
      }
      await writer.commit(put('k99'));

      assert.equal(mended(), 0);
      assert.equal((await afterAKill(file)).length, 13);
    });
  });

for (const [kind, make] of KINDS)
  describe(`the writer ${kind}, when the database file`, () => {
    /** All of it is in the file. */
    async function open(t: Cleanup) {
      const file = fileOf(t);
      const runner = make(file);
      await runner.open();
      t.after(() => runner.close());
      const writer = new GroupingWriter(runner);
      await writer.commit(put('k1'));
      await checkpoint(file, 'TRUNCATE');
      assert.equal((await writer.commit(put('k2'))).kind, 'committed', 'another program may bring over');
      await checkpoint(file, 'TRUNCATE');
      assert.equal((await writer.commit({ name: 'test', statements: [] })).kind, 'committed');
      copyFileSync(file, `${file}-aside`);
      return { file, writer };
    }

    for (const [what, bytes] of [
      ['its header', 100],
      ['its first page', 8_192],
      ['half of it', 40_000],
    ] as const)
      it(`is overwritten in ${what}, answers nothing until it is put back`, async (t) => {
        const { file, writer } = await open(t);

        await overwrite(file, { bytes });
        for (const key of ['lost 1', 'lost 2']) await assert.rejects(writer.commit(put(key)), SvcError);
        execFileSync('dd', [`if=${file}-aside`, `of=${file}`, 'conv=notrunc', 'status=none']);

        assert.equal((await writer.commit(put('k3'))).kind, 'committed');
        assert.deepEqual(await afterAKill(file), ['k1', 'k2', 'k3']);
      });

    it('is written and stays whole, goes on once that was looked at', async (t) => {
      const { file, writer } = await open(t);

      await overwrite(file, { at: 60, bytes: 4 }); // the version of an application: nobody reads it
      await assert.rejects(writer.commit(put('refused')), { code: 'storage_unavailable', message: /was overwritten/ });

      assert.equal((await writer.commit(put('k3'))).kind, 'committed');
      assert.deepEqual(await afterAKill(file), ['k1', 'k2', 'k3']);
    });
  });

describe('the database host, when the log is altered', () => {
  it('writes it again before anybody asks, and stays usable', async (t) => {
    const file = fileOf(t);
    const states: string[] = [];
    const host = new DatabaseHost({
      file,
      clock: systemClock,
      makeRunner: threadRunner({ file, failpoints: undefined }),
      onState: ({ kind }) => states.push(kind),
    });
    t.after(() => host.close());
    await host.open();
    await host.commit(put('k1'));

    truncateSync(`${file}-wal`);
    await until(async () => (await afterAKill(file)).includes('k1'), { what: 'what is stored to be safe again' });

    assert.equal((await host.commit(put('k2'))).kind, 'committed');
    assert.deepEqual([await afterAKill(file), states], [['k1', 'k2'], ['open']]);
  });

  it('reads nothing of what stood there', async (t) => {
    const file = fileOf(t);
    const reader = new SqliteReader(() => openReadOnly(file));
    t.after(() => reader.close());
    const host = new DatabaseHost({
      file,
      clock: systemClock,
      makeRunner: threadRunner({ file, failpoints: undefined }),
      onState: () => {},
    });
    t.after(() => host.close());
    await host.open();
    await host.commit(put('k1'));
    copyFileSync(`${file}-wal`, `${file}-older`);
    await host.commit(put('k2'));
    copyFileSync(`${file}-older`, `${file}-wal`);
    assert.equal((await host.commit(put('k3'))).kind, 'committed');

    const keys = host.reader.run<{ key: string }>("SELECT key FROM meta WHERE key LIKE 'k%' ORDER BY key");
    assert.deepEqual(
      keys.map(({ key }) => key),
      ['k1', 'k2', 'k3'],
    );
  });
});
