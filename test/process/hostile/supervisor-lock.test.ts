// Another user of the machine takes the names under which supervisors keep each other out: he keeps nobody out, and lets no second one in.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { smallDiskMissing } from '../../support/disk/small-disk.ts';
import { OTHER_USER, otherUserMissing } from '../../support/owners/other-user.ts';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import type { Supervised } from '../../support/process/supervised.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const supervise = overWorkers(['healthy']);
const missing = smallDiskMissing() || otherUserMissing();
const STRANGER = 65_533;

/** What a look at /proc/net/unix tells every user: abstract names of supervisors. */
const names = (): readonly string[] =>
  readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .map((line) => / @(svc-[0-9a-f-]+)@*$/.exec(line)?.[1] ?? '')
    .filter((name) => name !== '');

async function squat(t: TestContext, name: string): Promise<void> {
  const program = `require('node:net').createServer(() => {}).listen('\\0${name}', () => console.log('has it'));`;
  const child = spawn(process.execPath, ['-e', program], {
    uid: STRANGER,
    gid: STRANGER,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
}

async function ends({ child, ended }: Supervised): Promise<string> {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  assert.equal((await ended).signal, null);
  return text;
}

describe('a stranger who takes the name of the lock', { skip: missing }, () => {
  it('keeps no supervisor out, and lets no second one in, whichever name he takes', async (t) => {
    const project = temporaryProject(t, { prefix: 'svc-lock-' });
    const before = new Set(names());
    const start = (): Supervised => supervise(t, 'healthy', { project, user: OTHER_USER });
    const usual = start();
    await usual.state('running');
    await usual.call('stop');
    await usual.ended;
    const { dev, ino } = statSync(project.paths.stateDir);
    const firstName = `svc-${dev}-${ino}`;

    await squat(t, firstName);
    const first = start();
    await first.state('running');
    assert.match(await ends(start()), /another supervisor of this project is running/);
    const isSecret = (name: string): boolean => !before.has(name) && /^svc-[0-9a-f]{32}$/.test(name);
    const [secret = ''] = names().filter(isSecret);
    await first.call('stop');
    await first.ended;

    await squat(t, secret);
    const second = start();
    const { supervisorPid } = await second.state('running');
    assert.match(await ends(start()), /another supervisor of this project is running/);
    assert.equal((await second.status()).supervisorPid, supervisorPid);
    assert.match(second.log(), /another user holds the usual name of the lock/);
  });

  it('lets no second one in either when he leaves while a supervisor runs', async (t) => {
    const project = temporaryProject(t, { prefix: 'svc-lock-' });
    const start = (): Supervised => supervise(t, 'healthy', { project, user: OTHER_USER });
    const usual = start();
    await usual.state('running');
    await usual.call('stop');
    await usual.ended;
    const { dev, ino } = statSync(project.paths.stateDir);
    const name = `svc-${dev}-${ino}`;
    const leaving = new AbortController();
    const squatter = spawn(
      process.execPath,
      ['-e', `require('node:net').createServer(() => {}).listen('\\0${name}', () => console.log('has it'));`],
      { uid: STRANGER, gid: STRANGER, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'], signal: leaving.signal },
    );
    squatter.on('error', () => {}); // it is ended
    await new Promise((resolve) => squatter.stdout?.once('data', resolve));
    const first = start();
    await first.state('running');

    leaving.abort();
    await until(() => !names().includes(name), { what: 'the name to be free' });

    assert.match(await ends(start()), /another supervisor of this project is running/);
    assert.equal((await first.status()).state, 'running');
  });
});
