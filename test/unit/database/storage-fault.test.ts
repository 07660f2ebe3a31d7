// What an operator is told of a failure of SQLite.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { faultCode, storageFault } from '../../../worker/database/storage-fault.ts';

const MODULE = fileURLToPath(new URL('../../../worker/database/storage-fault.ts', import.meta.url));
const CANNOT_OPEN = `Object.assign(new Error('unable to open database file'), { code: 'SQLITE_CANTOPEN' })`;
const EXHAUST = `import { openSync } from 'node:fs';
import { storageFault } from ${JSON.stringify(MODULE)};
const first = storageFault(${CANNOT_OPEN});
try { for (;;) openSync('/dev/null', 'r'); } catch {}
console.log(JSON.stringify([first, storageFault(${CANNOT_OPEN})]));`;

describe('storageFault', () => {
  it('names the limit of open files, where that is why a database does not open', () => {
    const { stdout, stderr } = spawnSync(
      'sh',
      [
        '-c',
        'ulimit -n 128 && exec "$@"',
        'sh',
        process.execPath,
        '--import',
        'tsx',
        '--input-type=module',
        '-e',
        EXHAUST,
      ],
      { encoding: 'utf8' },
    );

    const [before, after] = JSON.parse(stdout || `[{}, ${JSON.stringify({ message: stderr, hint: '' })}]`);
    assert.match(before.hint, /readable and writable/);
    assert.match(after.message, /unable to open database file: too many files are open \(EMFILE\)/);
    assert.match(after.hint, /ulimit -n/);
  });

  it('asks for room where the shared memory has none, not for a look at the disk', () => {
    const of = (code: string): string => storageFault(Object.assign(new Error('disk I/O error'), { code })).hint;

    assert.match(of('SQLITE_IOERR_SHMSIZE'), /free disk space/);
    assert.match(of('SQLITE_IOERR_READ'), /the disk reports errors/);
  });

  it('tells no path of the machine, where a file was asked for without SQLite', () => {
    const error = Object.assign(new Error("EROFS: read-only file system, open '/srv/bot/.svc/data.sqlite'"), {
      code: 'EROFS',
      syscall: 'open',
    });
    assert.deepEqual([storageFault(error).message, faultCode(error)], ['open', 'EROFS']);
  });
});
