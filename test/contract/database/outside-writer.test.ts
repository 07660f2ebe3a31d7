// A unit that is written while the host does not answer: alone it settles what a crash left, beside a worker it touches nothing but the transaction.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { takeAuthority } from '../../../worker/database/authority.ts';
import { outsideWriter, readOutside } from '../../../worker/database/outside-writer.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly, openWritable } from '../../../worker/database/sqlite/connection.ts';
import { isLostNoted, noteLost } from '../../../worker/database/sqlite/wal/log-file.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import { sql, statement } from '../../../worker/database/statement.ts';
import type { Statement, Unit } from '../../../worker/database/unit.ts';
import { recordEvents } from '../../../worker/events/event-history.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';

const put = (key: string): Statement => statement(sql.insertInto('meta').values({ key, value: 'v' }));
const told = recordEvents([{ type: 'inbox.replayed', at: 1, runtimeId: 'r', data: { item: 'i' } }]);
const unit = (...statements: readonly Statement[]): Unit => ({ name: 'test', statements });

/** With a worker that has the file open, and the authority. */
function database(t: Cleanup) {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  const worker = new WriterCore({ file, now: Date.now });
  worker.open();
  worker.run([unit(takeAuthority(), ...told)]);
  const reader = new SqliteReader(() => openReadOnly(file));
  t.after(() => {
    reader.close();
    worker.close();
  });
  return {
    file,
    log: `${file}-wal`,
    worker,
    reader,
    outside: (isAlone: boolean) => outsideWriter({ file, reader, isAlone, busyMs: 0 }),
    keys: () =>
      reader.run<{ key: string }>("SELECT key FROM meta WHERE value = 'v' ORDER BY key").map(({ key }) => key),
  };
}

describe('a unit that is written beside a worker', () => {
  it('is there for the worker, with its event in the one order of all, and its position for whoever follows', async (t) => {
    const { worker, outside, keys, reader } = database(t);

    const answer = await (await outside(false)).commit(unit(put('a'), ...told));
    const next = worker.run([unit(put('b'), ...told)]);

    assert.equal(answer.kind, 'committed');
    assert.deepEqual([keys(), next.head], [['a', 'b'], 3]);
    assert.equal(await readOutside(reader), 2);
    assert.deepEqual(
      reader.run<{ seq: number }>('SELECT seq FROM event_log ORDER BY seq').map(({ seq }) => seq),
      [1, 2, 3],
    );
  });

  it('leaves the log as it is, although it is the last to close: nothing is brought over, nothing removed', async (t) => {
    const { file, log, outside, reader, keys } = database(t);
    const copy = `${file}.copy`;
    for (const end of ['', '-wal']) writeFileSync(copy + end, readFileSync(file + end)); // as a kill leaves it
    const [before, logged] = [readFileSync(copy), statSync(log).size];
    const alone = new SqliteReader(() => openReadOnly(copy));

    const writer = await outsideWriter({ file: copy, reader: alone, isAlone: false });
    alone.close();
    await writer.commit(unit(put('a')));

    assert.ok(readFileSync(copy).equals(before));
    assert.ok(statSync(`${copy}-wal`).size > logged);
    await (await outside(false)).commit(unit(put('a')));
    assert.deepEqual([keys(), reader.run('SELECT 1').length], [['a'], 1]);
  });

  it('is refused, whole, once another start has taken the authority', async (t) => {
    const { worker, outside, keys } = database(t);
    const writer = await outside(false);
    worker.run([unit(takeAuthority())]);

    await assert.rejects(writer.commit(unit(put('a'))), { code: 'conflict', message: /began anew/ });

    assert.deepEqual(keys(), []);
  });

  it('is refused by a guard as any other, and nothing is noted', async (t) => {
    const { outside, keys, reader } = database(t);
    const guard = { ...put('a'), expect: 2, guard: 'item' };

    const answer = await (await outside(false)).commit(unit(put('b'), guard, ...told));

    assert.deepEqual([answer.kind, keys(), await readOutside(reader)], ['refused', [], 0]);
  });

  it('is refused where the worker holds the database in the middle of a commit', async (t) => {
    const { file, outside, keys } = database(t);
    const writer = await outside(false);
    const busy = openWritable(file);
    t.after(() => void busy.close());
    busy.exec('BEGIN IMMEDIATE');

    await assert.rejects(writer.commit(unit(put('a'))), {
      code: 'storage_unavailable',
      message: /nothing was changed/,
    });

    busy.exec('ROLLBACK');
    assert.deepEqual(keys(), []);
  });

  it('is refused where a failed write is noted on the log, and the note is left for the worker', async (t) => {
    const { file, outside, keys } = database(t);
    const writer = await outside(false);
    noteLost(file);

    await assert.rejects(writer.commit(unit(put('a'))), { code: 'storage_unavailable', message: /failed write/ });

    assert.ok(isLostNoted(file));
    assert.deepEqual(keys(), []);
  });

  it('is refused where the log is not the one that the worker has open: nothing is appended to it', async (t) => {
    const { log, worker, outside, keys, reader } = database(t);
    const writer = await outside(false);
    worker.open().pragma('wal_checkpoint(PASSIVE)'); // all of it is in the file: whoever writes next begins the log anew
    reader.close();
    renameSync(log, `${log}.away`);
    writeFileSync(log, '');

    await assert.rejects(writer.commit(unit(put('a'))), {
      code: 'storage_unavailable',
      message: /removed or replaced/,
    });

    assert.equal(statSync(log).size, 0);
    worker.run([unit()]); // brings over what it has in its own
    assert.deepEqual(keys(), []);
  });
});

describe('a unit that is written alone', () => {
  it('settles the log that a crash left, and leaves a database that is whole without one', async (t) => {
    const { file } = database(t);
    const copy = `${file}.copy`;
    for (const end of ['', '-wal']) writeFileSync(copy + end, readFileSync(file + end));
    const reader = new SqliteReader(() => openReadOnly(copy));
    reader.run('SELECT 1 FROM meta');

    await (await outsideWriter({ file: copy, reader, isAlone: true })).commit(unit(put('a'), ...told));
    reader.close();

    const whole = openReadOnly(copy);
    t.after(() => whole.close());
    assert.equal(statSync(`${copy}-wal`, { throwIfNoEntry: false })?.size ?? 0, 0);
    assert.equal(whole.prepare("SELECT count(*) FROM meta WHERE key = 'a'").pluck().get(), 1);
    assert.equal(whole.pragma('integrity_check', { simple: true }), 'ok');
  });
});
