// The files of `svc deploy init compose` run for real: Debian's buildah and podman make the image from a Debian tree and start its container.
// Without a registry of images and without an engine of Docker. SVC_DEPLOY=long adds what takes another build.
/* oxlint-disable eslint/no-restricted-properties -- seconds are printed, and nothing depends on them */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { baseFiles, filledCache, makeBaseImages } from '../../../support/containers/base-images.ts';
import { ask, type BotProject, type HostStatus, makeBot } from '../../../support/containers/deployed-bot.ts';
import { type Engine, startEngine } from '../../../support/containers/engine.ts';
import { filesOfImage, textsInImage } from '../../../support/containers/image-files.ts';
import { containersMissing } from '../../../support/containers/probe.ts';
import { ToReady } from '../../../support/deploy/to-ready.ts';
import { until } from '../../../support/until.ts';
import { daemonCase } from './kit/daemon-case.ts';
import { podCases } from './kit/pod-cases.ts';
import { restoreCases } from './kit/restore-cases.ts';

const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const DOCKER_COMPOSE = 'docker-compose';
const DOCKER_COMPOSED = `sed /^name:/d compose.yml | ${DOCKER_COMPOSE} -f -`;
const hasDockerCompose = spawnSync(DOCKER_COMPOSE, ['--version']).status === 0;
// biome-ignore lint/style/noProcessEnv: a switch of the test run
const LONG = process.env['SVC_DEPLOY'] === 'long' ? false : 'for SVC_DEPLOY=long';

const folder = mkdtempSync(join(tmpdir(), 'svc-containers-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const refused = await containersMissing();
const base = refused === false ? await baseFiles(folder) : { missing: refused };

describe('a project in a container', { skip: 'missing' in base && base.missing }, () => {
  const canary = (name: string): string => `canary-${name}-${RUN}`;
  const RUN = randomBytes(8).toString('hex');
  const took: string[] = [];
  const toReady = new ToReady('compose', 'base images with a cache of packages');
  let engine: Engine;
  let bot: BotProject;
  let image: string;

  /** Notes how long a step takes that an operator would wait for. */
  async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const value = await work();
    took.push(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${what}`);
    return value;
  }

  const status = async () => (await ask(engine, bot, '/api/system/status', { until: 200 })).body as HostStatus;
  const ready = () => ask(engine, bot, '/pub/ready', { until: 200 });
  const inspected = async (format: string): Promise<string> =>
    engine.must(`podman inspect ${bot.name} --format '${format}'`);
  const inside = (command: string): Promise<string> => engine.must(`podman exec ${bot.name} ${command}`);
  const compose = (line: string): Promise<string> => engine.must(`docker compose ${line}`, { cwd: bot.path });
  /** Waits for a worker other than this one, and gives how the one before ended. */
  async function nextWorker(runtimeId: string): Promise<{ end: string; code: number | null }> {
    return until(
      async () => {
        const now = await status();
        return now.runtimeId !== runtimeId && now.ready && now.lastExits[0];
      },
      { what: 'the next worker' },
    );
  }

  before(async () => {
    engine = await startEngine(join(folder, 'engine'));
    assert.ok('node' in base);
    bot = await step('svc init, svc deploy init compose', () => toReady.waited(() => makeBot(folder)));
    image = `localhost/${bot.name}:local`;
    appendFileSync(join(bot.path, '.env'), `HTTP_HOST=127.0.0.1\nHTTP_PORT=9\nPLANTED=${canary('env')}\n`);
    appendFileSync(join(bot.path, '.npmrc'), `# ${canary('npmrc')}\n`);
    for (const [name, label] of Object.entries(PLANTED)) bot.write(name, `${canary(label)}\n`);
    const cache = await step('npm ci: a cache of packages', () =>
      filledCache(folder, { project: bot.path, node: base.node }),
    );
    await step('podman import: images of Debian and Node', () => makeBaseImages(engine, folder, { ...base, cache }));
    for (const line of bot.next.slice(0, 2))
      await step(line, () => toReady.typed([line], () => engine.must(line, { cwd: bot.path, env: { COMMIT } })));
    await step('until it is ready', () => toReady.typed([...bot.made, ...bot.next.slice(2)], ready));
  });
  after(async () => {
    for (const line of took) console.log(line);
    await engine?.end();
  });

  const PLANTED: Readonly<Record<string, string>> = {
    '.env.local': 'local',
    'plugins/.env': 'nested',
    'server.pem': 'pem',
    'plugins/private.key': 'key',
    '.svc/left': 'state',
    'data/left': 'data',
    '.git/config': 'git',
    'dist/left.js': 'dist',
    'c1.tar.gz': 'export',
    'c1.tar.gz.age': 'sealed',
  };

  it('runs as a user without rights, on a root that nobody can write', async () => {
    const facts = await inside('sh -c \'id -u; id -g; grep -hE "^(CapEff|NoNewPrivs|Seccomp):" /proc/self/status\'');
    assert.deepEqual(facts.split(/\s+/u), [
      '10001',
      '10001',
      'CapEff:',
      '0000000000000000',
      'NoNewPrivs:',
      '1',
      'Seccomp:',
      '2',
    ]);
    for (const place of ['/', '/app', '/app/node_modules/svc/dist', '/usr/local/bin']) {
      const { code, stderr } = await engine.run(`podman exec ${bot.name} touch ${place}/written`);
      assert.notEqual(code, 0, place);
      assert.match(stderr, /Read-only file system/, place);
    }
    await inside('touch /app/data/written /app/.svc/written /tmp/written');
    assert.match(await inside('sh -c \'grep -E " /tmp " /proc/mounts\''), /noexec.*size=65536k/);
    assert.equal(await inside("stat -c '%a %u' /app/.svc"), '700 10001');
    assert.equal((await status()).owner, 'container');
    assert.equal(
      await inspected('{{.HostConfig.Memory}} {{.HostConfig.RestartPolicy.Name}} {{.HostConfig.Init}}'),
      '1073741824 unless-stopped true',
    );
  });

  it('listens where the container does, whatever .env says, on the loopback of the machine alone', async () => {
    assert.match(readFileSync(join(bot.path, '.env'), 'utf8'), /^HTTP_HOST=127\.0\.0\.1\nHTTP_PORT=9$/m);
    assert.equal((await ready()).status, 200);
    assert.equal(
      await inspected('{{json .HostConfig.PortBindings}}'),
      '{"8068/tcp":[{"HostIp":"127.0.0.1","HostPort":"8068"}]}',
    );
  });

  it('answers its health check, which fails where no host is, and the commands that svc prints', async () => {
    const check = JSON.parse(await inspected('{{json .Config.Healthcheck.Test}}')) as string[];
    assert.equal(check[0], 'CMD');
    const quoted = check
      .slice(1)
      .map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`)
      .join(' ');
    await inside(quoted);
    const unheard = await engine.run(`podman run --rm ${image} ${quoted}`); // the same program, where no host is
    assert.equal(unheard.code, 1, unheard.stderr);
    const [, , last = ''] = bot.next;
    assert.match(
      await engine.must(last.replace('exec', 'exec -T'), { cwd: bot.path }),
      /ready, running since[^]*owner +container/,
    );
  });

  it('tells an acceptance the commit that it was built from', async () => {
    const { stdout } = await engine.run(`podman exec ${bot.name} svc accept --json`);
    assert.match(stdout, new RegExp(`"commit": ?"${COMMIT}"`));
  });

  it('has no secret and no state in a layer of its image', async () => {
    const names = [...Object.values(PLANTED), 'env', 'npmrc'].map(canary);
    const known = '(looks += 1) < 40'; // of a plugin
    assert.deepEqual(await textsInImage(engine, image, [...names, bot.token, known]), [known]);
  });

  it('is refused without a token: by Compose, and by the host with 78', async () => {
    const away = join(folder, 'without-token');
    mkdirSync(away);
    cpSync(join(bot.path, 'compose.yml'), join(away, 'compose.yml'));
    const refuses = async (command: string, env: string): Promise<void> => {
      writeFileSync(join(away, '.env'), env);
      const { code, stdout, stderr } = await engine.run(command, { cwd: away });
      assert.notEqual(code, 0, `${command}: ${stdout}`);
      assert.match(stderr + stdout, /put it into \.env, svc token create makes one/, command);
    };
    await refuses('docker compose up -d', 'OTHER=1\n');
    if (hasDockerCompose)
      for (const env of ['OTHER=1\n', 'HTTP_TOKEN=\n']) await refuses(`${DOCKER_COMPOSED} config -q`, env);
    const { code, stderr } = await engine.run(`podman run --rm ${image}`);
    assert.equal(code, 78, stderr);
    assert.match(stderr, /needs the variable HTTP_TOKEN/);
  });

  it('comes back after a kill, a restart and a blocked loop, with its state; made anew, with a changed token', async () => {
    const said = await ask(engine, bot, '/api/chat/say', {
      method: 'POST',
      body: { person: 'ann', text: '/hello', delivery: RUN },
    });
    assert.equal(said.status, 202);
    const answered = () =>
      until(
        async () =>
          JSON.stringify((await ask(engine, bot, '/api/chat/messages?person=ann')).body).includes('Hello, ann!'),
        { what: 'the answer' },
      );
    await answered();

    let { runtimeId } = await status();
    // The container ends over it, and podman may lose its answer.
    await engine.run(`podman exec ${bot.name} sh -c 'kill -9 $(cat /proc/1/task/1/children)'`);
    assert.equal((await nextWorker(runtimeId)).end, 'crashed');

    ({ runtimeId } = await status());
    assert.equal((await ask(engine, bot, '/api/system/restart', { method: 'POST' })).status, 202);
    assert.deepEqual(await nextWorker(runtimeId).then(({ end, code }) => [end, code]), ['restart_requested', 51]);

    ({ runtimeId } = await status());
    await inside('touch data/block');
    assert.equal((await nextWorker(runtimeId)).end, 'crashed');
    assert.match(
      await engine.must(`podman logs ${bot.name} 2>&1`),
      /the event loop has stood still for \d+ s, so this process ends/,
    );

    const former = bot;
    bot = { ...former, token: RUN + RUN };
    bot.write('.env', readFileSync(join(bot.path, '.env'), 'utf8').replace(former.token, bot.token));
    await compose('down');
    await compose('up -d');
    await ready();
    await answered();
    assert.equal((await ask(engine, former, '/api/system/status')).status, 401);
  });

  restoreCases(() => ({ engine, bot, ready }), LONG);

  podCases(() => ({ engine, bot, folder }));

  daemonCase(() => ({ engine, folder }));

  it('has a Compose file that docker-compose reads, but for its name, which is newer', {
    skip: hasDockerCompose ? false : `${DOCKER_COMPOSE} is not installed`,
  }, async () => {
    await engine.must(`${DOCKER_COMPOSED} config -q`, { cwd: bot.path });
  });

  it('comes back after the end with 75 that a change of packages asks for', async () => {
    const lockfile = join(folder, 'mounted.json');
    cpSync(join(bot.path, 'package-lock.json'), lockfile);
    const options = `--init --restart unless-stopped -e HTTP_TOKEN=${bot.token} -v ${lockfile}:/app/package-lock.json:ro`;
    await engine.must(`podman run -d --name mounted ${options} ${image}`);
    const isReady = () =>
      until(async () => (await engine.run('podman exec mounted svc runtime status')).code === 0, { what: 'mounted' });
    await isReady();
    appendFileSync(lockfile, '\n');
    await engine.run('podman exec mounted svc runtime reload --or-restart');
    await isReady();
    const { exits } = JSON.parse(await engine.must('podman exec mounted svc runtime status --json')) as {
      exits: readonly { code: number }[];
    };
    assert.deepEqual(
      exits.map(({ code }) => code),
      [75],
    );
    await engine.must('podman rm -f mounted');
  });

  it('drains and ends with 0 when it is stopped', async () => {
    await engine.must(`podman stop --time 60 ${bot.name}`);
    assert.equal(await inspected('{{.State.ExitCode}} {{.State.Status}}'), '0 exited');
    assert.match(await engine.must(`podman logs ${bot.name} 2>&1`), /"msg":"worker stopped"/);
  });

  it('says what was typed, and how long it took from base images with a cache of packages to ready', (t) =>
    toReady.tell(t));

  it('has a start of its own, which hears SIGTERM through npm', { skip: LONG }, async () => {
    const manifest = readFileSync(join(bot.path, 'package.json'), 'utf8');
    bot.write('package.json', manifest.replace(/("start": "exec node) /u, '$1 --stack-trace-limit=20 '));
    await bot.deploy();
    await engine.must(`podman build --quiet -t localhost/own:local .`, { cwd: bot.path });
    await engine.must(`podman run -d --name own --init -e HTTP_TOKEN=${bot.token} localhost/own:local`);
    await until(async () => (await engine.must('podman logs own 2>&1')).includes('"worker up"'), { what: 'the host' });
    await engine.must('podman stop --time 60 own');
    assert.equal(await engine.must("podman inspect own --format '{{.State.ExitCode}}'"), '0');
    assert.match(
      await engine.must('podman logs own 2>&1'),
      /stack-trace-limit[^]*"owner":"container"[^]*"msg":"worker stopped"/,
    );
    bot.write('package.json', manifest);
    await bot.deploy();
  });

  it('is not built where the project does not assemble', { skip: LONG }, async () => {
    const config = join(bot.path, 'svc.config.yml');
    const good = readFileSync(config, 'utf8');
    bot.write('svc.config.yml', good.replace('use: ./plugins/hello', 'use: ./plugins/gone'));
    const { code, stdout, stderr } = await engine.run('podman build .', { cwd: bot.path }); // podman-compose ends with 0 here
    bot.write('svc.config.yml', good);
    assert.notEqual(code, 0);
    assert.match(stdout + stderr, /plugins\/gone/);
  });

  it('has the same files when it is built a second time', { skip: LONG }, async () => {
    const first = await filesOfImage(engine, image);
    await engine.must('docker compose build --no-cache', { cwd: bot.path });
    assert.deepEqual(await filesOfImage(engine, image), first);
    assert.ok(first.length > 1_000);
  });
});
