// Nothing is appended behind frames that only the page cache may have (WRITER-6): the WAL is emptied after a failed write and after a crash.
// What the disk then has is tried in test/process/storage/failed-sync.test.ts.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { Database } from '../../../shared/sqlite.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import type { Unit } from '../../../worker/database/unit.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';

const put = (key: string): Unit => ({
  name: 'test',
  statements: [{ sql: 'INSERT INTO meta (key, value) VALUES (?, ?)', parameters: [key, 'v'.repeat(20_000)] }],
});

function fileOf(t: Cleanup): string {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

function opened(t: Cleanup, file: string) {
  const next = { fails: false };
  const beforeCommit = (): void => {
    if (!next.fails) return;
    next.fails = false;
    throw Object.assign(new Error('sync failed'), { code: 'SQLITE_IOERR_FSYNC' });
  };
  const core = new WriterCore({ file, now: Date.now, beforeCommit });
  t.after(() => void core.close());
  core.open();
  return { core, failNext: () => void (next.fails = true) };
}

/** Reads what is there now, and goes on to see that until it is closed. */
function reading(file: string): Database {
  const reader = openReadOnly(file);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM meta').get();
  return reader;
}

/** A write has failed, and a reader keeps what it left from being mended. */
function failedBesideReader(t: Cleanup) {
  const file = fileOf(t);
  const { core, failNext } = opened(t, file);
  core.run([put('k1')]);
  const reader = reading(file);
  core.run([put('k2')]);
  failNext();
  assert.throws(() => core.run([put('lost')]), { code: 'storage_unavailable' });
  return { file, core, reader };
}

const logBytes = (file: string): number => statSync(`${file}-wal`).size;

function keysOf(file: string): string[] {
  const reader = openReadOnly(file);
  try {
    return reader.prepare("SELECT key FROM meta WHERE key LIKE 'k%' ORDER BY key").pluck().all() as string[];
  } finally {
    reader.close();
  }
}

describe('the log of the database is begun anew', () => {
  it('behind a write that failed', (t) => {
    const file = fileOf(t);
    const { core, failNext } = opened(t, file);
    for (const key of ['k1', 'k2', 'k3']) core.run([put(key)]);
    const before = logBytes(file);

    failNext();
    assert.throws(() => core.run([put('lost')]), { code: 'storage_unavailable' });
    core.run([put('k4')]);

    assert.ok(logBytes(file) < before, `${logBytes(file)} bytes, ${before} before`);
    assert.deepEqual(keysOf(file), ['k1', 'k2', 'k3', 'k4']);
  });

  it('behind a write that failed, and nothing is answered while a reader keeps that from being done', (t) => {
    const { file, core, reader } = failedBesideReader(t);
    for (const key of ['lost 1', 'lost 2'])
      assert.throws(() => core.run([put(key)]), { code: 'storage_unavailable', message: /the database is being read/ });
    reader.close();
    core.run([put('k3')]);

    assert.deepEqual(keysOf(file), ['k1', 'k2', 'k3']);
  });

  it('by the next process, too, and nothing is answered while a reader keeps that from being done', (t) => {
    const { file, core, reader } = failedBesideReader(t);
    core.close();

    const next = new WriterCore({ file, now: Date.now });
    t.after(() => void next.close());
    for (let time = 1; time <= 2; time += 1)
      assert.throws(() => next.run([put('lost')]), {
        code: 'storage_unavailable',
        message: /the database is being read/,
      });
    reader.close();
    next.run([put('k3')]);
    next.close();
    const { core: later } = opened(t, file);
    const idle = reading(file);
    later.run([put('k4')]);

    assert.deepEqual(keysOf(file), ['k1', 'k2', 'k3', 'k4']);
    idle.close();
  });

  it('not by a stop behind a write that failed, which would not see whether the disk takes it', (t) => {
    const file = fileOf(t);
    const { core, failNext } = opened(t, file);
    for (const key of ['k1', 'k2']) core.run([put(key)]);
    const before = readFileSync(file);

    failNext();
    assert.throws(() => core.run([put('lost')]), { code: 'storage_unavailable' });
    core.close();

    assert.deepEqual(readFileSync(file), before);
    opened(t, file).core.run([put('k3')]);
    assert.deepEqual(keysOf(file), ['k1', 'k2', 'k3']);
  });

  it('behind a crash; a program that reads the database holds up nobody then', (t) => {
    const file = fileOf(t);
    const { core } = opened(t, file);
    for (const key of ['k1', 'k2', 'k3']) core.run([put(key)]);
    const before = logBytes(file);

    for (const isRead of [false, true]) {
      const left = fileOf(t);
      for (const part of ['', '-wal']) execFileSync('cp', [`${file}${part}`, `${left}${part}`]);
      const reader = isRead ? reading(left) : undefined;
      const after = opened(t, left);
      if (!isRead) assert.equal(logBytes(left), 0);
      after.core.run([put('k4')]);

      if (!isRead) assert.ok(logBytes(left) < before);
      assert.deepEqual(keysOf(left), ['k1', 'k2', 'k3', 'k4']);
      reader?.close();
    }
  });
});
