// The native module of SQLite is missing, cut short, or of another processor: what each command says, and what becomes of a host that runs.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { svcCopy, WAYS_TO_BREAK } from '../../support/process/svc-copy.ts';
import { type Ended, portProject, startProgram } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const ERROR = /^svc: (.+)$/m;

describe('a native module that does not load', { concurrency: 2 }, () => {
  for (const how of WAYS_TO_BREAK)
    it(`ends every start with one sentence and 78, and is no damage of the database: ${how}`, async (t) => {
      const project = await portProject(t);
      const copy = svcCopy(t);
      const run = (...args: readonly string[]): Promise<Ended> =>
        startProgram(copy.cli, args, { cwd: project.path }).ended;
      assert.equal((await run('runtime', 'start', '--daemon')).code, 0);
      assert.equal((await run('runtime', 'stop')).code, 0);
      copy.break(how);

      const starts = await Promise.all([
        run('runtime', 'start', '--mode', 'production', '--no-watch'),
        run('runtime', 'start', '--daemon'),
        run('inbox', 'list'),
      ]);
      const once = await run('runtime', 'start', '--once', '--mode', 'test', '--json');
      const doctor = await run('doctor', '--json');
      const status = await run('runtime', 'status');

      const [sentence] = starts.map(({ stderr }) => ERROR.exec(stderr)?.[1] ?? stderr);
      assert.match(sentence ?? '', new RegExp(`^[^:]+: run npm ci in ${copy.folder}$`));
      for (const { code, stderr } of starts) {
        assert.deepEqual([code, ERROR.exec(stderr)?.[1]], [78, sentence]);
        assert.doesNotMatch(stderr, /\n {4}at /);
      }
      assert.deepEqual([once.code, JSON.parse(once.stdout).error.message], [78, sentence]);
      const checks = JSON.parse(doctor.stdout).checks as readonly Record<'id' | 'status' | 'reason' | 'fix', string>[];
      const found = checks.filter(({ status: is }) => is === 'error');
      assert.deepEqual(
        found.map(({ id }) => id),
        ['node.modules', 'database.integrity'],
      );
      for (const { reason, fix } of found) assert.equal(`${reason}: ${fix}`, sentence);
      assert.equal(status.code, 3);

      copy.mend();
      assert.equal((await run('runtime', 'start', '--daemon')).code, 0);
    });

  it('refuses a restart while the host that runs goes on, and a mended one is taken', async (t) => {
    const project = await portProject(t);
    const copy = svcCopy(t);
    const run = async (...args: readonly string[]) => {
      const { code, stdout } = await startProgram(copy.cli, ['runtime', ...args, '--json'], { cwd: project.path })
        .ended;
      return { code, body: JSON.parse(stdout) };
    };
    const started = await run('start', '--daemon');
    copy.break('missing');

    const refused = [await run('restart'), await run('restart', '--daemon'), await run('reload', '--or-restart')];
    const headers = { authorization: `Bearer ${project.token}` };
    const overHttp = await fetch(`${project.url}/api/system/restart`, { method: 'POST', headers });
    const told = await overHttp.text();
    const { code, body } = await run('status');

    for (const { code: end, body: answer } of refused.slice(0, 2)) {
      assert.deepEqual([end, answer.error.code], [78, 'modules_unusable']);
      assert.match(answer.error.message, /: run npm ci in /);
    }
    assert.equal(refused[2]?.code, 0, 'a reload needs nothing new');
    assert.deepEqual([overHttp.status, JSON.parse(told).code], [409, 'restart_refused']);
    assert.ok(!told.includes(copy.folder) && !told.includes(project.path), told);
    assert.deepEqual([code, body.runtimeId], [0, started.body.runtimeId]);

    copy.mend();
    assert.equal((await run('restart')).code, 0);
  });

  it('is named by a daemon whose worker died meanwhile, and a start after the mend serves', async (t) => {
    const project = await portProject(t);
    const copy = svcCopy(t);
    const run = async (...args: readonly string[]) => {
      const { code, stdout } = await startProgram(copy.cli, ['runtime', ...args, '--json'], { cwd: project.path })
        .ended;
      return { code, body: JSON.parse(stdout) };
    };
    const { body: started } = await run('start', '--daemon');
    copy.break('cut in the middle');
    process.kill(started.pid, 'SIGKILL');
    const { body: failed } = await until(
      async () => {
        const status = await run('status');
        return status.body.state === 'failed' && status;
      },
      { what: 'the daemon to have failed' },
    );
    const restart = await run('restart');
    copy.mend();
    const again = await run('restart');

    assert.match(failed.reason, /is cut short .*: run npm ci in /);
    assert.deepEqual([restart.code, restart.body.error.code], [78, 'modules_unusable']);
    assert.equal(again.code, 0);
    assert.ok(existsSync(project.paths.database));
  });
});
