// A folder of the database that the user of the host cannot write: doctor, the start and the log name path and user.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { OTHER_USER, otherUserMissing } from '../../support/owners/other-user.ts';
import { portProject, startSvc, svc, untilReady } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

/** The project is of another user, and the folder of the database is of root. */
async function project(t: TestContext, filename = 'elsewhere/data.sqlite') {
  const made = await portProject(t, { keys: { database: { dialect: 'sqlite', filename } } });
  for (const path of [made.path, ...readdirSync(made.path).map((name) => join(made.path, name))])
    chownSync(path, OTHER_USER, OTHER_USER);
  const folder = join(made.path, 'elsewhere');
  mkdirSync(folder, { mode: 0o755 });
  const options = { cwd: made.path, user: OTHER_USER };
  return { ...made, folder, options };
}

const USER = new RegExp(`user ${OTHER_USER} \\(nobody\\) \\(EACCES\\)`);

describe('a database folder that cannot be written', { concurrency: true, skip: otherUserMissing() }, () => {
  for (const [what, filename, place] of [
    ['is there', 'elsewhere/data.sqlite', 'elsewhere'],
    ['cannot be made', 'elsewhere/deeper/data.sqlite', 'elsewhere'],
    ['holds a file of somebody else', 'elsewhere/data.sqlite', 'elsewhere/data.sqlite'],
  ] as const)
    it(`is named with the user by doctor and by a daemon, which is not started: it ${what}`, async (t) => {
      const { path, folder, options } = await project(t, filename);
      if (place.endsWith('.sqlite')) {
        writeFileSync(join(path, place), '', { mode: 0o600 });
        chownSync(folder, OTHER_USER, OTHER_USER);
      }

      const doctor = await svc(['doctor', '--only', 'database.integrity', '--json'], options);
      const start = await svc(['runtime', 'start', '--daemon'], options);
      const status = await svc(['runtime', 'status'], options);

      const [check] = JSON.parse(doctor.stdout).checks;
      assert.equal(check.status, 'error');
      for (const text of [check.reason, start.stderr]) {
        assert.match(text, USER);
        assert.ok(text.includes(join(path, place)), text);
      }
      assert.match(check.fix, new RegExp(`chown ${OTHER_USER} `));
      assert.deepEqual([start.code, status.code], [1, 3]);
    });

  it('keeps a host in the foreground from being ready until it is given to its user', async (t) => {
    const { url, folder, token, options } = await project(t);
    chmodSync(folder, 0o755);
    const { child, ended, output } = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], options);
    t.after(() => child.kill('SIGKILL'));
    await until(() => /database is not usable/.test(output()), { what: 'the host to say so' });
    await until(async () => (await fetch(`${url}/pub/health`)).ok, { what: 'the host to be up' });

    const headers = { authorization: `Bearer ${token}` };
    const report = await (await fetch(`${url}/api/system/readiness`, { headers })).text();
    const told = output();
    chownSync(folder, OTHER_USER, OTHER_USER);
    await untilReady(url);
    child.kill('SIGTERM');

    assert.match(report, /its folder cannot be written by user 65534/);
    assert.ok(!report.includes(folder), 'clients of HTTP see no path of the machine');
    assert.match(told, USER);
    assert.ok(told.includes(folder), told);
    assert.equal((await ended).code, 0);
  });
});
