// What is read of a database's schema without opening it, beside what SQLite says: closed and open files, logs that are whole, torn, brought
// over and begun anew, long tables; and that nothing is made or touched by looking.
import assert from 'node:assert/strict';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import { migrate } from '../../../worker/database/migrate.ts';
import { MIGRATIONS } from '../../../worker/database/migrations/list.ts';
import { openReadOnly, openWritable } from '../../../worker/database/sqlite/connection.ts';
import { readStoredSchema } from '../../../worker/database/stored-schema.ts';

const NAMES = MIGRATIONS.map(({ name }) => name);
const CURRENT = { state: 'usable', applied: NAMES, pending: [] };

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'svc-schema-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A database of this svc, open. */
function made(t: TestContext, file: string): Database {
  const database = openWritable(file);
  t.after(() => database.close());
  migrate(database, 0);
  return database;
}

const snapshot = (path: string): string =>
  readdirSync(path)
    .sort()
    .map((name) => `${name} ${statSync(join(path, name)).mtimeMs} ${readFileSync(join(path, name)).toString('base64')}`)
    .join('\n');

/** The files as a kill leaves them. */
function copy(file: string, to: string): string {
  for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) copyFileSync(file + end, to + end);
  return to;
}

function fill(database: Database, rows: number): void {
  const insert = database.prepare('INSERT INTO meta (key, value) VALUES (?, ?)');
  for (let row = 0; row < rows; row += 1) insert.run(`k${row}`, 'x'.repeat(2_000));
}

describe('the schema of a database file', () => {
  it('is absent where there is no file, or nothing in it', (t) => {
    const path = folder(t);
    writeFileSync(join(path, 'empty.sqlite'), '');

    assert.deepEqual(readStoredSchema(join(path, 'none.sqlite')), { state: 'absent' });
    assert.deepEqual(readStoredSchema(join(path, 'empty.sqlite')), { state: 'absent' });
    assert.deepEqual(readdirSync(path), ['empty.sqlite']);
  });

  it('is refused where a file was emptied, and its log stays', (t) => {
    const path = folder(t);
    const file = join(path, 'data.sqlite');
    writeFileSync(file, '');
    writeFileSync(`${file}-wal`, 'commits');

    const found = readStoredSchema(file);

    assert.equal(found.state, 'refused');
    assert.throws(() => openReadOnly(file), { code: 'storage_unavailable' });
    assert.deepEqual(readdirSync(path), ['data.sqlite', 'data.sqlite-wal']);
  });

  it('is read from a closed file, and nothing is made or touched', (t) => {
    const path = folder(t);
    const file = join(path, 'data.sqlite');
    made(t, file).close();
    const before = snapshot(path);

    assert.deepEqual(readStoredSchema(file), CURRENT);
    assert.equal(snapshot(path), before);
  });

  it('is read from the log where nothing else holds it yet, and from a file whose log was begun anew', (t) => {
    const path = folder(t);
    const file = join(path, 'data.sqlite');
    const database = made(t, file);
    const before = snapshot(path);

    assert.deepEqual(readStoredSchema(file), CURRENT, 'all of it in the log');
    assert.equal(snapshot(path), before);
    database.pragma('wal_checkpoint(TRUNCATE)');
    assert.deepEqual(readStoredSchema(file), CURRENT, 'an empty log');
    fill(database, 2_500);
    database.pragma('wal_checkpoint(PASSIVE)');
    fill2(database);
    assert.deepEqual(readStoredSchema(file), CURRENT, 'new frames before old ones');
  });

  it('leaves out frames that were never committed, torn or foreign', (t) => {
    const path = folder(t);
    const file = join(path, 'data.sqlite');
    const database = made(t, file);
    database.pragma('wal_checkpoint(TRUNCATE)');
    database.exec("UPDATE migrations SET name = 'renamed'");
    const torn = copy(file, join(path, 'torn.sqlite'));
    truncateSync(`${torn}-wal`, statSync(`${torn}-wal`).size - 100);
    const grown = copy(file, join(path, 'grown.sqlite'));
    appendFileSync(`${grown}-wal`, Buffer.alloc(5_000, 7));

    assert.deepEqual(readStoredSchema(torn), CURRENT, 'the commit is torn');
    const { applied } = readStoredSchema(grown) as { applied: unknown };
    assert.deepEqual(
      applied,
      NAMES.map(() => 'renamed'),
    );
  });

  it('names what a start would still run', (t) => {
    const file = join(folder(t), 'data.sqlite');
    new Sqlite(file).exec('CREATE TABLE other (x)').close();

    assert.deepEqual(readStoredSchema(file), { state: 'usable', applied: [], pending: NAMES });
  });

  it('is refused as a start would refuse it: newer and breaking, another text, damaged, no database', (t) => {
    const path = folder(t);
    const reason = (name: string, damage: (database: Database) => void): string => {
      const file = join(path, name);
      const database = made(t, file);
      damage(database);
      database.close();
      const found = readStoredSchema(file);
      assert.equal(found.state, 'refused', name);
      return found.reason.code;
    };

    assert.equal(
      reason('newer', (database) => database.exec("INSERT INTO migrations VALUES (999, '0999-later', 1, 'x', 0)")),
      'schema_newer',
    );
    assert.equal(
      reason('other', (database) => database.exec("UPDATE migrations SET sha256 = 'x'")),
      'database_corrupt',
    );
    writeFileSync(join(path, 'text'), 'this is a text and no database, however long one reads in it: '.repeat(9));
    const text = readStoredSchema(join(path, 'text'));
    assert.equal(text.state === 'refused' && text.reason.code, 'database_corrupt');
  });

  it('takes a newer migration that breaks nothing', (t) => {
    const file = join(folder(t), 'data.sqlite');
    made(t, file).exec("INSERT INTO migrations VALUES (999, '0999-later', 0, 'x', 0)");

    assert.deepEqual(readStoredSchema(file), { ...CURRENT, applied: [...NAMES, '0999-later'] });
  });

  it('is found in tables that take many pages, with rows that reach over several', (t) => {
    const file = join(folder(t), 'data.sqlite');
    const database = made(t, file);
    for (let table = 0; table < 400; table += 1)
      database.exec(`CREATE TABLE t${table} (x TEXT DEFAULT '${'y'.repeat(table % 7 === 0 ? 9_000 : 40)}')`);
    const insert = database.prepare('INSERT INTO migrations VALUES (?, ?, 0, ?, 0)');
    for (let id = 1_000; id < 3_000; id += 1) insert.run(id, `${id}-later`, 'f'.repeat(64));
    const expected = database.prepare<[], { name: string }>('SELECT name FROM migrations ORDER BY id').all();

    const open = readStoredSchema(file);
    database.close();
    const closed = readStoredSchema(file);

    for (const found of [open, closed])
      assert.deepEqual(
        found.state === 'usable' && found.applied,
        expected.map(({ name }) => name),
      );
  });
});

/** A second round of writes over a log that was brought over. */
function fill2(database: Database): void {
  database.exec("UPDATE meta SET value = 'short' WHERE key < 'k2'");
}
