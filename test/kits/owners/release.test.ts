// A release of a host under systemd: by its user, forth and back, by the unit of one user and by that of the system; refused before the pause to whoever
// could not complete it. The unit of the system is a template, as other tools lay it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type BootedSystemd, bootSystemd, type Inside, nspawnMissing } from '../../support/owners/booted-systemd.ts';
import { layProject, lockfile } from '../../support/owners/owned-project.ts';
import { asUser, type ManagedUser, startUserManager } from '../../support/owners/user-manager.ts';

const ALICE: ManagedUser = { name: 'alice', id: 4242, home: '/srv/svc/alice' };
const ANN: ManagedUser = { name: 'ann', id: 4300, home: '/home/ann' };
const [SYSTEM, USER] = ['/srv/svc/alice', '/home/ann/bot'];
const NEXT = '/srv/next';
/** Of a package manager that has nothing to install. */
const MANAGER = '/opt/manager/bin';
const PATH = `/opt/node/bin:${MANAGER}:/usr/bin:/bin`;
const UNITS = ['svc@alice.socket', 'svc@alice.service'];

const nspawn = nspawnMissing();
const missing = ['/usr/bin/dbus-daemon', '/usr/lib/polkit-1/polkitd'].find((file) => !existsSync(file));
/** A rule of polkit is asked over the bus. */
const polkit = nspawn === false && missing !== undefined ? `${missing} is not installed` : nspawn;
const GUIDE = fileURLToPath(new URL('../../../deploy/guide/release.md', import.meta.url));
const rule = /```js\n([^]*?)```/.exec(readFileSync(GUIDE, 'utf8'))?.[1] ?? '';

const config = (port: number): string => `http:\n  port: ${port}\n  token: \${HTTP_TOKEN}\nplugins:\n  echo: {}\n`;

describe('a release under systemd', { skip: nspawn }, () => {
  let systemd: BootedSystemd;

  before(async () => {
    systemd = await bootSystemd();
    const token = 'Vq3mT9xKz7Lp2RwYc8Nb5Hd1Js6Gf4Ae';
    for (const [path, user, port] of [
      [SYSTEM, ALICE, 8068],
      [USER, ANN, 8070],
    ] as const) {
      await systemd.write(`${path}/version`, 'A');
      await layProject(systemd, { path, config: config(port), token, user: { ...user, shell: '/bin/sh' } });
    }
    await systemd.write(`${MANAGER}/npm`, '#!/bin/sh\n');
    await systemd.must(['chmod', '755', `${MANAGER}/npm`]);
    await systemd.write(`${NEXT}/version`, 'B');
    await systemd.write(`${NEXT}/package.json`, '{"name":"bot","version":"2.0.0","type":"module"}\n');
    await systemd.write(`${NEXT}/package-lock.json`, lockfile('2'));
  });
  after(async () => {
    await systemd?.end();
  });

  type As = ManagedUser | 'root';
  const svc = (as: As, project: string, ...words: string[]): Promise<Inside> => {
    const { user, env } = as === 'root' ? { user: undefined, env: {} } : asUser(as);
    const options = { env: { ...env, PATH } };
    return systemd.svc([...words, '--project', project], user === undefined ? options : { ...options, user });
  };
  const done = async (as: As, project: string, ...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await svc(as, project, ...words);
    assert.equal(code, 0, `svc ${words.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
  const begin = ['release', 'begin', '--from', NEXT];
  const ofRoot = (project: string): Promise<string> =>
    systemd.must(['find', `${project}/.svc`, `${project}/data`, '-user', 'root']);
  const stateOf = async (project: string): Promise<unknown> =>
    JSON.parse(await done('root', project, 'ingress', 'status', '--json')).state;

  async function forthAndBack(user: ManagedUser, project: string, pid: () => Promise<string>): Promise<void> {
    const version = (): Promise<string> => systemd.must(['cat', `${project}/version`]);
    const first = await pid();
    await done(user, project, ...begin);
    await done(user, project, 'release', 'check');
    await done(user, project, 'release', 'start');
    const second = await pid();
    assert.equal(await version(), 'B');
    await done(user, project, 'release', 'accept', '--reason', 'as planned');
    await done(user, project, 'release', 'rollback', '--yes');

    assert.equal(await version(), 'A');
    assert.equal(new Set([first, second, await pid(), '0']).size, 4, 'three workers, one after the other');
    assert.equal(await stateOf(project), 'open');
    assert.match(await done(user, project, 'release', 'status'), /^r1 rolled_back/);
    assert.equal(await ofRoot(project), '');
  }

  describe('by the unit of the system', () => {
    before(async () => {
      const { files } = JSON.parse(await done('root', SYSTEM, 'service', 'install', '--print', '--json')) as {
        readonly files: readonly { readonly path: string; readonly text: string }[];
      };
      for (const { path, text } of files) await systemd.write(path.replace('@alice', '@'), text);
      for (const folder of ['.svc', 'data'])
        await systemd.must(['install', '-d', '-m', '700', '-o', 'alice', '-g', 'alice', `${SYSTEM}/${folder}`]);
      await systemd.must(['systemctl', 'daemon-reload']);
      await systemd.must(['systemctl', 'enable', ...UNITS]);
      await done('root', SYSTEM, 'service', 'start');
    });

    it('is refused to root, who is told the user, and whose other commands leave nothing of root', async () => {
      const refused = await svc('root', SYSTEM, ...begin);
      await done('root', SYSTEM, 'checkpoint', 'create');
      await done('root', SYSTEM, 'ingress', 'pause');
      await done('root', SYSTEM, 'ingress', 'resume');

      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /\/srv\/svc\/alice\/\.svc belongs to alice, and this is root:.*\n.*sudo -u alice svc/,
      );
      assert.equal(await ofRoot(SYSTEM), '');
    });

    it('is refused to its user before the pause, where no rule allows to stop it', { skip: polkit }, async () => {
      const { code, stderr } = await svc(ALICE, SYSTEM, ...begin);

      assert.equal(code, 1);
      assert.match(stderr, /svc@alice\.service is of the system, and systemd does not let alice stop and start it: /);
      assert.equal(await stateOf(SYSTEM), 'open');
      assert.match(await done(ALICE, SYSTEM, 'release', 'history'), /no release yet/);
    });

    it('goes forth and back by its user, whom the rule of the guide allows it', { skip: polkit }, async () => {
      await systemd.write('/etc/polkit-1/rules.d/50-svc.rules', rule);
      await systemd.must(['systemctl', 'restart', 'polkit.service']);

      await forthAndBack(ALICE, SYSTEM, () =>
        systemd.must(['systemctl', 'show', 'svc@alice.service', '--property=MainPID', '--value']),
      );
      const others = await systemd.run(['systemctl', 'stop', 'user@4300.service'], asUser(ALICE));
      assert.notEqual(others.code, 0, 'no rule for units of others');
    });
  });

  describe('by the unit of one user', () => {
    before(async () => {
      await startUserManager(systemd, ANN);
      for (const verb of ['install', 'start']) await done(ANN, USER, 'service', verb, '--user');
    });

    it('goes forth and back by its user', async () => {
      const unit = JSON.parse((await svc(ANN, USER, 'service', 'status', '--user', '--json')).stdout).service as string;

      await forthAndBack(ANN, USER, () =>
        systemd.must(['systemctl', '--user', 'show', unit, '--property=MainPID', '--value'], asUser(ANN)),
      );
    });
  });
});
