// A long log is brought over by the writer, and only what was brought over counts as synced.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { openWritable } from '../../../worker/database/sqlite/connection.ts';
import { keepLogShort } from '../../../worker/database/sqlite/wal/checkpoint.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

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
