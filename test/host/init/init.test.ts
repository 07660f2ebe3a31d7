// `svc init`, run as the CLI runs it, in a folder of its own.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import { loadConfig } from '../../../shared/config/load.ts';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { command } from '../../../supervisor/cli/commands/init.ts';
import { commandContext } from '../../support/commands/command-context.ts';
import { emptyFolder, type InitRun, init, QUICK } from '../../support/commands/init-run.ts';
import { type KnownPackage, packageRegistry } from '../../support/process/package-registry.ts';
import type { Cleanup } from '../../support/temporary-project.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const TOOLS: readonly KnownPackage[] = [
  { name: 'typescript', version: '7.0.2' },
  { name: '@types/node', version: '22.12.0' },
];
const THIS_SVC: KnownPackage = { name: 'svc', version: '0.1.0', bin: { svc: 'dist/cli.js' } };

describe('svc init', () => {
  it('writes nothing through a link whose target is not there, and names it', async (t) => {
    const asFolder = emptyFolder(t);
    symlinkSync('moved/away', join(asFolder, 'my-bot'));
    const inside = emptyFolder(t);
    mkdirSync(join(inside, 'my-bot'));
    symlinkSync('/moved/away', join(inside, 'my-bot', 'plugins'));

    for (const [folder, link, target] of [
      [asFolder, join(asFolder, 'my-bot'), 'moved/away'],
      [inside, join(inside, 'my-bot', 'plugins'), '/moved/away'],
    ] as const)
      for (const options of [{}, { dryRun: true }, { force: true }])
        await assert.rejects(init(t, { folder, options }), {
          code: 'refused',
          message: `nothing was written: ${link} is a symbolic link whose target is not there: ${target}`,
        });
    assert.deepEqual(readdirSync(join(inside, 'my-bot')), ['plugins']);
  });

  it('makes a project whose configuration loads in production', async (t) => {
    const { folder, output, exit, read } = await init(t);

    assert.equal(exit, EXIT.ok);
    assert.deepEqual(readdirSync(folder).sort(), [
      '.env',
      '.env.example',
      '.gitignore',
      '.npmrc',
      'README.md',
      'package.json',
      'plugins',
      'svc.config.yml',
      'tsconfig.json',
    ]);
    const { config, warnings } = loadConfig({ project: folder, mode: 'production', environment: {} });
    assert.deepEqual(
      [config.host.name, config.http.host, config.http.port, Object.keys(config.plugins)],
      ['my-bot', '127.0.0.1', 8_068, ['sandbox', 'help', 'ping', 'remind', 'hello']],
    );
    assert.deepEqual(warnings, []);
    assert.match(
      read('svc.config.yml'),
      /^# yaml-language-server: \$schema=\.\/node_modules\/svc\/dist\/config-schema\.json\n/,
    );
    assert.match(read('svc.config.yml'), /host: \$\{HTTP_HOST:-127\.0\.0\.1\}/);
    assert.deepEqual(output.texts.slice(-4), [
      'Next:',
      '  cd my-bot',
      '  npm install && npm test',
      '  npm run build && npm start',
    ]);
  });

  it('makes a token of 256 bits that only the owner can read, another one each time', async (t) => {
    const [one, two] = [await init(t), await init(t)];
    const token = parseEnv(one.read('.env'))['HTTP_TOKEN'] ?? '';

    assert.equal(Buffer.from(token, 'base64url').length, 32);
    assert.equal(statSync(join(one.folder, '.env')).mode & 0o777, 0o600);
    assert.notEqual(one.read('.env'), two.read('.env'));
    assert.doesNotMatch(JSON.stringify(one.output), new RegExp(token));
    assert.doesNotMatch(one.read('.env.example'), new RegExp(token));
  });

  it('keeps the token, the state and the build out of git', async (t) => {
    const { folder } = await init(t);
    execFileSync('git', ['init', '-q'], { cwd: folder });
    writeFileSync(join(folder, '.env.bak-1'), 'HTTP_TOKEN=x\n');

    const seen = execFileSync('git', ['ls-files', '-o', '--exclude-standard'], { cwd: folder, encoding: 'utf8' })
      .trim()
      .split('\n');

    assert.deepEqual(seen.sort(), [
      '.env.example',
      '.gitignore',
      '.npmrc',
      'README.md',
      'package.json',
      'plugins/hello/hello.test.ts',
      'plugins/hello/index.ts',
      'svc.config.yml',
      'tsconfig.json',
    ]);
  });

  it('starts Node by exec and asks for Node 22.12', async (t) => {
    const content = JSON.parse((await init(t, { options: { name: 'other', port: 8_099 } })).read('package.json')) as {
      name: string;
      engines: object;
      scripts: Record<string, string>;
    };

    assert.equal(content.name, 'other');
    assert.deepEqual(content.engines, { node: '>=22.12.0' });
    assert.equal(
      content.scripts['start'],
      'exec node node_modules/svc/dist/cli.js runtime start --mode production --no-watch',
    );
    assert.ok(content.scripts['build'] !== undefined && content.scripts['test'] !== undefined);
  });

  it('passes signals and the exit codes 51 and 75 through npm start', async (t) => {
    const { folder } = await init(t);
    mkdirSync(join(folder, 'node_modules/svc/dist'), { recursive: true });

    for (const code of [51, 75]) {
      writeFileSync(join(folder, 'node_modules/svc/dist/cli.js'), `process.exit(${code})`);
      const run = (): unknown =>
        execFileSync('npm', ['start', '--silent'], {
          cwd: folder,
          stdio: 'pipe',
          env: { PATH: process.env['PATH'], HOME: folder },
        });
      assert.throws(run, { status: code });
    }
    writeFileSync(
      join(folder, 'node_modules/svc/dist/cli.js'),
      "process.on('SIGTERM', () => process.exit(51)); setInterval(() => {}, 1000); console.log('up');",
    );
    const started = spawn('npm', ['start', '--silent'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'], HOME: folder },
    });
    t.after(() => started.kill('SIGKILL'));
    await once(started.stdout, 'data');
    started.kill('SIGTERM');

    assert.deepEqual(await once(started, 'exit'), [51, null]);
  });

  it('compiles against the built package', async (t) => {
    const { folder } = await init(t);
    mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
    symlinkSync(REPOSITORY, join(folder, 'node_modules/svc'), 'dir');
    symlinkSync(join(REPOSITORY, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'), 'dir');
    if (!existsSync(join(REPOSITORY, 'dist/sdk'))) return t.skip('dist/ is not built');

    execFileSync(process.execPath, [join(REPOSITORY, 'node_modules/typescript/bin/tsc'), '-p', '.'], {
      cwd: folder,
      stdio: 'pipe',
      encoding: 'utf8',
    });

    assert.ok(existsSync(join(folder, 'dist/plugins/hello/index.js')));
    assert.ok(existsSync(join(folder, 'dist/plugins/hello/hello.test.js')));
  });

  it("has a sample whose own test passes on this SDK's source", async (t) => {
    const { folder, read } = await init(t);
    const source = (name: string): string => pathToFileURL(join(REPOSITORY, name)).href;
    for (const name of ['plugins/hello/index.ts', 'plugins/hello/hello.test.ts']) {
      const text = read(name)
        .replace("'svc/testing'", `'${source('worker/testing/index.ts')}'`)
        .replace("'svc'", `'${source('worker/sdk/index.ts')}'`);
      writeFileSync(join(folder, name), text);
    }

    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const args = ['--import', 'tsx', '--test', '--test-reporter=tap', join(folder, 'plugins/hello/hello.test.ts')];
    const output = execFileSync(process.execPath, args, { cwd: REPOSITORY, stdio: 'pipe', encoding: 'utf8', env });

    assert.match(output, /# pass 1\n# fail 0/);
  });

  it('writes nothing when one file is in the way', async (t) => {
    const first = await init(t);
    const before = first.read('.env');
    writeFileSync(join(first.folder, 'tsconfig.json'), '{}');

    await assert.rejects(init(t, { folder: join(first.folder, '..') }), {
      code: 'refused',
      message: /^nothing was written: tsconfig\.json, \.env are there already$/,
    });
    assert.deepEqual([first.read('tsconfig.json'), first.read('.env')], ['{}', before]);
  });

  it('replaces with --force, and keeps copies', async (t) => {
    const first = await init(t);
    const before = first.read('.env');
    writeFileSync(join(first.folder, 'svc.config.yml'), 'mine: true\n');

    const { output } = await init(t, { folder: join(first.folder, '..'), options: { force: true }, json: true });

    const [{ files }] = output.documents as [{ files: { path: string; action: string; backup?: string }[] }];
    const copies = new Map(
      files.filter(({ action }) => action === 'replaced').map(({ path, backup = '' }) => [path, backup]),
    );
    assert.deepEqual([...copies.keys()].sort(), ['.env', 'svc.config.yml']);
    assert.equal(first.read(copies.get('svc.config.yml') ?? ''), 'mine: true\n');
    assert.equal(first.read(copies.get('.env') ?? ''), before);
    assert.equal(statSync(join(first.folder, copies.get('.env') ?? '')).mode & 0o777, 0o600);
    assert.notEqual(first.read('.env'), before);
  });

  it('does not write through a link', async (t) => {
    const folder = emptyFolder(t);
    mkdirSync(join(folder, 'my-bot'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'my-bot/.env'));

    await assert.rejects(init(t, { folder }), { code: 'refused' });
    assert.equal(existsSync(join(folder, 'elsewhere')), false);
  });

  it('only tells with --dry-run', async (t) => {
    const { folder, output } = await init(t, { options: { dryRun: true } });

    assert.equal(existsSync(folder), false);
    assert.match(output.texts[0] ?? '', /^would be made {6}package\.json$/);
  });

  it('makes a project without the sample', async (t) => {
    const { folder } = await init(t, { options: { sample: false } });

    assert.equal(existsSync(join(folder, 'plugins')), false);
    assert.equal('hello' in loadConfig({ project: folder, mode: 'production', environment: {} }).config.plugins, false);
  });

  it('goes into the folder of --project', async (t) => {
    const folder = emptyFolder(t);
    const { context } = commandContext({ cwd: folder, json: false, env: {} });

    const exit = await command.run(context, [undefined], { ...QUICK, project: 'there', name: 2026 });

    assert.equal(exit, EXIT.ok);
    assert.equal(existsSync(join(folder, 'svc.config.yml')), false);
    assert.equal(JSON.parse(readFileSync(join(folder, 'there/package.json'), 'utf8')).name, '2026');
    await assert.rejects(command.run(context, ['here'], { ...QUICK, project: 'there' }), { code: 'usage' });
  });

  it('says what cannot be written', async (t) => {
    const folder = emptyFolder(t);
    writeFileSync(join(folder, 'file'), '');
    const { context } = commandContext({ cwd: folder, json: false, env: {} });

    await assert.rejects(command.run(context, ['file/sub'], QUICK), {
      code: 'refused',
      message: /file\/sub cannot be written: ENOTDIR/,
    });
    // Below /proc the system says that a folder is not there which is: Node's own recursion never ends there.
    await assert.rejects(command.run(context, ['/proc/of-nobody'], QUICK), {
      code: 'refused',
      message: /\/proc\/of-nobody cannot be written: E/,
    });
  });

  it('takes no empty folder for this one: a variable was not set', async (t) => {
    const folder = emptyFolder(t);
    const { context } = commandContext({ cwd: folder, json: false, env: {} });

    await assert.rejects(command.run(context, [''], QUICK), {
      code: 'usage',
      message: /<folder>|\[folder\]/,
    });
    assert.ok(!existsSync(join(folder, 'svc.config.yml')));
  });

  it('takes the name of a package in a scope', async (t) => {
    const { read } = await init(t, { options: { name: '@team/bot' } });

    assert.equal(JSON.parse(read('package.json')).name, '@team/bot');
  });

  it('refuses names and ports that are none', async (t) => {
    for (const name of ['My Bot', 'svc', '@team', '@team/', '@/bot', '@team/Bot', 'team/bot', '@a/b/c', '@.a/b'])
      await assert.rejects(init(t, { options: { name } }), { code: 'usage' }, name);
    for (const options of [{ port: 0 }, { port: 'x' }, { port: 65_536 }])
      await assert.rejects(init(t, { options }), { code: 'usage' });
  });

  it('warns on a Node that the project does not ask for, and goes on', async (t) => {
    const { output, exit } = await init(t);
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    const old = major < 22 || (major === 22 && minor < 12);

    assert.equal(exit, EXIT.ok);
    assert.equal(
      output.notes.some((line) => line.includes('the project asks for >=22.12.0')),
      old,
    );
  });

  describe('the lockfile', () => {
    const withRegistry = async (t: Cleanup, packages: readonly KnownPackage[]): Promise<InitRun> =>
      init(t, {
        options: { lockfile: true, svc: '^0.1.0' },
        json: true,
        env: { npm_config_registry: await packageRegistry(t, packages), npm_config_fetch_retries: '0' },
      });
    const lockfileOf = ({ output }: InitRun): unknown => (output.documents as [{ lockfile: unknown }])[0].lockfile;

    it('is made by npm, without the address of a registry', async (t) => {
      const run = await withRegistry(t, [...TOOLS, THIS_SVC]);

      assert.deepEqual(lockfileOf(run), { made: true });
      assert.match(run.read('package-lock.json'), /"node_modules\/svc"/);
      assert.doesNotMatch(run.read('package-lock.json'), /https?:\/\//);
    });

    it('is not kept when the registry has another svc', async (t) => {
      const run = await withRegistry(t, [...TOOLS, { name: 'svc', version: '0.1.9' }]);

      assert.match(JSON.stringify(lockfileOf(run)), /"made":false.*another package.*--svc/);
      assert.equal(existsSync(join(run.folder, 'package-lock.json')), false);
    });

    it('is said to be missing when npm cannot resolve svc', async (t) => {
      const run = await withRegistry(t, TOOLS);

      assert.equal(run.exit, EXIT.ok);
      assert.match(JSON.stringify(lockfileOf(run)), /npm could not resolve the packages: /);
      assert.match(JSON.stringify(run.output.notes), /warning: no package-lock\.json: .*Run npm install/);
      assert.doesNotMatch(JSON.stringify(run.output), /127\.0\.0\.1/);
    });
  });
});
