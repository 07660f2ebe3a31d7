// The WAL is removed under the running writer. No acknowledged unit is lost, even if the process is killed at once, and the writer goes on by itself
// (WRITER-5). With the writer inline and in its thread.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { SvcError } from '../../../shared/svc-error.ts';
import { systemClock } from '../../../shared/time/clock.ts';
import { DatabaseHost, type DatabaseState, threadRunner } from '../../../worker/database/database-host.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import type { Unit } from '../../../worker/database/unit.ts';
import { GroupingWriter, type GroupRunner, inlineRunner } from '../../../worker/database/writer.ts';
import { afterAKill } from '../../support/disk/beside-database.ts';
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

const remove =
  (...parts: string[]) =>
  (file: string): void => {
    for (const part of parts) rmSync(`${file}${part}`);
  };

const TAKEN: readonly (readonly [string, (file: string) => void])[] = [
  ['the log is removed', remove('-wal')],
  ['the memory that is shared by a file is removed', remove('-shm')],
  ['both are removed', remove('-wal', '-shm')],
  ['the log is moved away', (file) => renameSync(`${file}-wal`, `${file}-aside`)],
  [
    'an older log takes its place',
    (file) => {
      execFileSync('cp', [`${file}-older`, `${file}-new`]);
      renameSync(`${file}-new`, `${file}-wal`);
    },
  ],
];

for (const [kind, make] of KINDS)
  describe(`the writer ${kind}, when`, () => {
    async function opened(t: Cleanup) {
      const file = fileOf(t);
      const runner = make(file);
      await runner.open();
      return { file, runner };
    }

    async function open(t: Cleanup) {
      const { file, runner } = await opened(t);
      const writer = new GroupingWriter(runner);
      const reader = new SqliteReader(() => openReadOnly(file));
      t.after(async () => {
        reader.close();
        await runner.close();
      });
      const keys = (): string[] =>
        reader.run<{ key: string }>("SELECT key FROM meta WHERE key LIKE 'k%' ORDER BY key").map(({ key }) => key);
      return { file, writer, keys };
    }

    for (const [what, take] of TAKEN)
      it(`${what}, loses nothing that it has answered, and goes on`, async (t) => {
        const { file, writer, keys } = await open(t);
        await writer.commit(put('k1'));
        execFileSync('cp', [`${file}-wal`, `${file}-older`]);
        await writer.commit(put('k2'));
        assert.deepEqual(keys(), ['k1', 'k2']);

        take(file);
        const stored = ['k1', 'k2'];
        for (const key of ['k3', 'k4', 'k5']) {
          assert.equal((await writer.commit(put(key))).kind, 'committed');
          stored.push(key);
          assert.deepEqual(await afterAKill(file), stored);
          assert.deepEqual(keys(), stored, 'as a connection sees it that was open before');
        }
      });

    it('the log is removed, tells it once for each time, and never without', async (t) => {
      const { runner, file } = await opened(t);
      t.after(() => runner.close());
      let mended = 0;
      const writer = new GroupingWriter(runner, { logMended: () => void (mended += 1) });
      const seen: number[] = [];
      const put3 = async (of: string): Promise<void> => {
        for (const n of [1, 2, 3]) await writer.commit(put(`${of}${n}`));
        seen.push(mended);
      };

      await put3('before');
      remove('-wal')(file);
      await put3('removed');
      remove('-wal', '-shm')(file);
      await put3('again');

      assert.deepEqual(seen, [0, 1, 2]);
    });

    it('the log is removed beside a file to which its path is a link, tells it, and never without', async (t) => {
      const file = fileOf(t);
      const there = join(mkdtempSync(join(dirname(file), 'there-')), 'data.sqlite');
      writeFileSync(there, '');
      symlinkSync(there, file);
      const runner = make(file);
      t.after(() => runner.close());
      await runner.open();
      let mended = 0;
      const writer = new GroupingWriter(runner, { logMended: () => void (mended += 1) });

      for (const key of ['k1', 'k2', 'k3']) await writer.commit(put(key));
      const before = mended;
      remove('-wal')(there);
      for (const key of ['k4', 'k5']) await writer.commit(put(key));

      assert.deepEqual([before, mended, await afterAKill(there)], [0, 1, ['k1', 'k2', 'k3', 'k4', 'k5']]);
    });

    it('the log is removed and cannot be saved yet, answers nothing, and goes on once it is', async (t) => {
      const { file, writer, keys } = await open(t);
      await writer.commit(put('k1'));
      const holding = openReadOnly(file);
      holding.exec('BEGIN');
      holding.prepare('SELECT 1 FROM meta').get();
      await writer.commit(put('k2'));

      remove('-wal')(file);
      for (const key of ['lost 1', 'lost 2'])
        await assert.rejects(writer.commit(put(key)), {
          code: 'storage_unavailable',
          message: /data.sqlite-wal was removed/,
        });
      holding.close();

      assert.equal((await writer.commit(put('k3'))).kind, 'committed');
      assert.deepEqual(
        [await afterAKill(file), keys()],
        [
          ['k1', 'k2', 'k3'],
          ['k1', 'k2', 'k3'],
        ],
      );
    });

    it('the log is removed before a stop, leaves all in the one file', async (t) => {
      const file = fileOf(t);
      const runner = make(file);
      await runner.open();
      const reader = new SqliteReader(() => openReadOnly(file));
      t.after(() => reader.close());
      await new GroupingWriter(runner).commit(put('k1'));
      assert.equal(reader.run('SELECT 1 FROM meta').length > 0, true);

      remove('-wal')(file);
      await runner.close();

      assert.deepEqual(await afterAKill(file), ['k1']);
    });
  });

describe('the database host, when the log is removed', () => {
  it('mends it before anybody asks, and stays usable', async (t) => {
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

    remove('-wal')(file);
    await until(async () => (await afterAKill(file)).includes('k1'), { what: 'what is stored to be safe again' });

    assert.equal((await host.commit(put('k2'))).kind, 'committed');
    assert.deepEqual([await afterAKill(file), states], [['k1', 'k2'], ['open']]);
  });

  it('between its question to the writer and its own look, it asks once more', async (t) => {
    const file = fileOf(t);
    const states: DatabaseState[] = [];
    const taken = { next: false, times: 0 };
    const makeRunner = (onDeath: (error: SvcError) => void): GroupRunner => {
      const runner = threadRunner({ file, failpoints: undefined })(onDeath);
      const run: GroupRunner['run'] = async (units) => {
        const answer = await runner.run(units);
        if (taken.next && units.every(({ name }) => name === 'database.probe')) {
          taken.next = false;
          taken.times += 1;
          remove('-wal')(file);
        }
        return answer;
      };
      return { open: () => runner.open(), run, pin: async () => {}, close: () => runner.close() };
    };
    const host = new DatabaseHost({ file, clock: systemClock, makeRunner, onState: (state) => states.push(state) });
    t.after(() => host.close());
    await host.open();
    await host.commit(put('k1'));

    taken.next = true;
    await until(async () => taken.times === 1 && (await afterAKill(file)).includes('k1'), {
      what: 'the log to be mended',
    });

    assert.equal((await host.commit(put('k2'))).kind, 'committed');
    assert.deepEqual([await afterAKill(file), states], [['k1', 'k2'], [{ kind: 'open' }]]);
  });
});
