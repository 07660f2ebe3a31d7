// The pair of `svc deploy init systemd` under a systemd that was booted for it: two users, the second with a drop-in, set up by the printed commands.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { INIT_START } from '../../../../supervisor/cli/deploy/project.ts';
import { deployFolder, runDeploy } from '../../../support/commands/deploy-run.ts';
import { guideLines } from '../../../support/deploy/guide-blocks.ts';
import { ToReady } from '../../../support/deploy/to-ready.ts';
import { type BootedSystemd, bootSystemd, type Inside, nspawnMissing } from '../../../support/owners/booted-systemd.ts';
import { layProject, lockfile } from '../../../support/owners/owned-project.ts';
import { until } from '../../../support/until.ts';

const TOKEN = 'Vq3mT9xKz7Lp2RwYc8Nb5Hd1Js6Gf4Ae';
const CONFIG = `http:
  host: \${HTTP_HOST:-127.0.0.1}
  port: \${HTTP_PORT:-8068}
  token: \${HTTP_TOKEN}
plugins:
  echo: {}
`;
const INSTANCES = [
  { user: 'alice', id: 0, port: 8068, options: {} },
  { user: 'bob', id: 4243, port: 8069, options: { instance: 'bob', port: '8069' } },
] as const;
const WRITTEN = '/root/bot';
const NODE = '/opt/node/bin/node';
/** The guide makes this one. */
const FIRST = 'alice';
/** Instead of sudo: all that runs inside is root's. */
const AS_ROOT = 'sudo() { "$@"; }';
/** Node is at another place than a package of Debian has it. */
const AS_OPERATOR = `PATH=$PATH:/usr/sbin; ${AS_ROOT}; svc() { if [ "$1" = deploy ]; then set -- "$@" --node ${NODE}; fi; node /opt/svc/dist/cli.js "$@"; }`;

describe('the templated pair under systemd', { skip: nspawnMissing() }, () => {
  let systemd: BootedSystemd;

  before(async () => {
    systemd = await bootSystemd();
    for (const { user, id, port } of INSTANCES.filter((one) => one.user !== FIRST)) {
      const path = projectOf(user);
      await layProject(systemd, {
        path,
        config: CONFIG,
        token: TOKEN,
        user: { name: user, id, home: path, shell: '/usr/sbin/nologin' },
      });
      await systemd.must(['sh', '-c', `echo HTTP_PORT=${port} >>${path}/.env`]);
      await systemd.must(['sh', '-c', `mkdir ${path}/node_modules && ln -s /opt/svc ${path}/node_modules/svc`]);
    }
  });
  after(async () => {
    await systemd?.end();
  });

  const projectOf = (user: string): string => `/srv/svc/${user}`;
  const unitOf = (user: string): string => `svc@${user}.service`;
  const show = (user: string, property: string): Promise<string> =>
    systemd.must(['systemctl', 'show', unitOf(user), `--property=${property}`, '--value']);
  const pidOf = async (user: string): Promise<number> => Number(await show(user, 'MainPID'));
  const health = async (port: number): Promise<string> =>
    (await systemd.run(['node', '-e', HEALTH, `http://127.0.0.1:${port}/pub/health`])).stdout;
  const start = (user: string): Promise<Inside> => systemd.run(['systemctl', 'start', unitOf(user)]);
  const reset = async (user: string): Promise<void> => {
    const units = [`svc@${user}.socket`, unitOf(user)];
    await systemd.run(['systemctl', 'stop', ...units]);
    await systemd.run(['systemctl', 'reset-failed', ...units]);
  };

  it('is set up by the commands of the guide', async (t) => {
    const toReady = new ToReady('systemd', 'a built project');
    for (const [name, text] of Object.entries({
      'svc.config.yml': CONFIG,
      '.env': `HTTP_TOKEN=${TOKEN}\n`,
      'package.json': JSON.stringify({ name: 'bot', version: '1.0.0', scripts: { build: 'true', start: INIT_START } }),
      'package-lock.json': lockfile('1'),
    }))
      await systemd.write(`${WRITTEN}/${name}`, text);
    await systemd.must([
      'sh',
      '-ec',
      `cd ${WRITTEN}; chmod 600 .env; mkdir node_modules; ln -s /opt/svc node_modules/svc`,
    ]);

    const [last = '', ...lines] = guideLines('run.md', 'units').toReversed();
    for (const line of lines.toReversed())
      await toReady.typed([line], () => systemd.must(['sh', '-ec', `${AS_OPERATOR}; cd ${WRITTEN}; ${line}`]));
    const isReady = async () => (await systemd.run(['sh', '-ec', `${AS_OPERATOR}; ${last}`])).code === 0;
    await toReady.typed([last], () => until(isReady, { what: last }));
    toReady.tell(t);
  });

  it('is set up by the printed commands: each user has a host at an address of its own', async (t) => {
    const folder = deployFolder(t, { config: CONFIG });
    for (const { user, id, port, options } of INSTANCES) {
      const { actions, next } = await runDeploy(folder, 'systemd', { node: NODE, ...options });
      for (const path of Object.keys(actions))
        await systemd.write(`${WRITTEN}/${path}`, readFileSync(join(folder, path), 'utf8'));

      await systemd.must(['sh', '-ec', `${AS_ROOT}; cd ${WRITTEN}; ${next.join('; ')}`]);

      const status = await systemd.must(['cat', `/proc/${await pidOf(user)}/status`]);
      const uid = user === FIRST ? Number(await systemd.must(['id', '-u', user])) : id;
      assert.match(status, new RegExp(`^Uid:\\s+${uid}\\s`, 'm'));
      assert.equal(await health(port), '200', user);
    }
    assert.notEqual(await pidOf('alice'), await pidOf('bob'));
    const ready = async ({ user }: (typeof INSTANCES)[number]): Promise<boolean> =>
      (await systemd.svc(['runtime', 'status', '--project', projectOf(user)])).code === 0;
    for (const instance of INSTANCES) await until(() => ready(instance), { what: `${instance.user} ready` });
  });

  it('has units without a word of complaint, and an exposure of 1.5 at most', async () => {
    for (const { user } of INSTANCES) {
      const verified = await systemd.run(['systemd-analyze', 'verify', unitOf(user), `svc@${user}.socket`]);
      assert.deepEqual([verified.code, verified.stdout, verified.stderr], [0, '', '']);
      const security = await systemd.run(['systemd-analyze', 'security', '--no-pager', '--threshold=15', unitOf(user)]);
      assert.equal(security.code, 0, security.stdout);
    }
  });

  it('does not start without .env, and leaves the other instance alone', async () => {
    const other = await pidOf('alice');
    await reset('bob');
    await systemd.must(['mv', '/srv/svc/bob/.env', '/srv/svc/bob/.env.away']);

    const { code, stderr } = await start('bob');

    await systemd.must(['mv', '/srv/svc/bob/.env.away', '/srv/svc/bob/.env']);
    assert.equal(code, 1);
    assert.match(stderr, /[Aa]ssert/);
    assert.deepEqual([await pidOf('bob'), await pidOf('alice')], [0, other]);
  });

  it('stays down with 78 where .env can be read by others', async () => {
    await reset('bob');
    await systemd.must(['chmod', '644', '/srv/svc/bob/.env']);

    await start('bob');

    await until(async () => (await show('bob', 'ActiveState')) === 'failed', { what: 'failed', everyMs: 100 });
    await systemd.must(['chmod', '600', '/srv/svc/bob/.env']);
    assert.equal(await show('bob', 'ExecMainStatus'), '78');
    await until(async () => (await health(8069)) === 'ECONNREFUSED', { what: 'the end of its address', everyMs: 200 });
  });

  it('fails after five starts', async () => {
    await reset('bob');
    assert.equal((await start('bob')).code, 0);
    for (let kill = 1; kill <= 5; kill += 1) {
      const pid = await pidOf('bob');
      await systemd.must(['systemctl', 'kill', '--signal=SIGKILL', '--kill-whom=main', unitOf('bob')]);
      await until(
        async () => {
          const state = await show('bob', 'ActiveState');
          const next = await pidOf('bob');
          return kill === 5 ? state === 'failed' : state === 'active' && next > 0 && next !== pid;
        },
        { what: `what follows kill ${kill}`, everyMs: 100 },
      );
    }
    assert.equal(await show('bob', 'Result'), 'signal');
    assert.equal(await health(8068), '200', 'the other instance');
  });
});

/** The status of an answer, or the code of the error. */
const HEALTH =
  'fetch(process.argv[1]).then((a) => process.stdout.write(String(a.status)), (e) => process.stdout.write(e.cause?.code ?? e.message))';
