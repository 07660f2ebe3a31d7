// The worker below a real init of containers, Debian's tini and dumb-init, as a user id without a name and without HOME. Needs root.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { firstProcess, hostCommand, namespaceMissing, says } from '../../support/process/first-process.ts';
import { portProject, svc } from '../../support/svc-command.ts';

const UNKNOWN_USER = '4242';
const isThere = (program: string): boolean =>
  spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;

describe('a worker below an init of containers', { skip: namespaceMissing() }, () => {
  for (const init of ['tini', 'dumb-init'])
    it(`belongs to the container, and drains when ${init} is told to end`, async (t) => {
      if (!isThere(init)) return t.skip(`${init} is not installed`);
      const project = await portProject(t);
      spawnSync('chown', ['-R', `${UNKNOWN_USER}:${UNKNOWN_USER}`, project.path]);
      const user = ['setpriv', '--reuid', UNKNOWN_USER, '--regid', UNKNOWN_USER, '--clear-groups'];
      const first = firstProcess(t, ['env', '-u', 'HOME', ...user, init, '--', ...hostCommand(project.path)]);
      await says(first, 'worker up');

      const status = await svc(['runtime', 'status', '--json'], { cwd: project.path });
      assert.equal((JSON.parse(status.stdout) as { owner: string }).owner, 'container', status.stdout);
      const stop = await svc(['runtime', 'stop'], { cwd: project.path });
      assert.equal(stop.code, 1, stop.stdout + stop.stderr);
      process.kill(await first.pid(), 'SIGTERM');
      const { stdout } = await first.ended;
      assert.match(stdout, /"worker stopped"/);
    });
});
