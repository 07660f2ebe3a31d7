// Commands over a host that is not well, or is about to be made so: they end, they say what is, and they take no good worker away.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { identify } from '../../../shared/process/process-identity.ts';
import { smallDiskMissing } from '../../support/disk/small-disk.ts';
import { OTHER_USER, otherUserMissing } from '../../support/owners/other-user.ts';
import { ask, killIfThere, lives } from '../../support/process/supervised.ts';
import { type Ended, portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

/** Rights are for users that are not root. */
const missing = smallDiskMissing() || otherUserMissing();
const SIDE_BY_SIDE = 3;

interface Daemon {
  readonly path: string;
  readonly url: string;
  readonly token: string;
  readonly stateDir: string;
  readonly pid: number;
  readonly supervisorPid: number;
  readonly run: (...words: readonly string[]) => Promise<Ended>;
  readonly status: () => Promise<Record<string, unknown>>;
}

async function daemon(t: TestContext, keys: Readonly<Record<string, unknown>> = {}): Promise<Daemon> {
  const project = await portProject(t, { keys: { disk: { minFreeBytes: 0 }, ...keys }, prefix: 'svc-commands-' });
  const { path, url, token, paths } = project;
  mkdirSync(paths.stateDir, { mode: 0o700 });
  execFileSync('chown', ['-R', `${OTHER_USER}:${OTHER_USER}`, path]);
  const run = (...words: readonly string[]): Promise<Ended> =>
    svc(['runtime', ...words], { cwd: path, user: OTHER_USER });
  const started = await run('start', '--daemon', '--json');
  assert.equal(started.code, 0, started.stderr);
  const { pid, supervisorPid } = JSON.parse(started.stdout) as Pick<Daemon, 'pid' | 'supervisorPid'>;
  const status = async (): Promise<Record<string, unknown>> => JSON.parse((await run('status', '--json')).stdout);
  return { path, url, token, stateDir: paths.stateDir, pid, supervisorPid, run, status };
}

/** On a busy machine the first second may go by before the former worker has ended. The next restart starts the host, another one is deferred again. */
async function restartDeferred({ run }: Daemon): Promise<Ended> {
  for (let seconds = 1; ; seconds *= 4) {
    const ended = await run('restart', '--timeout', String(seconds));
    if (/deferred: 1 starts/.test(ended.stderr) || seconds > 60) return ended;
    await run('restart');
  }
}

/** What the next worker would refuse, how it is mended, and what is said of it. */
const REFUSED: readonly (readonly [
  what: string,
  begin: (host: Daemon) => void,
  end: (host: Daemon) => void,
  RegExp,
])[] = [
  [
    '.svc is open to others',
    ({ stateDir }) => chmodSync(stateDir, 0o755),
    ({ stateDir }) => chmodSync(stateDir, 0o700),
    /\.svc is open to others \(mode 0755\)[\s\S]*chmod 0700/,
  ],
  [
    '.svc belongs to somebody else',
    ({ stateDir }) => execFileSync('chown', ['65533', stateDir]),
    ({ stateDir }) => execFileSync('chown', [String(OTHER_USER), stateDir]),
    /\.svc belongs to user 65533, not to 65534/,
  ],
  [
    'the writer lock belongs to root',
    ({ stateDir }) => execFileSync('chown', ['0:0', join(stateDir, 'writer.lock')]),
    ({ stateDir }) => execFileSync('chown', [`${OTHER_USER}:${OTHER_USER}`, join(stateDir, 'writer.lock')]),
    /\.svc cannot be used: EACCES[^\n]*writer\.lock[\s\S]*chown -R/,
  ],
  [
    '.env can be read by others',
    ({ path }) => chmodSync(join(path, '.env'), 0o644),
    ({ path }) => chmodSync(join(path, '.env'), 0o600),
    /\.env[\s\S]*(others|0644|0600)/,
  ],
  [
    'the configuration is wrong',
    ({ path }) => writeFileSync(join(path, 'svc.config.yml.kept'), readFileSync(join(path, 'svc.config.yml'))),
    ({ path }) => writeFileSync(join(path, 'svc.config.yml'), readFileSync(join(path, 'svc.config.yml.kept'))),
    /svc\.config\.yml/,
  ],
];

describe('a restart whose next worker would not start', { skip: missing, concurrency: SIDE_BY_SIDE }, () => {
  for (const [what, begin, end, said] of REFUSED) {
    it(`is refused with the remedy, and the good worker stays: ${what}`, async (t) => {
      const host = await daemon(t);
      begin(host);
      if (what === 'the configuration is wrong') writeFileSync(join(host.path, 'svc.config.yml'), 'plugins: [\n');

      const byCommand = await host.run('restart', '--timeout', '5');
      const bySocket = await ask(join(host.stateDir, 'control.sock'), 'restart').then(() => 'taken', String);
      const answer = await fetch(`${host.url}/api/system/restart`, {
        method: 'POST',
        headers: { authorization: `Bearer ${host.token}`, connection: 'close' },
      });
      const byHttp = `${answer.status} ${await answer.text()}`;

      assert.match(byCommand.stderr, said);
      assert.notEqual(byCommand.code, 0);
      assert.match(bySocket, /state_dir_unsafe|config_invalid|secret_invalid/);
      assert.match(byHttp, /^409 [\s\S]*restart_refused/);
      assert.equal(lives(host.pid), true);
      end(host);
      const after = await host.status();
      assert.deepEqual([after['state'], after['pid'], after['exits']], ['running', host.pid, []]);
      assert.equal((await host.run('restart')).code, 0);
      assert.equal(lives(host.pid), false);
    });
  }
});

describe('runtime stop over a host that does not answer', { skip: missing, concurrency: SIDE_BY_SIDE }, () => {
  for (const words of [[], ['--now']])
    it(`ends a supervisor that stands still, and its worker: stop ${words.join(' ')}`, async (t) => {
      const host = await daemon(t, { supervisor: { stopTimeoutSeconds: 2 } });
      process.kill(host.supervisorPid, 'SIGSTOP');

      const { code, stderr } = await host.run('stop', ...words);

      assert.equal(code, 0, stderr);
      assert.match(stderr, words.length === 0 ? /SIGTERM/ : /SIGKILL/);
      await until(() => !lives(host.supervisorPid) && !lives(host.pid), { what: 'the end of both' });
      assert.equal((await host.run('status')).code, 3);
    });

  it('finds the supervisor among the processes where its record is gone as well', async (t) => {
    const host = await daemon(t, { supervisor: { stopTimeoutSeconds: 2 } });
    chmodSync(host.stateDir, 0o000);

    const { code, stderr } = await host.run('stop');

    assert.equal(code, 0, stderr);
    assert.deepEqual([lives(host.supervisorPid), lives(host.pid)], [false, false]);
  });

  it('answers restart and status within their limits, with what is known', async (t) => {
    const host = await daemon(t);
    process.kill(host.supervisorPid, 'SIGSTOP');
    t.after(() => killIfThere(host.supervisorPid, 'SIGCONT'));

    const [status, restart] = await Promise.all([host.run('status'), host.run('restart', '--timeout', '5')]);

    for (const { code, stderr } of [status, restart]) {
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`the supervisor, pid ${host.supervisorPid}, runs but does not answer`));
      assert.match(stderr, /supervisor\.json says: running since /);
    }
    assert.equal(lives(host.pid), true);
  });

  it('ends a worker of the foreground that stands still', async (t) => {
    const project = await portProject(t);
    const host = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: project.path });
    t.after(() => void host.child.kill('SIGKILL'));
    await until(() => host.output().includes('worker up'), { what: 'the host' });
    const identity = identify(host.child.pid ?? 0);
    assert.ok(identity !== undefined);
    process.kill(identity.pid, 'SIGSTOP');

    const { code, stderr } = await svc(['runtime', 'stop'], { cwd: project.path });

    assert.equal(code, 0, stderr);
    assert.equal(lives(identity.pid), false);
  });
});

describe('what a start and an end say', { skip: missing, concurrency: SIDE_BY_SIDE }, () => {
  it('starts beside a FIFO under the name of each file that is read at a start, and says so', async (t) => {
    const project = await portProject(t);
    mkdirSync(project.paths.stateDir, { mode: 0o700 });
    for (const path of [project.paths.supervisorRecord, project.paths.restartWindow, project.paths.workerRecord])
      execFileSync('mkfifo', ['-m', '600', path]);

    const { code, stderr } = await svc(['runtime', 'start', '--daemon'], { cwd: project.path });

    assert.equal(code, 0, stderr);
    assert.match(
      readFileSync(project.paths.runtimeLog, 'utf8'),
      /supervisor\.json is not a regular file: move it away/,
    );
    assert.equal((await svc(['runtime', 'stop'], { cwd: project.path })).code, 0);
  });

  it('names where to look when a worker was killed from outside', async (t) => {
    const host = await daemon(t);

    process.kill(host.pid, 'SIGKILL');
    await until(async () => ((await host.status())['exits'] as unknown[]).length === 1, { what: 'its record' });
    const [exit] = (await host.status())['exits'] as { readonly detail: string }[];
    assert.match(exit?.detail ?? '', /killed by signal 9 from outside: look for the OOM killer: journalctl -k/);
  });

  it('says how long a deferred start waits: in the log, in status and at the restart that leads to it', async (t) => {
    const host = await daemon(t, { supervisor: { restarts: 1, windowSeconds: 3_600 } });

    const { code, stderr } = await restartDeferred(host);

    assert.equal(code, 1);
    assert.match(stderr, /deferred: 1 starts within 3600 s: waits \d+ s for the oldest[^\n]*starts it now/);
    const status = await host.run('status');
    assert.match(status.stdout, /deferred since \S+: 1 starts within 3600 s: waits \d+ s for the oldest/);
    assert.match(status.stderr, /`svc runtime restart` starts it now/);
    const log = readFileSync(join(host.stateDir, 'runtime.log'), 'utf8');
    assert.match(
      log,
      /"waitMs":\d+,"reason":"1 starts within 3600 s: waits \d+ s[^"]*starts it now","msg":"supervisor deferred"/,
    );
    assert.equal((await host.run('restart')).code, 0);
  });
});
