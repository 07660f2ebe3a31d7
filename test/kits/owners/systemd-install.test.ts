// What a real install of the system service comes to: what systemd has of it in effect, what a second one shows, and that its address refuses nobody.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { underLoad } from '../../support/http/connection-load.ts';
import { type BootedSystemd, bootSystemd, type Inside, nspawnMissing } from '../../support/owners/booted-systemd.ts';
import { layProject, lockfile } from '../../support/owners/owned-project.ts';
import { until } from '../../support/until.ts';

const skip = nspawnMissing();
const PROJECT = '/srv/svc/alice';
const UNIT = 'svc@alice.service';
const SOCKET = 'svc@alice.socket';
const HEALTH = 'http://127.0.0.1:8068/pub/health';
// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
const CONFIG = 'http:\n  port: 8068\n  token: ${HTTP_TOKEN}\nplugins:\n  echo: {}\n';
/** Of a package manager that lies nowhere else. */
const MANAGER = '/opt/manager/bin';
const PATH = `/opt/node/bin:${MANAGER}:/usr/bin:/bin`;
const TOKEN = 'Vq3mT9xKz7Lp2RwYc8Nb5Hd1Js6Gf4Ae';

describe('a system service as it is installed', { skip }, () => {
  let systemd: BootedSystemd;

  before(async () => {
    systemd = await bootSystemd();
    await layProject(systemd, {
      path: PROJECT,
      config: CONFIG,
      token: TOKEN,
      user: { name: 'alice', id: 4242, home: PROJECT, shell: '/usr/sbin/nologin' },
    });
    await systemd.write(`${MANAGER}/npm`, '#!/bin/sh\necho the manager of alice\n');
    await systemd.must(['chmod', '755', `${MANAGER}/npm`]);
    const { code, stderr } = await service('install');
    assert.equal(code, 0, stderr);
  });
  after(async () => {
    await systemd?.end();
  });
  beforeEach(async () => {
    // Each story begins with a full budget, and without the starts of the one before.
    await systemd.run(['systemctl', 'stop', SOCKET, UNIT]);
    await systemd.run(['systemctl', 'reset-failed', SOCKET, UNIT]);
    await systemd.must(['sh', '-c', `rm -f ${PROJECT}/.svc/data.sqlite*`]);
  });

  const service = (verb: string, ...args: string[]): Promise<Inside> =>
    systemd.svc(['service', verb, '--project', PROJECT, ...args], { env: { PATH } });
  const show = async (property: string, unit = UNIT): Promise<string> =>
    systemd.must(['systemctl', 'show', unit, `--property=${property}`, '--value']);
  const started = async (): Promise<number> => {
    const ran = await service('start');
    assert.equal(ran.code, 0, ran.stderr);
    return Number(await show('MainPID'));
  };
  const anotherWorker = (than: number): Promise<unknown> =>
    until(
      async () => !['0', String(than)].includes(await show('MainPID')) && (await show('ActiveState')) === 'active',
      { what: `another worker than ${than}`, everyMs: 50 },
    );

  it('has 5 starts in 120 s, 51 and 75 forced, 78 prevented, and .env required in effect', async () => {
    const properties = [
      'StartLimitBurst',
      'StartLimitIntervalUSec',
      'RestartForceExitStatus',
      'RestartPreventExitStatus',
    ];

    assert.deepEqual(await Promise.all(properties.map((name) => show(name))), ['5', '2min', '51 75', '78']);
    assert.match(await systemd.must(['systemctl', 'cat', UNIT]), /^AssertFileNotEmpty=\/srv\/svc\/%i\/\.env$/m);
  });

  it('finds node and the package manager on its PATH', async () => {
    const pid = await started();

    const environment = await systemd.must(['cat', `/proc/${pid}/environ`]);
    const path = /(?:^|\0)PATH=([^\0]*)/.exec(environment)?.[1] ?? '';
    assert.deepEqual(path.split(':').slice(0, 2), ['/opt/node/bin', MANAGER]);
    const inside = ['nsenter', '--target', String(pid), '--mount', 'env', `PATH=${path}`, 'npm'];
    assert.equal(await systemd.must(inside), 'the manager of alice');
  });

  it('shows what differs after a change, then takes it in, and has nothing left to show', async () => {
    await systemd.write(`${PROJECT}/svc.config.yml`, CONFIG.replace('8068', '8069'));

    const dry = await service('install', '--dry-run');
    assert.match(dry.stderr, /^-ListenStream=127\.0\.0\.1:8068\n\+ListenStream=127\.0\.0\.1:8069$/m);
    assert.match(await show('Listen', SOCKET), /8068/);
    const second = await service('install');
    assert.match(second.stderr, /^\+ListenStream=127\.0\.0\.1:8069$/m);
    assert.match(await show('Listen', SOCKET), /8069/);
    const third = await service('install', '--json');
    assert.deepEqual(JSON.parse(third.stdout).changed, []);

    await systemd.write(`${PROJECT}/svc.config.yml`, CONFIG);
    assert.equal((await service('install')).code, 0);
  });

  it('refuses no connection of 200 a second over SIGKILL; what the dead worker had accepted alone is cut', async () => {
    const pid = await started();

    const told = await underLoad(systemd, HEALTH, async () => {
      await systemd.must(['systemctl', 'kill', '--signal=SIGKILL', '--kill-whom=main', UNIT]);
      await anotherWorker(pid);
    });

    const { 200: answered = 0, ECONNRESET: reset = 0, cut = 0, ...others } = told;
    assert.deepEqual(others, {});
    assert.ok(answered > reset + cut, JSON.stringify(told));
  });

  for (const [code, args] of [
    [51, ['restart']],
    [75, ['reload', '--or-restart']],
  ] as const)
    it(`refuses and cuts no connection of 200 a second over ${code}`, async () => {
      const pid = await started();
      await systemd.write(`${PROJECT}/package-lock.json`, lockfile(String(code)));

      const told = await underLoad(systemd, HEALTH, async () => {
        await systemd.svc(['runtime', ...args, '--project', PROJECT]);
        await anotherWorker(pid);
      });

      assert.deepEqual(Object.keys(told), ['200'], JSON.stringify(told));
      assert.match(
        await systemd.must(['journalctl', '--unit', UNIT, '-o', 'cat', '--no-pager']),
        new RegExp(`"code":${code}`),
      );
    });

  it('shows its log by `runtime logs`, too: what the worker itself still has of it', async () => {
    await started();

    const logs = await systemd.svc(['runtime', 'logs', '-n', '200', '--project', PROJECT]);

    assert.equal(logs.code, 0, logs.stderr);
    assert.match(logs.stdout, /worker up/);
  });
});
