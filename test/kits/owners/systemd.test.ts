// The system service of /srv/svc/alice under a systemd that was booted for it.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { slowToMigrate } from '../../support/disk/slow-migration.ts';
import { type BootedSystemd, bootSystemd, type Inside, nspawnMissing } from '../../support/owners/booted-systemd.ts';
import { layProject, lockfile } from '../../support/owners/owned-project.ts';
import { until } from '../../support/until.ts';

const skip = nspawnMissing();
const PROJECT = '/srv/svc/alice';
const UNIT = 'svc@alice.service';
const SOCKET = 'svc@alice.socket';
const URL = 'http://127.0.0.1:8068';
const TOKEN = 'Vq3mT9xKz7Lp2RwYc8Nb5Hd1Js6Gf4Ae';
// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
const CONFIG = 'http:\n  port: 8068\n  token: ${HTTP_TOKEN}\nplugins:\n  echo: {}\n  sandbox: {}\n';
/** Instead of 90. */
const START_SECONDS = 5;

describe('a system service under systemd', { skip }, () => {
  let systemd: BootedSystemd;

  before(async () => {
    systemd = await bootSystemd();
    await layProject(systemd, {
      path: PROJECT,
      config: CONFIG,
      token: TOKEN,
      user: { name: 'alice', id: 4242, home: PROJECT, shell: '/usr/sbin/nologin' },
    });
  });
  after(async () => {
    await systemd?.end();
  });

  const service = (verb: string, ...args: string[]): Promise<Inside> =>
    systemd.svc(['service', verb, '--project', PROJECT, ...args]);
  const show = async (property: string, unit = UNIT): Promise<string> =>
    systemd.must(['systemctl', 'show', unit, `--property=${property}`, '--value']);
  const mainPid = async (): Promise<number> => Number(await show('MainPID'));
  const health = (): Promise<Inside> => systemd.run(['node', '-e', HEALTH, `${URL}/pub/health`]);
  const journal = (): Promise<string> => systemd.must(['journalctl', '--unit', UNIT, '-o', 'cat', '--no-pager']);
  const kill = (signal: string): Promise<string> =>
    systemd.must(['systemctl', 'kill', `--signal=${signal}`, '--kill-whom=main', UNIT]);
  const anotherWorker = (than: number): Promise<number> =>
    until(
      async () => {
        const pid = await mainPid();
        return pid > 0 && pid !== than && (await show('ActiveState')) === 'active' ? pid : undefined;
      },
      { what: `another worker than ${than}`, everyMs: 100 },
    );
  const started = async (): Promise<number> => {
    const ran = await service('start');
    assert.equal(ran.code, 0, ran.stderr);
    return mainPid();
  };

  beforeEach(async () => {
    // Each story begins with a full budget and a good configuration.
    await systemd.write(`${PROJECT}/svc.config.yml`, CONFIG);
    await systemd.run(['systemctl', 'stop', SOCKET, UNIT]);
    await systemd.svc(['runtime', 'stop', '--project', PROJECT]);
    await systemd.run(['systemctl', 'reset-failed', SOCKET, UNIT]);
  });

  it('is told apart: status and start end with 3 before it is installed', async () => {
    assert.equal((await service('status')).code, 3);
    assert.equal((await service('start')).code, 3);
  });

  it('is installed by root alone, with folders of its user', async () => {
    const other = await systemd.svc(['service', 'install', '--project', PROJECT], { user: '4242' });
    assert.equal(other.code, 1, other.stderr);
    assert.match(other.stderr, /sudo/);

    const { code, stderr } = await service('install');

    assert.equal(code, 0, stderr);
    assert.equal(await show('UnitFileState'), 'enabled');
    assert.equal(await show('UnitFileState', SOCKET), 'enabled');
    assert.equal(
      await systemd.must(['stat', '-c', '%U %a', `${PROJECT}/.svc`, `${PROJECT}/data`]),
      'alice 700\nalice 700',
    );
    assert.equal((await service('status')).code, 3);
    assert.match((await service('install')).stdout, /was installed already/);
  });

  it('has units without a word of complaint, and an exposure of 1.5 at most', async () => {
    const verified = await systemd.run(['systemd-analyze', 'verify', UNIT, SOCKET]);
    assert.deepEqual([verified.code, verified.stdout, verified.stderr], [0, '', '']);

    const security = await systemd.run(['systemd-analyze', 'security', '--no-pager', '--threshold=15', UNIT]);
    assert.equal(security.code, 0, security.stdout);
  });

  it('is started, ready and walled in', async () => {
    const pid = await started();

    await until(async () => (await service('status')).code === 0, { what: 'ready' });
    assert.match(await show('StatusText'), /^ready, generation \d+$/);
    assert.equal((await health()).stdout, '200');
    const status = await systemd.must(['cat', `/proc/${pid}/status`]);
    assert.match(status, /^Uid:\s+4242\s/m);
    for (const line of [/^NoNewPrivs:\s+1$/m, /^Seccomp:\s+2$/m, /^CapEff:\s+0+$/m, /^CapBnd:\s+0+$/m])
      assert.match(status, line);
    const mounts = await systemd.must(['cat', `/proc/${pid}/mountinfo`]);
    assert.match(mounts, / \/ \/ ro,|\s\/\s+ro,/);
    for (const writable of ['.svc', 'data']) assert.match(mounts, new RegExp(` ${PROJECT}/${writable} rw,`));
    assert.doesNotMatch(await systemd.must(['sh', '-c', `tr '\\0' '\\n' </proc/${pid}/environ`]), new RegExp(TOKEN));
  });

  it('answers for status, logs and reload over the socket of its worker', async () => {
    await started();

    const status = await systemd.svc(['runtime', 'status', '--json', '--project', PROJECT]);
    assert.equal(JSON.parse(status.stdout).owner, 'systemd');
    assert.equal((await systemd.svc(['runtime', 'reload', '--project', PROJECT])).code, 0);
    assert.equal((await systemd.run(['systemctl', 'reload', UNIT])).code, 0);
    assert.match((await service('logs', '-n', '100')).stdout, /"worker up"/);
  });

  it('comes back after SIGKILL, and no connection is refused meanwhile', async () => {
    const pid = await started();

    await kill('SIGKILL');
    const asked = await health();

    assert.equal(asked.stdout, '200', asked.stderr);
    assert.notEqual(await anotherWorker(pid), pid);
  });

  it('comes back after 51: a restart that was asked for', async () => {
    await systemd.run(['sh', '-c', `rm ${PROJECT}/.svc/data.sqlite*`]); // with it the starts of the stories before: a fifth is refused
    const pid = await started();

    const { code, stderr } = await systemd.svc(['runtime', 'restart', '--project', PROJECT]);

    assert.equal(code, 0, stderr);
    await anotherWorker(pid);
    assert.match(await journal(), /"code":51/);
  });

  it('comes back after 75: a restart that the runtime needs', async () => {
    const pid = await started();
    await systemd.write(`${PROJECT}/package-lock.json`, lockfile('2'));

    await systemd.svc(['runtime', 'reload', '--or-restart', '--project', PROJECT]);

    await anotherWorker(pid);
    assert.match(await journal(), /"code":75/);
  });

  it('does not come back after 78: the configuration is invalid', async () => {
    await started();
    await systemd.write(`${PROJECT}/svc.config.yml`, 'http: {port: wrong}\n');

    await kill('SIGKILL');

    await until(async () => (await show('ActiveState')) === 'failed', {
      what: 'failed',
      everyMs: 100,
    });
    assert.equal(await show('ExecMainStatus'), '78');
    assert.equal(await show('Result'), 'exit-code');
    await until(async () => (await show('ActiveState', SOCKET)) === 'inactive', {
      what: 'the end of its address',
      everyMs: 100,
    });
    assert.equal((await health()).stdout, 'ECONNREFUSED');
    const ended = await service('start');
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /http.*port/);
    assert.equal((await service('status')).code, 3);
  });

  it('closes its address with 78 though connections come, and opens it with the next start', async () => {
    await started();
    await systemd.write(`${PROJECT}/svc.config.yml`, 'http: {port: wrong}\n');

    await kill('SIGKILL');
    await until(async () => (await health()).stdout === 'ECONNREFUSED', {
      what: 'a refusal',
      everyMs: 200,
    });

    assert.equal(await show('ActiveState'), 'failed');
    assert.equal(await show('ActiveState', SOCKET), 'inactive');
    await systemd.write(`${PROJECT}/svc.config.yml`, CONFIG);
    assert.equal((await service('start')).code, 0);
    assert.equal((await health()).stdout, '200');
  });

  it('fails after five starts, and its address is refused then', async () => {
    let pid = await started();
    for (let start = 2; start <= 5; start += 1) {
      await kill('SIGKILL');
      pid = await anotherWorker(pid);
    }

    await kill('SIGKILL');

    await until(async () => (await show('ActiveState')) === 'failed', {
      what: 'failed',
      everyMs: 100,
    });
    assert.equal(await show('Result'), 'signal');
    const refused = await until(
      async () => {
        const asked = await health();
        return asked.stdout === 'ECONNREFUSED' ? asked.stdout : undefined;
      },
      { what: 'a refusal', everyMs: 200 },
    );
    assert.equal(refused, 'ECONNREFUSED');
    assert.equal((await service('status')).code, 3);
    assert.equal((await service('start')).code, 0, 'an operator’s start clears the limit');
  });

  it('replaces a worker that is stopped in its tracks', async () => {
    const shorter = '/etc/systemd/system/svc@alice.service.d/watchdog.conf';
    await systemd.write(shorter, '[Service]\nWatchdogSec=5\n');
    await systemd.must(['systemctl', 'daemon-reload']);
    const pid = await started();

    await kill('SIGSTOP');

    await anotherWorker(pid);
    await systemd.must(['rm', shorter]);
    await systemd.must(['systemctl', 'daemon-reload']);
    assert.match(await systemd.must(['journalctl', '--no-pager', '-o', 'cat']), /svc@alice\.service: Watchdog timeout/);
  });

  it('starts through a migration that takes longer than a start may', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-slow-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    slowToMigrate(join(folder, 'data.sqlite'), 3 * START_SECONDS * 1_000);
    const database = gzipSync(readFileSync(join(folder, 'data.sqlite'))).toString('base64');
    const shorter = '/etc/systemd/system/svc@alice.service.d/start.conf';
    await systemd.write(shorter, `[Service]\nTimeoutStartSec=${START_SECONDS}\n`);
    await systemd.must(['systemctl', 'daemon-reload']);
    await systemd.must(['sh', '-c', `mkdir /root/kept; mv ${PROJECT}/.svc/data.sqlite* /root/kept || true`]);
    await systemd.write('/root/database', database);
    const placed = `${PROJECT}/.svc/data.sqlite`;
    await systemd.must([
      'sh',
      '-c',
      `base64 -d </root/database | gunzip >${placed} && chown 4242:4242 ${placed} && chmod 600 ${placed}`,
    ]);
    // oxlint-disable-next-line eslint/no-restricted-properties -- at least so long: a slow machine takes longer
    const now = (): number => performance.now();
    const from = now();

    const ran = await service('start');
    assert.equal(ran.code, 0, `${ran.stderr}${await journal()}`);

    assert.ok(now() - from > START_SECONDS * 1_000, 'systemd would have ended it by then');
    assert.equal((await health()).stdout, '200');
    await service('stop');
    await systemd.must(['sh', '-c', `rm ${placed}* ${shorter} ; mv /root/kept/* ${PROJECT}/.svc/ || true`]);
    await systemd.must(['systemctl', 'daemon-reload']);
  });

  it('refuses a start without .env', async () => {
    await systemd.must(['mv', `${PROJECT}/.env`, `${PROJECT}/.env.away`]);

    const { code, stderr } = await service('start');

    await systemd.must(['mv', `${PROJECT}/.env.away`, `${PROJECT}/.env`]);
    assert.equal(code, 1);
    assert.match(stderr, /[Aa]ssert/);
    assert.equal(await show('MainPID'), '0');
  });

  it('is the owner: a stop by `runtime stop` and a second start are refused with its name', async () => {
    await started();
    const stop = await systemd.svc(['runtime', 'stop', '--project', PROJECT]);
    assert.equal(stop.code, 1);
    assert.match(stop.stderr, /systemctl stop svc@alice\.socket svc@alice\.service/);

    for (const state of ['running', 'stopped']) {
      if (state === 'stopped') assert.equal((await service('stop')).code, 0);
      for (const args of [['--daemon'], ['--mode', 'production', '--no-watch']]) {
        const second = await systemd.svc(['runtime', 'start', ...args, '--project', PROJECT], { user: '4242' });
        assert.equal(second.code, 1, `${state} ${args.join(' ')}`);
        assert.match(second.stderr, /systemd/);
      }
    }
  });

  it('stops with 0 after a drain, with its socket', async () => {
    await started();

    assert.equal((await service('stop')).code, 0);

    assert.equal(await show('Result'), 'success');
    assert.equal(await show('ActiveState', SOCKET), 'inactive');
    assert.match(await journal(), /"worker stopped"/);
    assert.equal((await health()).stdout, 'ECONNREFUSED');
    assert.equal((await service('status')).code, 3);
    assert.equal((await service('stop')).code, 0);
  });

  it('is uninstalled while it runs, and its data stays', async () => {
    await started();

    const { code, stderr } = await service('uninstall', '--yes');

    assert.equal(code, 0, stderr);
    assert.equal(await show('LoadState'), 'not-found');
    assert.equal((await health()).stdout, 'ECONNREFUSED');
    await systemd.must(['test', '-s', `${PROJECT}/.svc/data.sqlite`]);
    await systemd.must(['test', '-s', `${PROJECT}/.env`]);
    assert.equal((await service('status')).code, 3);
  });
});

/** The status of an answer, or the code of the error. */
const HEALTH =
  'fetch(process.argv[1]).then((a) => process.stdout.write(String(a.status)), (e) => process.stdout.write(e.cause?.code ?? e.message))';
