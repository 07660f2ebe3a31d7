// A long log is brought over by the writer, and only what was brought over counts as synced.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { openReadOnly, openWritable } from '../../../worker/database/sqlite/connection.ts';
import { keepLogShort } from '../../../worker/database/sqlite/wal/checkpoint.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import { GroupingWriter, inlineRunner } from '../../../worker/database/writer.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const MIB = 1_048_576;
/** The lock of who brings over (SQLite's file format, 2.3.3), in a process of its own until its input ends. */
const LOCK =
  'open(my $f, "+<", $ARGV[0]) or die; my $lock = pack("s s x4 q q i x4", 1, 0, 121, 1, 0); fcntl($f, 6, $lock) or die "$!"; $| = 1; print "held\\n"; <STDIN>;';
const skip =
  (process.platform !== 'linux' || spawnSync('perl', ['-v']).status !== 0) && 'the lock is taken by perl on Linux';

it('is not taken for brought over while another program is about to do that', { skip }, async (t) => {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  const database = openWritable(file);
  t.after(() => void database.close());
  database.exec('CREATE TABLE long (bytes BLOB); INSERT INTO long VALUES (zeroblob(20000000));');
  const other = spawn('perl', ['-e', LOCK, `${file}-shm`], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => void other.kill());
  await once(other.stdout, 'data');

  assert.equal(keepLogShort(database), false);
  other.stdin.end();
  await once(other, 'exit');
  assert.equal(keepLogShort(database), true);
  assert.equal(keepLogShort(database), false, 'it is short now');
});

it('is cut down once nothing pins it, and is written again from memory as before', async (t) => {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  const mended: boolean[] = [];
  const core = new WriterCore({ file, now: Date.now });
  core.open();
  t.after(() => void core.close());
  const writer = new GroupingWriter(inlineRunner(core), { logMended: () => mended.push(true) });
  const put = (key: string, bytes = 1): Promise<unknown> =>
    writer.commit({
      name: 'test',
      statements: [{ sql: 'INSERT INTO meta (key, value) VALUES (?, ?)', parameters: [key, 'v'.repeat(bytes)] }],
    });
  const pin = await writer.pinLog({ maxBytes: 1_024 * MIB });
  for (let n = 0; n < 70; n += 1) await put(`long ${n}`, MIB);
  const pinned = statSync(`${file}-wal`).size;
  await pin.release();
  for (let n = 0; n < 3; n += 1) await put(`short ${n}`);
  const released = statSync(`${file}-wal`).size;
  truncateSync(`${file}-wal`, 100); // as another program may
  await put('lost').catch(() => {});
  await put('last');

  assert.ok(pinned > 64 * MIB, `${pinned}`);
  assert.ok(released <= 64 * MIB, `${released}`);
  assert.deepEqual(mended, [true]);
  const reader = openReadOnly(file);
  t.after(() => void reader.close());
  const count = (like: string): unknown =>
    reader.prepare('SELECT count(*) FROM meta WHERE key LIKE ?').pluck().get(like);
  assert.deepEqual([count('long %'), count('short %'), count('last')], [70, 3, 1]);
});
