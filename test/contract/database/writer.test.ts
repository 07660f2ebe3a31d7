// The one way to write, inline and over its thread alike: units are answered after the sync, alone or not at all.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { Sqlite } from '../../../shared/sqlite.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { systemClock } from '../../../shared/time/clock.ts';
import { DatabaseHost, threadRunner } from '../../../worker/database/database-host.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import { sql, statement } from '../../../worker/database/statement.ts';
import type { Statement, Unit } from '../../../worker/database/unit.ts';
import { GroupingWriter, type GroupRunner, inlineRunner } from '../../../worker/database/writer.ts';
import { databaseHost } from '../../support/hosts/database-host.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const put = (key: string, value = 'v', options: Partial<Statement> = {}): Statement => ({
  ...statement(sql.insertInto('meta').values({ key, value })),
  ...options,
});
const unit = (...statements: Statement[]): Unit => ({ name: 'test', statements });

function fileOf(t: Cleanup): string {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

interface Made {
  readonly runner: GroupRunner;
  readonly file: string;
  /** The next sync fails. */
  readonly failSync: () => void;
}

const KINDS: readonly [string, (t: Cleanup, failsAt?: number) => Made][] = [
  [
    'inline',
    (t) => {
      const file = fileOf(t);
      let fails = false;
      const beforeCommit = (): void => {
        if (!fails) return;
        fails = false;
        throw Object.assign(new Error('sync failed'), { code: 'SQLITE_IOERR_FSYNC' });
      };
      return {
        file,
        runner: inlineRunner(new WriterCore({ file, now: Date.now, beforeCommit })),
        failSync: () => void (fails = true),
      };
    },
  ],
  [
    'in its thread',
    (t, failsAt) => {
      const file = fileOf(t);
      const failpoints = failsAt === undefined ? undefined : `writer.sync=error@${failsAt}`;
      return { file, runner: threadRunner({ file, failpoints })(() => {}), failSync: () => {} };
    },
  ],
];

for (const [kind, make] of KINDS) {
  describe(`the writer ${kind}`, () => {
    async function open(t: Cleanup, failsAt?: number) {
      const made = make(t, failsAt);
      await made.runner.open();
      const writer = new GroupingWriter(made.runner);
      const reader = new SqliteReader(() => openReadOnly(made.file));
      t.after(async () => {
        await writer.flush();
        reader.close();
        await made.runner.close();
      });
      const keys = (): string[] =>
        reader.run<{ key: string }>('SELECT key FROM meta ORDER BY key').map(({ key }) => key);
      return { ...made, writer, reader, keys };
    }

    it('commits units that come together as one group and answers each', async (t) => {
      const { writer, keys } = await open(t);

      const answers = await Promise.all(['a', 'b', 'c'].map((key) => writer.commit(unit(put(key)))));

      assert.deepEqual(
        answers.map((answer) => answer.kind),
        ['committed', 'committed', 'committed'],
      );
      assert.deepEqual(keys(), ['a', 'b', 'c']);
    });

    it('takes back a refused unit alone: guard, unique, constraint, and a statement that cannot be read', async (t) => {
      const { writer, keys } = await open(t);
      const guarded = {
        ...statement(sql.updateTable('meta').set({ value: 'x' }).where('key', '=', 'nobody')),
        expect: 1,
        guard: 'mine',
      };

      const answers = await Promise.all([
        writer.commit(unit(put('a'))),
        writer.commit(unit(put('guard'), guarded)),
        writer.commit(unit(put('unique'), put('a', 'again', { guard: 'key' }))),
        writer.commit(unit(put('null'), { sql: 'INSERT INTO meta (key, value) VALUES (?, NULL)', parameters: ['n'] })),
        writer.commit(unit(put('typo'), { sql: 'INSERT INTO nowhere VALUES (1)', parameters: [] })),
        writer.commit(unit(put('count'), { sql: 'INSERT INTO meta VALUES (?, ?)', parameters: ['one'] })),
        writer.commit(unit(put('z'))),
      ]);

      const reasons = answers.map((answer) =>
        answer.kind === 'refused' ? `${answer.reason} ${answer.guard ?? ''}`.trim() : answer.kind,
      );
      assert.deepEqual(reasons, [
        'committed',
        'guard mine',
        'unique key',
        'constraint',
        'constraint',
        'constraint',
        'committed',
      ]);
      assert.deepEqual(keys(), ['a', 'z']);
    });

    it('gives back rows that a statement returns, and the head of the history', async (t) => {
      const { writer } = await open(t);
      const heads: number[] = [];
      writer.onHead((head) => heads.push(head));
      const move = statement(
        sql.updateTable('counters').set({ value: 7 }).where('name', '=', 'event').returning('value'),
        { expect: 1 },
      );

      const answer = await writer.commit(unit(move));

      assert.deepEqual(answer, { kind: 'committed', rows: [[{ value: 7 }]], head: 7 });
      await until(() => heads.length === 1, { what: 'the head' });
      assert.deepEqual(heads, [7]);
    });

    it('stores nothing of a group whose sync fails, tells everybody, and goes on afterwards', async (t) => {
      const { writer, keys, failSync } = await open(t, 2);
      await writer.commit(unit(put('before')));
      failSync();

      const results = await Promise.allSettled([
        writer.commit(unit(put('lost 1'))),
        writer.commit(unit(put('lost 2'))),
      ]);
      const codes = results.map((result) =>
        result.status === 'rejected' ? (result.reason as { code: string }).code : 'kept',
      );
      const after = await writer.commit(unit(put('after')));

      assert.deepEqual(codes, ['storage_unavailable', 'storage_unavailable']);
      assert.equal(after.kind, 'committed');
      assert.deepEqual(keys(), ['after', 'before']);
    });

    it('answers nobody once the file was taken away, and never makes an empty one in its place', async (t) => {
      const { writer, file } = await open(t);
      await writer.commit(unit(put('a')));
      renameSync(file, `${file}.away`);

      await assert.rejects(writer.commit(unit(put('b'))), {
        code: 'storage_unavailable',
        message: /moved, removed or replaced/,
      });
      await assert.rejects(writer.commit(unit(put('c'))), { code: 'storage_unavailable' });
      renameSync(`${file}.away`, file);

      assert.equal((await writer.commit(unit(put('d')))).kind, 'committed');
    });

    for (const [what, keeps] of [
      ['emptied', 0],
      ['cut in half', 0.5],
    ] as const) {
      it(`answers nobody once the file was ${what}, and goes on when it is whole again`, async (t) => {
        const { writer, file } = await open(t);
        await writer.commit(unit(put('a')));
        const other = new Sqlite(file); // as `sqlite3` beside it: everything is in the one file
        other.pragma('wal_checkpoint(TRUNCATE)');
        other.close();
        await writer.commit(unit(put('b')));
        const whole = readFileSync(file);

        truncateSync(file, Math.floor((whole.length * keeps) / 4_096) * 4_096);
        for (const key of ['c', 'd', 'e']) await assert.rejects(writer.commit(unit(put(key))), SvcError);
        writeFileSync(file, whole);

        assert.equal((await writer.commit(unit(put('f')))).kind, 'committed');
      });
    }

    it('takes no harm from another program that makes the file smaller', async (t) => {
      const { writer, file } = await open(t);
      const texts = Array.from({ length: 50 }, (_, n) => `big${n}`);
      await writer.commit(unit(...texts.map((key) => put(key, 'x'.repeat(10_000)))));
      await writer.commit(unit({ sql: "DELETE FROM meta WHERE key LIKE 'big%'", parameters: [] }));
      const other = new Sqlite(file);
      other.pragma('wal_checkpoint(TRUNCATE)');
      await writer.commit(unit(put('a')));
      const before = statSync(file).size;
      other.exec('VACUUM');
      other.pragma('wal_checkpoint(TRUNCATE)');
      other.close();
      assert.ok(statSync(file).size < before);

      await writer.commit(unit(put('b'))).catch(() => {}); // it is looked at whole first

      assert.equal((await writer.commit(unit(put('c')))).kind, 'committed');
    });
  });
}

describe('two writers on one file', () => {
  it('never lose each other’s units', async (t) => {
    const file = fileOf(t);
    const cores = [0, 1].map(() => new WriterCore({ file, now: Date.now }));
    for (const core of cores) core.open();
    const writers = cores.map((core) => new GroupingWriter(inlineRunner(core)));

    await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        (writers[n % 2] as GroupingWriter).commit(
          unit(
            put(`k${n}`),
            statement(
              sql
                .updateTable('counters')
                .set(({ eb }) => ({ value: eb('value', '+', 1) }))
                .where('name', '=', 'event'),
            ),
          ),
        ),
      ),
    );
    for (const core of cores) core.close();

    const check = new Sqlite(file);
    t.after(() => check.close());
    assert.deepEqual(
      [
        check.prepare('SELECT count(*) FROM meta').pluck().get(),
        check.prepare("SELECT value FROM counters WHERE name = 'event'").pluck().get(),
      ],
      [100, 100],
    );
  });
});

describe('the reader', () => {
  it('reads again by itself when the file is back', async (t) => {
    const file = fileOf(t);
    const core = new WriterCore({ file, now: Date.now });
    const reader = new SqliteReader(() => openReadOnly(file));
    assert.throws(() => reader.run('SELECT 1 FROM meta'), { code: 'storage_unavailable' });

    core.open();
    t.after(() => core.close());

    assert.deepEqual(reader.run('SELECT key FROM meta'), []);
    assert.throws(() => reader.run('SELECT broken'), { code: 'storage_unavailable' });
    assert.deepEqual(reader.run('SELECT key FROM meta'), []);
    reader.close();
  });

  it('cannot write', async (t) => {
    const file = fileOf(t);
    const core = new WriterCore({ file, now: Date.now });
    core.open();
    t.after(() => core.close());
    const reader = new SqliteReader(() => openReadOnly(file));
    t.after(() => reader.close());

    assert.throws(() => reader.run("INSERT INTO meta VALUES ('a', 'b') RETURNING key"), {
      code: 'storage_unavailable',
    });
  });
});

describe('the database host', () => {
  it('is the last to close the file, so that all is in it, whatever is asked meanwhile', async (t) => {
    const file = fileOf(t);
    const host = new DatabaseHost({
      file,
      clock: systemClock,
      makeRunner: threadRunner({ file, failpoints: undefined }),
      onState: () => {},
    });
    await host.open();
    await host.commit(unit(put('a')));

    const closed = host.close().then(() => 'closed');
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    const refused: unknown[] = [];
    do {
      try {
        host.reader.run('SELECT value FROM meta');
      } catch (error) {
        refused.push((error as { code?: unknown }).code);
      }
    } while ((await Promise.race([closed, turn()])) !== 'closed');

    assert.equal(existsSync(`${file}-wal`), false);
    assert.deepEqual([...new Set(refused)], ['storage_unavailable']);
  });

  it('keeps the pages of a file that is there as they are, and what is in it', async (t) => {
    const file = fileOf(t);
    const older = new Sqlite(file);
    older.exec(
      "PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; CREATE TABLE of_old (value); INSERT INTO of_old VALUES ('kept')",
    );
    older.close();
    const { host } = databaseHost(t, file);

    await host.open();
    await host.commit(unit(put('x')));

    assert.deepEqual(host.reader.run('PRAGMA page_size'), [{ page_size: 4_096 }]);
    assert.deepEqual(host.reader.run('SELECT value FROM of_old'), [{ value: 'kept' }]);
  });

  it('tells of a damaged file and recovers when a sound one is there', async (t) => {
    const file = fileOf(t);
    writeFileSync(
      file,
      'this is no database, it is text that is long enough to be looked at as one page of it'.repeat(100),
    );
    const { host, states } = databaseHost(t, file);

    const state = await host.open();
    await assert.rejects(host.commit(unit()), { code: 'database_corrupt' });
    renameSync(file, `${file}.damaged`);
    await until(() => host.state.kind === 'open', { what: 'the recovery' });

    assert.equal(state.kind, 'failed');
    assert.deepEqual(states, ['database_corrupt', 'open']);
  });

  it('is not open again before a page was written and synced', async (t) => {
    const file = fileOf(t);
    const core = new WriterCore({ file, now: Date.now, beforeCommit: () => syncFault() });
    let fails = false;
    let written = 0;
    const syncFault = (): void => {
      if (fails) throw Object.assign(new Error('no space'), { code: 'SQLITE_FULL' });
    };
    const inner = inlineRunner(core);
    const host = new DatabaseHost({
      file,
      clock: systemClock,
      makeRunner: () => ({
        ...inner,
        run: async (units) => {
          const before = pages(file);
          const answer = await inner.run(units);
          if (pages(file) !== before) written += 1;
          return answer;
        },
      }),
      onState: () => {},
    });
    t.after(() => host.close());
    await host.open();
    fails = true;
    await assert.rejects(host.commit(unit(put('x'))), { code: 'storage_unavailable' });
    await new Promise((resolve) => setImmediate(resolve));
    const during = host.state.kind;
    written = 0;
    fails = false;

    await until(() => host.state.kind === 'open', { what: 'the recovery' });

    assert.equal(during, 'failed');
    assert.equal(written, 1, 'the probe left a page in the log');
  });
});

function pages(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
