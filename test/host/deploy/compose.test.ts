// `svc deploy init compose`: what the three files say of a project, and which projects are refused.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { INIT_START } from '../../../supervisor/cli/deploy/project.ts';
import { deployFolder, runDeploy } from '../../support/commands/deploy-run.ts';
import { brokenRules } from '../../support/containers/dockerfile-rules.ts';

const readIn = (folder: string) => (name: string) => readFileSync(join(folder, name), 'utf8');
/** Of the Compose project, its image, its container and its volumes. */
function namesIn(folder: string): readonly string[] {
  const { name, services, volumes } = parse(readIn(folder)('compose.yml'));
  const { image, container_name: container } = services.svc;
  return [name, image.split(':')[0], container, volumes.state.name, volumes.data.name];
}
/** With more lines below `plugins:`. */
const configuration = (
  more = '',
  http = 'host: ${HTTP_HOST:-127.0.0.1}\n  port: ${HTTP_PORT:-8070}\n  token: ${BOT_TOKEN}',
) => `http:\n  ${http}\nplugins:\n  ping: {}\n${more}`;

describe('svc deploy init compose', () => {
  it('writes an image and a container of the project, and a second run changes nothing', async (t) => {
    const folder = deployFolder(t, { locked: { resolved: 'file:vendor/svc-1.0.0.tgz' } });
    const { actions, next } = await runDeploy(folder, 'compose');
    const again = await runDeploy(folder, 'compose');

    assert.deepEqual(actions, {
      Dockerfile: 'made',
      '.dockerignore': 'made',
      'compose.yml': 'made',
      '.env.example': 'made',
    });
    assert.deepEqual([...new Set(Object.values(again.actions))], ['unchanged']);
    assert.deepEqual(next, [
      'cp .env.example .env && chmod 600 .env',
      'docker compose build',
      'docker compose up -d',
      'docker compose exec svc svc runtime status',
    ]);
    const read = readIn(folder);
    for (const name of Object.keys(actions)) assert.doesNotMatch(read(name), /@[A-Z_]+@|:latest/, name);
    assert.deepEqual(brokenRules(read('Dockerfile')), []);
    assert.match(read('Dockerfile'), /^COPY vendor\/svc-1\.0\.0\.tgz vendor\/svc-1\.0\.0\.tgz$/m);
    const { svc } = parse(read('compose.yml')).services;
    assert.match(svc.image, /^acme-my-bot-[\da-f]{6}:\$\{IMAGE_TAG:-local\}$/);
    assert.deepEqual(svc.ports, ['127.0.0.1:8068:8068']);
    assert.deepEqual([svc.read_only, svc.cap_drop, svc.init, svc.restart], [true, ['ALL'], true, 'unless-stopped']);
    assert.deepEqual([svc.security_opt, svc.pids_limit, svc.mem_limit], [['no-new-privileges:true'], 256, '1g']);
    assert.deepEqual(svc.logging, { driver: 'json-file', options: { 'max-size': '20m', 'max-file': '5' } });
    assert.equal(svc.env_file, '.env');
    assert.equal(svc.environment.HTTP_HOST, '0.0.0.0');
    assert.match(svc.environment.HTTP_TOKEN, /^\$\{HTTP_TOKEN:\?/);
    assert.equal(svc.stop_grace_period, '20s');
  });

  it('gives two projects of one package name an image, a container and volumes each', async (t) => {
    const folders = [deployFolder(t), deployFolder(t)];
    const names = await Promise.all(
      folders.map(async (folder) => (await runDeploy(folder, 'compose'), namesIn(folder))),
    );

    const [one = [], two = []] = names;
    assert.deepEqual(
      one.filter((name) => two.includes(name)),
      [],
    );
    assert.equal(new Set(one).size, 3, 'project, image and container are called alike');
  });

  it('keeps the names that a file has, wherever the folder goes, until --name sets others', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'compose');
    const names = namesIn(folder);
    const moved = join(folder, '../elsewhere');
    renameSync(folder, moved);

    const again = await runDeploy(moved, 'compose', { force: true });
    assert.equal(again.actions['compose.yml'], 'unchanged');
    assert.deepEqual(namesIn(moved), names);

    await runDeploy(moved, 'compose', { force: true, name: 'shop' });
    assert.deepEqual(namesIn(moved), ['shop', 'shop', 'shop', 'shop-state', 'shop-data']);
    assert.equal((await runDeploy(moved, 'compose')).actions['compose.yml'], 'unchanged');
  });

  it('finds the name in a file of before, or that somebody has edited, by the volume that holds the state', async (t) => {
    const folder = deployFolder(t);
    const file = join(folder, 'compose.yml');
    await runDeploy(folder, 'compose', { name: 'shop' });
    const text = readIn(folder)('compose.yml');
    const unnamed = text.replace(/^name: .*\n/m, '').replace(/^ +container_name: .*\n/m, '');
    const cases = {
      'without a name of the Compose project': unnamed,
      'without quotes': text.replaceAll('"shop', 'shop').replaceAll(/(shop\S*)"/g, '$1'),
      'with another name of the Compose project': text.replace('name: "shop"', 'name: other'),
      'with its volumes elsewhere': text.replace(/^volumes:[^]*/m, ''),
      'with an image alone': unnamed.replace(/^volumes:[^]*/m, ''),
      'with what Compose alone reads': text.replace('cap_drop: [ALL]', 'cap_drop: !override [ALL]'),
    };

    for (const [what, old] of Object.entries(cases)) {
      writeFileSync(file, old);
      const { notes } = await runDeploy(folder, 'compose', { force: true });
      assert.deepEqual(namesIn(folder), ['shop', 'shop', 'shop', 'shop-state', 'shop-data'], what);
      const former = parse(old, { logLevel: 'error' }).name ?? 'bot'; // Compose takes the name of the folder
      const said = notes.filter((note) => note.includes('docker compose -p'));
      assert.deepEqual(
        said.map((note) => note.split(': ').at(-1)),
        former === 'shop' ? [] : [`docker compose -p ${former} down`],
        what,
      );
    }
  });

  it('refuses a file of its own in which no name is found, until --name gives one', async (t) => {
    const folder = deployFolder(t);
    await runDeploy(folder, 'compose');
    const [head] = readIn(folder)('compose.yml').split('\n');

    for (const rest of ['', 'services: [', 'services:\n  svc:\n    image: ${IMAGE}\n']) {
      writeFileSync(join(folder, 'compose.yml'), `${head}\n${rest}`);
      await assert.rejects(runDeploy(folder, 'compose', { force: true }), {
        code: 'refused',
        message: /compose\.yml holds no name/,
        hint: /--name/,
      });
    }
    await runDeploy(folder, 'compose', { force: true, name: 'shop' });
    assert.equal(namesIn(folder)[3], 'shop-state');
  });

  it('keeps port, drain and name of the token that the project has', async (t) => {
    const folder = deployFolder(t, { config: `${configuration()}supervisor:\n  stopTimeoutSeconds: 60\n` });
    await runDeploy(folder, 'compose');

    const { svc } = parse(readIn(folder)('compose.yml')).services;
    assert.deepEqual(svc.ports, ['127.0.0.1:8070:8068']);
    assert.equal(svc.stop_grace_period, '65s');
    assert.match(svc.environment.BOT_TOKEN, /^\$\{BOT_TOKEN:\?/);
  });

  it('names each variable of the configuration in .env.example, and keeps one that is there', async (t) => {
    const config = configuration(
      '  github:\n    endpoints: [{ id: a, secrets: ["${GITHUB_SECRET}"], token: "${GITHUB_SECRET}" }]\n',
    );
    const folder = deployFolder(t, { config });
    await runDeploy(folder, 'compose');
    const kept = deployFolder(t, { config });
    writeFileSync(join(kept, '.env.example'), 'MINE=\n');
    writeFileSync(join(kept, '.env'), 'BOT_TOKEN=x\n');
    const { actions, next } = await runDeploy(kept, 'compose');

    assert.deepEqual(readIn(folder)('.env.example').split('\n').slice(1), [
      '# HTTP_HOST=127.0.0.1',
      '# HTTP_PORT=8070',
      'BOT_TOKEN=',
      'GITHUB_SECRET=',
      '',
    ]);
    assert.equal(actions['.env.example'], undefined);
    assert.equal(readIn(kept)('.env.example'), 'MINE=\n');
    assert.equal(next[0], 'docker compose build');
  });

  it('starts Node itself where start is as svc init writes it, else npm start', async (t) => {
    const command = async (start: string): Promise<string> => {
      const folder = deployFolder(t, { scripts: { build: 'tsc', start } });
      await runDeploy(folder, 'compose');
      return readIn(folder)('Dockerfile').trimEnd().split('\n').at(-1) ?? '';
    };

    assert.match(
      await command(INIT_START),
      /^CMD \["node","--max-semi-space-size=64","node_modules\/svc\/dist\/cli\.js",/,
    );
    assert.equal(await command('exec node host.js'), 'CMD ["npm", "start"]');
    await assert.rejects(command('node host.js'), {
      code: 'refused',
      message: /the script start is "node host\.js", without exec/,
    });
  });

  it('refuses a project whose address or token no variable can set', async (t) => {
    const cases = [
      [
        'host: 127.0.0.1\n  port: ${HTTP_PORT}\n  token: ${HTTP_TOKEN}',
        /http\.host in svc\.config\.yml is no reference to HTTP_HOST/,
      ],
      [
        'host: ${HTTP_HOST}\n  port: 8068\n  token: ${HTTP_TOKEN}',
        /http\.port in svc\.config\.yml is no reference to HTTP_PORT/,
      ],
      ['host: ${HTTP_HOST}\n  port: ${HTTP_PORT}', /http\.token in svc\.config\.yml is no reference/],
    ] as const;
    for (const [http, message] of cases) {
      const folder = deployFolder(t, { config: configuration('', http) });
      await assert.rejects(runDeploy(folder, 'compose'), { code: 'refused', message });
      assert.equal(existsSync(join(folder, 'Dockerfile')), false);
    }
  });
});
