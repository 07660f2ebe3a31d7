// The guide, as a new user follows it: an adapter in a package of its own (test/support/fixtures/svc-adapter-ntfy), written against the packed svc, tested there
// by `adapterContract`, packed, installed into a project, and run by the built host, which is killed on the way.
import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeLive } from '../../support/disk/remove-live.ts';
import { FakeNtfy } from '../../support/fake-platforms/ntfy.ts';
import { freePort } from '../../support/free-port.ts';
import { type RunningSvc, runInstalled } from '../../support/process/installed-svc.ts';
import { runProgram } from '../../support/process/run-program.ts';
import { until } from '../../support/until.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const ADAPTER = join(REPOSITORY, 'test/support/fixtures/svc-adapter-ntfy');
const BINDING = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node';
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT|ENOTCACHED/;
const MINUTES_MS = 300_000;
const TOKEN = 'tk_0123456789abcdefghijklmnopqrs';

describe('an adapter in a package of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-third-party-'));
  const project = join(folder, 'my-bot');
  // It finds svc in the project around it: one installation less.
  const adapter = join(project, 'packages/svc-adapter-ntfy');
  let unreachable: string | false = false;

  before(async () => {
    mkdirSync(project);
    writeFileSync(
      join(project, 'package.json'),
      '{"name":"my-bot","version":"1.0.0","private":true,"type":"module"}\n',
    );
    await install(await pack(REPOSITORY, folder));
    if (unreachable !== false) return;
    cpSync(ADAPTER, adapter, { recursive: true });
    renameSync(join(adapter, 'manifest.json'), join(adapter, 'package.json'));
    const compiled = await runProgram(process.execPath, [join(REPOSITORY, 'node_modules/typescript/bin/tsc')], adapter);
    assert.equal(compiled.code, 0, compiled.stdout);
    await install(await pack(adapter, folder));
  });
  after(() => removeLive(folder));

  /** Compiling the SQLite binding takes minutes: that of this repository is taken. Types of Node are a user's own. */
  async function install(tarball: string): Promise<void> {
    const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    const { code, stderr } = await runProgram('npm', ['install', ...flags, tarball], project);
    if (UNREACHABLE.test(stderr)) unreachable = 'the package registry cannot be reached';
    else assert.equal(code, 0, stderr);
    if (unreachable !== false) return;
    cpSync(join(REPOSITORY, BINDING), join(project, BINDING));
    mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
    for (const name of ['@types/node', 'undici-types'])
      if (!existsSync(join(project, 'node_modules', name)))
        symlinkSync(join(REPOSITORY, 'node_modules', name), join(project, 'node_modules', name));
  }

  it('has under 100 lines', () => {
    const lines = readFileSync(join(ADAPTER, 'index.ts'), 'utf8').trimEnd().split('\n').length;

    assert.ok(lines < 100, `${lines} lines`);
  });

  it('passes the suite of adapters from its own folder', async (t) => {
    if (unreachable !== false) return t.skip(unreachable);
    const { code, stdout } = await runProgram('npm', ['test'], adapter);

    assert.equal(code, 0, stdout);
    assert.match(stdout, /pass 17\b/);
  });

  it('is installed, configured, checked, and hears and answers once each, over kills of the host', async (t) => {
    if (unreachable !== false) return t.skip(unreachable);
    const platform = await new FakeNtfy(TOKEN).start(t);
    await configure(project, platform.url);
    const checked = await runProgram(
      'npx',
      ['--no-install', 'svc', 'doctor', '--endpoint', 'ntfy', '--timeout', '5m'],
      project,
    );
    assert.equal(checked.code, 0, checked.stdout + checked.stderr);

    let host = await startHost(t, project, platform);
    const asked: string[] = [];
    for (const n of [1, 2, 3, 4, 5, 6]) {
      asked.push(`answer ${n}`);
      platform.publish({ topic: 'alerts', message: `/echo answer ${n}` });
      if (n % 2 === 1) continue;
      await host.kill(); // with two lines on their way, and a third said while nobody listens
      asked.push(`meanwhile ${n}`);
      platform.publish({ topic: 'alerts', message: `/echo meanwhile ${n}` });
      host = await startHost(t, project, platform);
    }
    const answers = (): string[] =>
      platform.messages.filter(({ tags = [] }) => tags.includes('robot')).map(({ message }) => message);
    await until(() => asked.every((text) => answers().includes(text)), { what: 'every answer', timeoutMs: MINUTES_MS });
    await host.stop();

    // ntfy knows no idempotency key: a kill may repeat the answer that was on its way, and no other.
    assert.deepEqual([...new Set(answers())], asked);
    assert.ok(answers().length <= asked.length + 3, `${answers().length} answers`);
  });
});

async function configure(project: string, url: string): Promise<void> {
  const config = [
    `http: { port: ${await freePort()}, token: "\${HTTP_TOKEN}" }`,
    'plugins:',
    '  echo: {}',
    '  ntfy:',
    '    use: svc-adapter-ntfy',
    `    endpoints: [{ id: main, url: "${url}", topics: [alerts], token: "\${NTFY_TOKEN}" }]`,
  ];
  writeFileSync(join(project, 'svc.config.yml'), `${config.join('\n')}\n`);
  const variables = `HTTP_TOKEN=Vq3mT9xKz7Lp2RwYc8Nb5Hd1Js6Gf4Ae\nNTFY_TOKEN=${TOKEN}\n`;
  writeFileSync(join(project, '.env'), variables, { mode: 0o600 });
}

/** A host of the installed svc, once it reads the topic. */
async function startHost(t: TestContext, project: string, platform: FakeNtfy): Promise<RunningSvc> {
  await until(() => platform.readers === 0, { what: 'the end of the stream before', timeoutMs: MINUTES_MS });
  const host = runInstalled(t, project);
  await until(() => platform.readers === 1 || host.hasEnded(), { what: 'the stream', timeoutMs: MINUTES_MS });
  assert.equal(host.hasEnded(), false, host.output());
  return host;
}

async function pack(folder: string, to: string): Promise<string> {
  const { code, stdout, stderr } = await runProgram(
    'npm',
    ['pack', '--ignore-scripts', '--pack-destination', to],
    folder,
  );
  assert.equal(code, 0, stderr);
  return join(to, stdout.trim().split('\n').at(-1) ?? '');
}
