// Another program beside a host: copies its files, writes to them and opens its database, as `cp`, `dd` and `sqlite3` do. One does so for all cases of a test
// file: to start a program takes longer than most of them.
import { closeSync, copyFileSync, openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const Sqlite = require(Number(process.versions.napi) >= 10 ? 'better-sqlite3-13' : 'better-sqlite3');

/** Each is done whole before it is answered. */
const DEEDS = {
  copy: ({ from, to }) => copyFileSync(from, to),
  /** In place, at most to the length that the file has. */
  overwrite({ file, at, bytes, byte }) {
    const open = openSync(file, 'r+');
    writeSync(open, Buffer.alloc(bytes, byte), 0, bytes, at);
    closeSync(open);
  },
  checkpoint: ({ file, mode }) => within(file, (database) => database.pragma(`wal_checkpoint(${mode})`)),
  write: ({ file, key }) =>
    within(file, (database) => database.prepare("INSERT INTO meta (key, value) VALUES (?, 'v')").run(key)),
};

function within(file, work) {
  const database = new Sqlite(file);
  try {
    work(database);
  } finally {
    database.close();
  }
}

process.once('disconnect', () => process.exit(0));
process.on('message', ({ deed, ...given }) => {
  try {
    DEEDS[deed](given);
    process.send({});
  } catch (error) {
    process.send({ error: String(error) });
  }
});
