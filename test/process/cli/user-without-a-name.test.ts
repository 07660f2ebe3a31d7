// A user id that /etc/passwd does not know, without HOME, as containers run it: what needs no home folder works, and the rest says so.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { otherUserMissing } from '../../support/owners/other-user.ts';
import { CLI } from '../../support/process/built-svc.ts';
import { type Ended, portProject, untilReady } from '../../support/svc-command.ts';

const NOBODY_KNOWS = 12_345;

async function ownProject(t: TestContext) {
  const project = await portProject(t);
  for (const path of [project.path, ...readdirSync(project.path).map((name) => join(project.path, name))])
    chownSync(path, NOBODY_KNOWS, NOBODY_KNOWS);
  const start = (...args: readonly string[]) => {
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: project.path,
      env: { PATH: process.env['PATH'] },
      uid: NOBODY_KNOWS,
      gid: NOBODY_KNOWS,
    });
    t.after(() => child.kill('SIGKILL'));
    const text = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        text[name] += chunk;
      });
    const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...text })));
    return { child, ended };
  };
  return { ...project, start };
}

describe('a user without name and home', { concurrency: true, skip: otherUserMissing() }, () => {
  it('runs a host', async (t) => {
    const { start, url } = await ownProject(t);

    const { child, ended } = start('runtime', 'start', '--mode', 'production', '--no-watch');
    await untilReady(url);
    child.kill('SIGTERM');

    assert.equal((await ended).code, 0);
  });

  it('runs the checks of doctor', async (t) => {
    const { start } = await ownProject(t);

    const { stdout } = await start('doctor', '--json', '--only', 'owner.single,service.current').ended;

    assert.deepEqual(
      JSON.parse(stdout).checks.map(({ status }: { readonly status: string }) => status),
      ['ok', 'skip'],
    );
  });

  for (const verb of ['status', 'install'])
    it(`is told that a service of a user needs a home: service ${verb}`, async (t) => {
      const { start } = await ownProject(t);

      const { code, stderr } = await start('service', verb, '--user').ended;

      assert.ok(code === 1 || code === 3, String(code));
      assert.match(stderr, /user 12345 has no home folder/);
      assert.doesNotMatch(stderr, /\n {4}at /);
    });
});
