// The service of a user under that user's own manager, in a systemd that was booted for it; the project's path holds what a path may hold.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { userServiceName } from '../../../supervisor/cli/service/names.ts';
import { type BootedSystemd, bootSystemd, type Inside, nspawnMissing } from '../../support/owners/booted-systemd.ts';
import { layProject, lockfile } from '../../support/owners/owned-project.ts';
import { asUser, startUserManager } from '../../support/owners/user-manager.ts';
import { until } from '../../support/until.ts';

const skip = nspawnMissing();
const PROJECT = '/home/ann/my "bot" 100% $HOME';
const NAME = userServiceName(PROJECT);
const UNIT = `${NAME}.service`;
// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
const CONFIG = 'http:\n  port: 8070\n  token: ${HTTP_TOKEN}\nplugins:\n  echo: {}\n';
const USER = { name: 'ann', id: 4300, home: '/home/ann' };
const ANN = asUser(USER);
const TOKEN = 'Vq3mT9xKz7Lp2RwYc8Nb5Hd1Js6Gf4Ae';
/** In tenths: what is left is what a manager without root cannot do (deploy/owners.md). */
const EXPOSURE = 21;
const DROP_IN = `/home/ann/.config/systemd/user/${UNIT}.d/watchdog.conf`;

describe('a service under the manager of a user', { skip }, () => {
  let systemd: BootedSystemd;

  before(async () => {
    systemd = await bootSystemd();
    await layProject(systemd, {
      path: PROJECT,
      config: CONFIG,
      token: TOKEN,
      user: { ...USER, shell: '/bin/sh' },
    });
    await startUserManager(systemd, USER);
  });
  after(async () => {
    await systemd?.end();
  });

  const service = (verb: string, ...args: string[]): Promise<Inside> =>
    systemd.svc(['service', verb, '--user', '--project', PROJECT, ...args], ANN);
  const show = (property: string): Promise<string> =>
    systemd.must(['systemctl', '--user', 'show', UNIT, `--property=${property}`, '--value'], ANN);

  const manager = (...args: string[]): Promise<string> => systemd.must(['systemctl', '--user', ...args], ANN);
  const kill = (signal: string): Promise<string> => manager('kill', `--signal=${signal}`, '--kill-whom=main', UNIT);
  const journal = (): Promise<string> => systemd.must(['journalctl', '_UID=4300', '-o', 'cat', '--no-pager']);
  const anotherWorker = (than: string): Promise<string> =>
    until(
      async () => {
        const pid = await show('MainPID');
        return !['0', than].includes(pid) && (await show('ActiveState')) === 'active' ? pid : undefined;
      },
      { what: `another worker than ${than}`, everyMs: 100 },
    );
  /** With a full budget, and without the starts of the story before. */
  const startedAnew = async (): Promise<string> => {
    await service('stop');
    await systemd.must(['sh', '-c', 'rm -f "$1"/.svc/data.sqlite*', 'sh', PROJECT]);
    const { code, stderr } = await service('start');
    assert.equal(code, 0, stderr);
    return show('MainPID');
  };

  it('is installed, with a word about lingering, and without a complaint of systemd', async () => {
    const { code, stderr } = await service('install');

    assert.equal(code, 0, stderr);
    assert.match(stderr, /does not linger/);
    assert.equal(await show('UnitFileState'), 'enabled');
    const verified = await systemd.run(['systemd-analyze', 'verify', '--user', UNIT, `${NAME}.socket`], ANN);
    // Generators of the machine speak, too: only what is said of these units counts.
    const said = `${verified.stdout}${verified.stderr}`.split('\n').filter((line) => line.includes(NAME));
    assert.deepEqual([verified.code, said], [0, []]);
  });

  it('says no word about lingering to a user who lingers', async () => {
    await systemd.write('/var/lib/systemd/linger/ann', '');

    const { code, stderr } = await service('install');

    assert.equal(code, 0);
    assert.doesNotMatch(stderr, /linger/);
  });

  it('has 5 starts in 120 s, 51 and 75 forced, 78 prevented, and .env required in effect', async () => {
    const names = ['StartLimitBurst', 'StartLimitIntervalUSec', 'RestartForceExitStatus', 'RestartPreventExitStatus'];

    assert.deepEqual(await Promise.all(names.map(show)), ['5', '2min', '51 75', '78']);
    await systemd.must(['mv', `${PROJECT}/.env`, `${PROJECT}/.env.away`]);
    const refused = await systemd.run(['systemctl', '--user', 'start', UNIT], ANN);
    await systemd.must(['mv', `${PROJECT}/.env.away`, `${PROJECT}/.env`]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /[Aa]ssert/);
  });

  it('is as little exposed as a manager without root can have it', async () => {
    const security = ['systemd-analyze', 'security', '--user', '--no-pager', `--threshold=${EXPOSURE}`, UNIT];

    const { code, stdout } = await systemd.run(security, ANN);

    assert.equal(code, 0, stdout);
  });

  it('starts, gets ready, comes back after SIGKILL and stops', async () => {
    const started = await service('start');
    assert.equal(started.code, 0, started.stderr);
    await until(async () => (await service('status')).code === 0, { what: 'ready' });
    const pid = await show('MainPID');

    await systemd.must(['systemctl', '--user', 'kill', '--signal=SIGKILL', '--kill-whom=main', UNIT], ANN);

    await until(async () => (await show('ActiveState')) === 'active' && !['0', pid].includes(await show('MainPID')), {
      what: 'another worker',
      everyMs: 100,
    });
    const stop = await systemd.svc(['runtime', 'stop', '--project', PROJECT], ANN);
    assert.equal(stop.code, 1);
    assert.match(stop.stderr, new RegExp(`systemctl --user stop ${NAME}.socket ${UNIT}`));
    assert.equal((await service('stop')).code, 0);
    assert.equal((await service('status')).code, 3);
  });

  it('writes to its two folders and to nothing else of the user', async () => {
    assert.equal((await service('start')).code, 0);
    const pid = await show('MainPID');

    const mounts = await systemd.must(['cat', `/proc/${pid}/mountinfo`]);

    assert.match(mounts, / \/ \/ ro[, ]|\s\/\s+ro[, ]/);
    assert.match(mounts, / \/dev rw,\S+ .*- tmpfs /, 'devices of its own');
    assert.equal(mounts.split('\n').filter((line) => / \/home\/\S+\/(\.svc|data) rw/.test(line)).length, 2, mounts);
    const status = await systemd.must(['cat', `/proc/${pid}/status`]);
    for (const line of [/^NoNewPrivs:\s+1$/m, /^Seccomp:\s+2$/m]) assert.match(status, line);
  });

  for (const [code, args] of [
    [51, ['restart']],
    [75, ['reload', '--or-restart']],
  ] as const)
    it(`comes back after ${code}`, async () => {
      const pid = await startedAnew();
      await systemd.write(`${PROJECT}/package-lock.json`, lockfile(String(code)));

      await systemd.svc(['runtime', ...args, '--project', PROJECT], ANN);

      await anotherWorker(pid);
      assert.match(await journal(), new RegExp(`"code":${code}`));
    });

  it('fails after five starts, closes its address, and starts again for an operator', async () => {
    let pid = await startedAnew();
    for (let start = 2; start <= 5; start += 1) {
      await kill('SIGKILL');
      pid = await anotherWorker(pid);
    }

    await kill('SIGKILL');

    await until(async () => (await show('ActiveState')) === 'failed', {
      what: 'failed',
      everyMs: 100,
    });
    const ask = 'fetch("http://127.0.0.1:8070/pub/health").catch((e) => process.stdout.write(e.cause?.code ?? ""))';
    await until(async () => (await systemd.run(['node', '-e', ask])).stdout === 'ECONNREFUSED', {
      what: 'a refusal',
      everyMs: 200,
    });
    assert.equal((await service('status')).code, 3);
    assert.equal((await service('start')).code, 0);
  });

  it('replaces a worker that is stopped in its tracks', async () => {
    await systemd.write(DROP_IN, '[Service]\nWatchdogSec=5\n');
    await manager('daemon-reload');
    const pid = await startedAnew();

    await kill('SIGSTOP');

    await anotherWorker(pid);
    await systemd.must(['rm', DROP_IN]);
    await manager('daemon-reload');
    assert.match(await journal(), /Watchdog timeout/);
  });

  it('closes its address with 78, and opens it with the next start', async () => {
    const socket = (): Promise<string> =>
      systemd.must(['systemctl', '--user', 'show', `${NAME}.socket`, '--property=ActiveState', '--value'], ANN);
    await service('stop');
    await systemd.write(`${PROJECT}/svc.config.yml`, 'http: {port: wrong}\n');

    assert.equal((await service('start')).code, 1);

    assert.equal(await show('ExecMainStatus'), '78');
    await until(async () => (await socket()) === 'inactive', {
      what: 'the end of its address',
      everyMs: 100,
    });
    await systemd.write(`${PROJECT}/svc.config.yml`, CONFIG);
    assert.equal((await service('start')).code, 0);
    assert.equal(await socket(), 'active');
  });

  it('is uninstalled while it runs, and its data stays', async () => {
    assert.equal((await service('uninstall', '--yes')).code, 0);

    assert.equal(await show('LoadState'), 'not-found');
    await systemd.must(['test', '-s', `${PROJECT}/.svc/data.sqlite`]);
    assert.equal((await service('status')).code, 3);
  });
});
