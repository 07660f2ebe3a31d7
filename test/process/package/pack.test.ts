// The packed package, installed in another folder as an operator would: the command, a plugin's imports, types and tests, the schema. Install scripts
// run as in a project of `svc init`, where that of better-sqlite3 alone may: it takes the binding from an archive of the one of this repository, which
// `npm ci` has compiled in one to two minutes. Where it cannot be run the binding is copied into its place, but not where SVC_REQUIRE_REGISTRY=1 says
// that a registry answers.
import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { prebuiltBinding } from '../../../.ci/prebuilt.ts';
import { removeLive } from '../../support/disk/remove-live.ts';
import { type Ran, runProgram } from '../../support/process/run-program.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const BINDING = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node';

/** As `svc init` writes it: npm withholds the install scripts of others. */
const allowScripts = { 'better-sqlite3': true };

/** What the lockfile installs with svc, as folder@version. */
function installed(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(REPOSITORY, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<
      Record<string, { readonly version: string; readonly dev?: boolean; readonly devOptional?: boolean }>
    >;
  };
  return Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`);
}
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT|ENOTCACHED/;

const PLUGIN = `import { definePlugin, t } from 'svc';
export default definePlugin({
  name: 'greeter',
  config: { greeting: t.string({ default: 'hello' }) },
  setup(p) {
    p.command('greet', { summary: 'Greets', args: { who: t.string() } }, (_ctx, { who }) => \`\${p.config.greeting} \${who}\`);
  },
});
`;
const PLUGIN_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testBot } from 'svc/testing';
import greeter from './greeter.ts';
test('greets', async () => {
  const bot = await testBot(greeter);
  await bot.person('ann').says('/greet bob');
  assert.deepEqual(bot.shown('dm-ann'), ['hello bob']);
  await bot.stop();
});
`;

/** As somebody writes it who has JavaScript and a project of their own, whose package is a module. */
const HARNESS = `import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { startHost } from 'svc/testing';
test('the bot keeps its word over a kill', { timeout: 300_000 }, async (t) => {
  const host = await startHost({ owner: t, plugins: { sandbox: {}, greeter: { use: './greeter.ts', greeting: 'hey' } } });
  const said = await host.request('/api/chat/say', {
    method: 'POST',
    json: { person: 'ann', text: '/greet bob', delivery: 'first' },
  });
  assert.equal(said.status, 202);
  await host.kill();
  await host.restart();
  let texts = [];
  while (!texts.includes('hey bob')) {
    const { messages } = await (await host.request('/api/chat/messages?person=ann')).json();
    texts = messages.map(({ text }) => text);
  }
});
test('a host is disposed of', async () => {
  const host = await startHost({ plugins: { sandbox: {} } });
  await host[Symbol.asyncDispose]();
  assert.equal(existsSync(host.project), false);
});
`;
/** Where Node reads this, it is how a host is held. */
const USING = `import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { startHost } from 'svc/testing';
let project;
{
  await using host = await startHost({ plugins: { sandbox: {} } });
  project = host.project;
}
assert.equal(existsSync(project), false);
`;

describe('the packed package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-pack-'));
  const project = join(folder, 'project');
  let unreachable: string | false = false;

  before(async () => {
    mkdirSync(project);
    writeFileSync(
      join(project, 'package.json'),
      JSON.stringify({ name: 'a-project', version: '1.0.0', private: true, type: 'module', allowScripts }),
    );
    const packed = await runProgram('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], REPOSITORY);
    assert.equal(packed.code, 0, packed.stderr);
    const tarball = join(folder, packed.stdout.trim().split('\n').at(-1) ?? '');
    const prebuilt = prebuiltBinding(join(folder, 'prebuilt'));
    const install = (...more: string[]): Promise<Ran> =>
      runProgram(
        'npm',
        ['install', '--prefer-offline', '--no-audit', '--no-fund', ...more, tarball],
        project,
        prebuilt,
      );
    const asOperator = await install();
    if (asOperator.code === 0) return;
    // biome-ignore lint/style/noProcessEnv: a switch of the test run
    assert.notEqual(process.env['SVC_REQUIRE_REGISTRY'], '1', `a registry answers, but: ${asOperator.stderr}`);
    const { code, stderr } = await install('--ignore-scripts');
    if (UNREACHABLE.test(stderr)) unreachable = 'the package registry cannot be reached';
    else assert.equal(code, 0, stderr);
    if (unreachable === false) cpSync(join(REPOSITORY, BINDING), join(project, BINDING));
  });

  before(() => {
    if (unreachable !== false) return;
    mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
    for (const name of ['@types/node', 'undici-types']) {
      if (!existsSync(join(project, 'node_modules', name)))
        symlinkSync(join(REPOSITORY, 'node_modules', name), join(project, 'node_modules', name));
    }
    writeFileSync(join(project, 'greeter.ts'), PLUGIN);
    writeFileSync(join(project, 'greeter.test.ts'), PLUGIN_TEST);
  });
  after(() => removeLive(folder));

  it('holds what a service is made of, and makes one for the installed command', async (t) => {
    if (unreachable !== false || process.platform !== 'linux') return t.skip(unreachable || 'a unit is of Linux');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    writeFileSync(join(project, 'svc.config.yml'), 'http:\n  token: ${HTTP_TOKEN}\nplugins:\n  echo: {}\n');
    writeFileSync(join(project, '.env'), 'HTTP_TOKEN=Vq3mT9xKz7Lp2RwYc8Nb5Hd1Js6Gf4Ae\n', { mode: 0o600 });

    const { code, stdout, stderr } = await runProgram(
      'npx',
      ['--no-install', 'svc', 'service', 'install', '--user', '--print'],
      project,
    );

    assert.equal(code, 0, stderr);
    assert.ok(stdout.includes(`${join(project, 'node_modules/svc/dist/cli.js')} runtime start`), stdout);
  });

  it('runs as a command', async (t) => {
    if (unreachable !== false) return t.skip(unreachable);
    const { code, stdout, stderr } = await runProgram('npx', ['--no-install', 'svc', '--version'], project);

    assert.equal(code, 0, stderr);
    assert.match(stdout, new RegExp(versionOf(REPOSITORY).replaceAll('.', '\\.')));
  });

  it('holds the guides, names them, and every link in them leads to a file of the package', async (t) => {
    if (unreachable !== false) return t.skip(unreachable);
    const { stdout } = await runProgram('npx', ['--no-install', 'svc', 'help', 'guides', '--json'], project);
    const guides = (JSON.parse(stdout) as { readonly file: string }[]).map(({ file }) => file);
    const root = join(project, 'node_modules/svc');

    const held = (name: string): string[] =>
      readdirSync(join(REPOSITORY, name)).map((one) => `${name}/${one}/README.md`);
    const pages = (name: string): string[] =>
      readdirSync(join(REPOSITORY, name)).flatMap((one) => (one.endsWith('.md') ? [`${name}/${one}`] : []));
    const wanted = [
      'README.md',
      'shared/api/README.md',
      ...pages('deploy/guide'),
      ...pages('worker/sdk/guide'),
      ...held('worker/adapters'),
      ...held('worker/plugins'),
    ];
    assert.deepEqual(
      wanted.filter((name) => existsSync(join(REPOSITORY, name)) && !guides.includes(join(root, name))),
      [],
    );
    const broken = guides.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
        .map(([, link = '']) => join(file, '..', link))
        .filter((target) => !existsSync(target)),
    );
    assert.deepEqual(broken, []);
  });

  it('gives a plugin the SDK and its test host, which needs no network', async (t) => {
    if (unreachable !== false) return t.skip(unreachable);
    const { code: alone } = await runProgram('unshare', ['-rn', 'true'], project);
    const test = [process.execPath, '--import', 'tsx', '--test', 'greeter.test.ts'];
    const [command = '', ...args] = alone === 0 ? ['unshare', '-rn', ...test] : test; // where a namespace may be made
    const { code, stdout } = await runProgram(command, args, project);

    assert.equal(code, 0, stdout);
  });

  it('gives a plugin types that a strict compiler takes, library checks included', async (t) => {
    if (unreachable !== false) return t.skip(unreachable);
    const settings = {
      compilerOptions: {
        target: 'es2023',
        module: 'nodenext',
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        skipLibCheck: false,
        noEmit: true,
        allowImportingTsExtensions: true,
        types: ['node'],
      },
      files: ['greeter.ts', 'greeter.test.ts'],
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(settings));
    const { code, stdout } = await runProgram(
      process.execPath,
      [join(REPOSITORY, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'],
      project,
    );

    assert.equal(code, 0, stdout);
  });

  it('exports the schema of the configuration', async (t) => {
    if (unreachable !== false) return t.skip(unreachable);
    const { code, stdout, stderr } = await runProgram(
      process.execPath,
      ['-p', "require.resolve('svc/config-schema.json') + '\\n' + require('svc/config-schema.json').$schema"],
      project,
    );

    assert.equal(code, 0, stderr);
    assert.match(stdout, /json-schema\.org\/draft\/2020-12/);
  });

  it('assembles a project whose plugin imports it, and leaves no trace', async (t) => {
    if (unreachable !== false) return t.skip(unreachable);
    writeFileSync(
      join(project, 'svc.config.yml'),
      'http:\n  token: ${HTTP_TOKEN}\nplugins:\n  sandbox: {}\n  greeter:\n    use: ./greeter.ts\n    greeting: hi\n',
    );
    const { code, stdout, stderr } = await runProgram(
      'npx',
      ['--no-install', 'svc', 'runtime', 'start', '--once', '--mode', 'test', '--json'],
      project,
    );

    assert.equal(code, 0, stdout + stderr);
    assert.equal(existsSync(join(project, '.svc')), false);
  });

  it('starts a real host for a harness in JavaScript', async (t) => {
    if (unreachable !== false) return t.skip(unreachable);
    writeFileSync(join(project, 'harness.test.js'), HARNESS);
    const { code, stdout, stderr } = await runProgram(process.execPath, ['--test', 'harness.test.js'], project);

    assert.equal(code, 0, stdout + stderr);
  });

  it('gives that host to `await using` where Node has it', async (t) => {
    if (unreachable !== false) return t.skip(unreachable);
    writeFileSync(join(project, 'using.js'), USING);
    const { code: readable } = await runProgram(process.execPath, ['--check', 'using.js'], project);
    if (readable !== 0) return t.skip('this Node does not read `await using`');
    const { code, stderr } = await runProgram(process.execPath, ['using.js'], project);

    assert.equal(code, 0, stderr);
  });

  it('has a bill of materials with every package that is installed with it', async () => {
    const { code, stdout, stderr } = await runProgram('npm', ['run', '-s', 'sbom'], REPOSITORY);

    assert.equal(code, 0, stderr);
    const { bomFormat, components } = JSON.parse(stdout) as {
      readonly bomFormat: string;
      readonly components: readonly { readonly name: string; readonly version: string }[];
    };
    assert.equal(bomFormat, 'CycloneDX');
    const listed = new Set(components.map(({ name, version }) => `${name}@${version}`));
    assert.deepEqual(
      installed().filter((one) => !listed.has(one)),
      [],
    );
  });

  it('passes publint', async () => {
    const { code, stdout, stderr } = await runProgram(
      process.execPath,
      [join(REPOSITORY, 'node_modules/publint/src/cli.js'), '--pack', 'false', '--strict'],
      REPOSITORY,
    );

    assert.equal(code, 0, stdout + stderr);
  });
});

const versionOf = (folder: string): string =>
  (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
