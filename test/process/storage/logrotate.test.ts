// The log of a daemon under Debian's logrotate, with the configuration that comes with svc.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { serverMissing } from '../../support/accounts/debian-server.ts';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import { until } from '../../support/until.ts';

const ROTATIONS = 3;
const supervise = overWorkers<string>(['talks-a-lot']);
const configuration = readFileSync(new URL('../../../deploy/systemd/logrotate.conf', import.meta.url), 'utf8');

describe('deploy/systemd/logrotate.conf', { skip: serverMissing('logrotate') }, () => {
  it('rotates the log of a daemon that writes without a pause: no line is lost or torn', async (t) => {
    const run = supervise(t, 'talks-a-lot', { settings: { logBytes: 4e9 } });
    await run.state('running');
    const { runtimeLog, stateDir } = run.project.paths;
    const folder = mkdtempSync(join(tmpdir(), 'svc-logrotate-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'svc.conf');
    writeFileSync(file, configuration.replace('/srv/svc/*/.svc/runtime.log', runtimeLog), { mode: 0o600 });
    const moved = (): readonly string[] =>
      readdirSync(stateDir)
        .filter((name) => name.startsWith('runtime.log-'))
        .toSorted();

    for (let n = 1; n <= ROTATIONS; n += 1) {
      await until(
        () => {
          // The names have seconds in them: within one second nothing is rotated twice.
          const { status, stderr } = spawnSync('logrotate', ['--force', '--state', join(folder, 'state'), file], {
            env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
            encoding: 'utf8',
          });
          return moved().length === n && (assert.equal(status, 0, stderr), true);
        },
        { what: `rotation ${n}`, everyMs: 200 },
      );
      await until(() => existsSync(runtimeLog) && run.log() !== '', { what: 'lines in the new file' });
    }
    await run.call('stop');
    await run.ended;

    const files = [...moved().map((name) => join(stateDir, name)), runtimeLog];
    const texts = files.map((path) => {
      const bytes = readFileSync(path);
      return path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
    });
    const numbers = Buffer.concat(texts)
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { n?: number }).n)
      .filter((n) => n !== undefined);
    assert.ok(files.some((path) => path.endsWith('.gz')));
    assert.deepEqual(
      numbers,
      Array.from({ length: numbers.length }, (_, index) => index + 1),
    );
  });
});
