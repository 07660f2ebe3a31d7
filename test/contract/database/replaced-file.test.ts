// The database file is replaced at the moment at which the writer opens it: the connection has a file that is not at the path any more (WRITER-1).
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { openWritable } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const PUT = {
  name: 'test',
  statements: [{ sql: "INSERT INTO meta (key, value) VALUES ('k', 'v')", parameters: [] }],
};

it('a file that is replaced while it is opened is not written, and the one that is put back is', (t) => {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  const aside = `${file}.aside`;
  mkdirSync(dirname(file), { recursive: true });
  const first = new WriterCore({ file, now: Date.now });
  first.open();
  first.close();
  let isReplaced = false;
  const replace = (): void => {
    isReplaced = true;
    renameSync(file, aside);
    copyFileSync(aside, file);
  };
  // The writer asks for the time between its look at the file and the first group.
  const writer = new WriterCore({ file, now: () => (isReplaced || replace(), Date.now()) });
  t.after(() => void writer.close());

  assert.throws(() => writer.run([PUT]), { code: 'storage_unavailable', message: /removed or replaced|not the file/ });
  renameSync(aside, file);
  assert.equal(writer.run([PUT]).answers.length, 1);
});

it('a file that was there a moment ago is not made anew, where a new one is', (t) => {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });

  assert.throws(() => openWritable(file, undefined, { isKnown: true }));
  assert.equal(existsSync(file), false);
  openWritable(file).close();
  assert.equal(existsSync(file), true);
});
