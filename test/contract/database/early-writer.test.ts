// The writer of a start: groups are committed in the main thread until the writer's thread takes over, and nobody can tell when that was.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { EarlyWriter } from '../../../worker/database/sqlite/early-writer.ts';
import { startWriterThread, type WriterThread } from '../../../worker/database/sqlite/start-thread.ts';
import { sql, statement } from '../../../worker/database/statement.ts';
import type { Unit } from '../../../worker/database/unit.ts';
import { GroupingWriter } from '../../../worker/database/writer.ts';
import { slowToMigrate } from '../../support/disk/slow-migration.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const MIB = 1_048_576;

const put = (key: string): Unit => ({
  name: 'test',
  statements: [statement(sql.insertInto('meta').values({ key, value: 'v' }))],
});

function made(t: Cleanup, failpoints?: string) {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  let come = (_thread: Worker): void => {};
  const thread = new Promise<Worker>((resolve) => {
    come = resolve;
  });
  const runner = new EarlyWriter({ file, failpoints }, thread, () => {});
  const writer = new GroupingWriter(runner);
  const reader = new SqliteReader(() => openReadOnly(file));
  /** The thread is there; resolves once it has said that it has the file. */
  const threadComes = async (): Promise<Worker> => {
    const worker = startWriterThread();
    let answers = 0; // it says that it is up, and that it has the file
    worker.on('message', () => void (answers += 1));
    come(worker);
    await until(() => answers >= 2, { what: 'the thread to have the file', everyMs: 1 });
    return worker;
  };
  t.after(async () => {
    reader.close();
    await runner.close();
  });
  const keys = (): string[] =>
    reader.run<{ key: string }>('SELECT key FROM meta ORDER BY length(key), key').map(({ key }) => key);
  return { file, runner, writer, keys, come, threadComes };
}

describe('the writer of a start', () => {
  it('tells of a log that was taken away just before its thread takes over', async (t) => {
    const { file, runner, keys, threadComes } = made(t);
    let mended = 0;
    const writer = new GroupingWriter(runner, { logMended: () => void (mended += 1) });
    await runner.open();
    await writer.commit(put('k1'));

    rmSync(`${file}-wal`);
    await threadComes();
    await until(async () => (await writer.commit(put(`k${keys().length}x`)), mended > 0), { what: 'it to be told' });

    assert.equal(mended, 1);
    assert.ok(keys().includes('k1'));
  });

  it('loses and repeats nothing while its thread takes over', async (t) => {
    const { runner, writer, keys, threadComes } = made(t);
    await runner.open();
    const answers: Promise<unknown>[] = [];
    let isThere = false;
    let after = 0;
    const coming = threadComes().then(() => {
      isThere = true;
    });

    while (after < 20) {
      answers.push(writer.commit(put(`k${answers.length}`)));
      await answers.at(-1);
      if (isThere) after += 1;
    }
    await coming;

    assert.deepEqual(
      keys(),
      answers.map((_, n) => `k${n}`),
    );
  });

  it('goes on in the main thread where its thread cannot load SQLite: packages were changed meanwhile (EARLY-WRITER-4)', async (t) => {
    const { runner, writer, keys, come } = made(t);
    await runner.open();
    await writer.commit(put('k0'));
    const asked: string[] = [];
    let tell = (_answer: unknown): void => {};
    const thread: WriterThread = {
      on: ((event: string, listener: (answer: unknown) => void) => {
        if (event === 'message') tell = listener;
        return thread;
      }) as WriterThread['on'],
      ref: () => {},
      postMessage({ kind, id }: { readonly kind: string; readonly id: number }) {
        asked.push(kind);
        const failed = { kind: 'failed', id, code: 'modules_unusable', message: 'no SQLite', hint: undefined };
        setImmediate(() => tell(kind === 'open' ? failed : { kind: 'done', id, answer: undefined }));
      },
      terminate: async () => 0,
    };

    come(thread as Worker);
    await until(() => asked.includes('open'), { what: 'the thread to be asked' });
    for (const key of ['k1', 'k2']) assert.equal((await writer.commit(put(key))).kind, 'committed');
    await runner.close();

    assert.deepEqual(keys(), ['k0', 'k1', 'k2']);
    assert.deepEqual(asked, ['hello', 'open', 'close']);
  });

  it('leaves the main thread free while what is stored is migrated, and goes on here then (EARLY-WRITER-3)', async (t) => {
    const { file, runner, writer, keys } = made(t);
    slowToMigrate(file, 500);
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    t.after(() => clearInterval(timer));

    await runner.open();

    assert.ok(turns > 2, `${turns} turns of the event loop`);
    assert.equal((await writer.commit(put('a'))).kind, 'committed');
    assert.deepEqual(keys(), ['a']);
  });

  it('commits in the thread once that is there', async (t) => {
    const { runner, writer, threadComes } = made(t);
    await runner.open();
    await writer.commit(put('here'));
    const worker = await threadComes();
    let answered = 0;
    worker.on('message', () => (answered += 1));

    await until(
      async () => {
        await writer.commit({ name: 'test', statements: [] });
        return answered > 0;
      },
      { what: 'an answer of the thread' },
    );
  });

  it('leaves the log pinned that was pinned before', async (t) => {
    const { file, runner, writer, threadComes } = made(t);
    await runner.open();
    await writer.commit(put('here'));
    const pin = await writer.pinLog({ maxBytes: 1_024 * MIB });
    const worker = await threadComes();
    let answered = 0;
    worker.on('message', () => (answered += 1));
    const long = (key: string): Promise<unknown> =>
      writer.commit({
        name: 'test',
        statements: [statement(sql.insertInto('meta').values({ key, value: 'v'.repeat(MIB) }))],
      });
    for (let n = 0; n < 24; n += 1) await long(`long ${n}`);
    await until(
      async () => {
        await writer.commit({ name: 'test', statements: [] });
        return answered > 1;
      },
      { what: 'an answer of the thread' },
    );
    const bytes = statSync(file).size;
    await pin.release();
    await writer.commit(put('released'));

    assert.ok(bytes < 8 * MIB, `${bytes} bytes are in the file`);
    assert.ok(statSync(file).size > 20 * MIB);
  });

  it('takes back a group whose sync fails, before and after', async (t) => {
    const { runner, writer, keys, threadComes } = made(t, 'writer.sync=error@2');
    await runner.open();
    await writer.commit(put('a'));
    await assert.rejects(writer.commit(put('lost here')), { code: 'storage_unavailable' });
    await writer.commit(put('b'));
    const worker = await threadComes();
    const answers: unknown[] = [];
    worker.on('message', (answer) => answers.push(answer));

    // The second group of the thread is the one that fails there.
    const codes: string[] = [];
    for (let n = 0; answers.length < 3; n += 1)
      codes.push(
        await writer.commit(put(`k${n}`)).then(
          ({ kind }) => kind,
          (error: { readonly code: string }) => error.code,
        ),
      );

    const stored = codes.flatMap((code, n) => (code === 'committed' ? [`k${n}`] : []));
    assert.deepEqual(
      codes.filter((code) => code !== 'committed'),
      ['storage_unavailable'],
    );
    assert.deepEqual(keys(), ['a', 'b', ...stored]);
  });

  it('never makes an empty file where the one of before was taken away', async (t) => {
    const { file, runner, writer, threadComes } = made(t);
    await runner.open();
    await writer.commit(put('a'));
    renameSync(file, `${file}.away`);

    await threadComes();
    await assert.rejects(writer.commit(put('b')), {
      code: 'storage_unavailable',
      message: /moved, removed or replaced/,
    });
    await assert.rejects(runner.open(), { code: 'storage_unavailable' });
    assert.equal(existsSync(file), false);
    renameSync(`${file}.away`, file);

    assert.equal((await writer.commit(put('c'))).kind, 'committed');
  });

  it('ends a thread that comes after it was closed', async (t) => {
    const { runner, come } = made(t);
    await runner.open();
    await runner.close();
    const worker = startWriterThread();
    const ended = new Promise((resolve) => worker.once('exit', resolve));

    come(worker);

    await ended;
  });
});
