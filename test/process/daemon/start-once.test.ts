// `svc runtime start --once --mode test` as a harness runs it: what the report says, how it ends, and that nothing is left of it.
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Sqlite } from '../../../shared/sqlite.ts';
import type { OnceReport } from '../../../worker/runtime/once-types.ts';
import { freePort, portProject, svc } from '../../support/svc-command.ts';
import { type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';

const AT_ONCE = 20;
const TIMEOUT = { timeout: 180_000 };

interface Once {
  readonly code: number | null;
  readonly stderr: string;
  readonly report: OnceReport;
}

async function once(path: string, env: Readonly<Record<string, string>> = {}): Promise<Once> {
  const { code, stdout, stderr } = await svc(['runtime', 'start', '--once', '--mode', 'test', '--json'], {
    cwd: path,
    env,
  });
  return { code, stderr, report: JSON.parse(stdout === '' ? '{}' : stdout) };
}

/** A project with one plugin of that source, under the slot `own`. */
function withPlugin(t: TestContext, source: string, keys: Readonly<Record<string, unknown>> = {}): TemporaryProject {
  return temporaryProject(t, {
    config: { plugins: { sandbox: {}, own: { use: './plugins/own.ts' } }, ...keys },
    plugins: { 'own.ts': `import { definePlugin, t } from 'svc';\n${source}` },
  });
}

const setup = (body: string): string => `export default definePlugin({ name: 'own', setup(p) { ${body} } });`;

/** Every name below a project's folder with what it holds; packages are a link. */
function contents(folder: string, leaveOut = /$^/): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^node_modules\b/.test(name) && !leaveOut.test(name))
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort()
    .map((name) => {
      const file = join(folder, name);
      const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
      return `${name} ${statSync(file).mtimeMs} ${digest}`;
    })
    .join('\n');
}

/** Processes whose folder this is (Linux). */
const processesIn = (folder: string): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false; // it is gone, or not ours
    }
  });

describe('the report of --once', () => {
  it('has generation, plugins, capabilities, endpoints, jobs, resources and what readiness requires', async (t) => {
    const { path } = withPlugin(
      t,
      setup(`
        p.command('hello', { summary: 'Greets' }, () => 'hello');
        p.cron('daily', { at: '30 4 * * *', timezone: 'Europe/Berlin' }, () => {});
        const store = p.resource('store', async () => ({ name: 'store' }), () => {});
      `),
      { http: { token: '${HTTP_TOKEN}', readiness: { endpoints: [{ owner: 'root/sandbox', name: 'sandbox' }] } } },
    );

    const { code, report, stderr } = await once(path);

    assert.equal(code, 0, stderr);
    assert.deepEqual([report.ok, report.faults, report.mode, report.generation], [true, [], 'test', 1]);
    assert.deepEqual(
      report.plugins.map((plugin) => (plugin as { owner: string }).owner),
      ['root/sandbox', 'root/own'],
    );
    assert.deepEqual(report.capabilities, [
      { id: 'root/own#command/hello', kind: 'command' },
      { id: 'root/own#cron/daily', kind: 'cron' },
    ]);
    assert.deepEqual(
      report.endpoints.map(({ id, enabled }) => [id, enabled]),
      [['root/sandbox:sandbox', true]],
    );
    assert.deepEqual(report.resources, ['root/own#resource/store']);
    const [job] = report.jobs;
    assert.deepEqual([job?.id, job?.at, job?.timezone], ['root/own#cron/daily', '30 4 * * *', 'Europe/Berlin']);
    assert.ok(Date.parse(job?.next ?? '') > Date.now());
    assert.deepEqual(
      report.readiness.map(({ component, met }) => [component, met]),
      [
        ['database', true],
        ['endpoint:root/sandbox:sandbox', true],
      ],
    );
    assert.deepEqual(report.database, { file: '.svc/data.sqlite', state: 'absent' });
  });

  it('comes after resources were opened in order and closed in reverse', async (t) => {
    const one = (name: string): string =>
      `p.resource('${name}', async () => p.log.warn('open ${name}'), () => p.log.warn('close ${name}'));`;
    const { path } = withPlugin(t, setup(one('a') + one('b')));

    const { code, stderr } = await once(path);

    assert.equal(code, 0, stderr);
    const said = stderr
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    assert.deepEqual(said, ['open a', 'open b', 'close b', 'close a']);
  });

  it('tells what would not hold in production', async (t) => {
    const { path, paths, write } = withPlugin(t, setup('setInterval(() => {}, 1_000);'), { http: { port: 0 } });
    write('.env', '');
    chmodSync(paths.env, 0o644);
    write('.svc/kept', '');
    chmodSync(paths.stateDir, 0o755);

    const { code, report, stderr } = await once(path);

    assert.equal(code, 0, stderr);
    const found = (component: string): string =>
      report.production
        .filter((fault) => fault.component === component)
        .map(({ message }) => message)
        .join('\n');
    assert.match(found('config') + found('') + found('/http/token') + found('/http'), /token|\.env/);
    assert.match(found('state'), /is open to others/);
    assert.match(found('root/own'), /looked for dist\/plugins\/own\.js, plugins\/own\.js/);
    assert.match(found('root'), /1 Timeout is left open/);
  });

  it('says nothing of production where everything would hold', async (t) => {
    const { path, env } = await portProject(t);

    const { report } = await once(path);

    assert.deepEqual(report.production, []);
    assert.deepEqual(report.warnings, []);
    assert.ok(!JSON.stringify(report).includes(env['HTTP_TOKEN'] ?? ''));
  });
});

describe('--once ends with 1 and the name', () => {
  const FAULTS: readonly (readonly [what: string, source: string, component: string, message: RegExp])[] = [
    ['setup that throws', setup("throw new Error('no luck');"), 'root/own', /no luck/],
    ['setup that rejects', setup("return Promise.reject(new Error('no luck'));"), 'root/own', /no luck/],
    ['module that throws', "throw new Error('no luck');", 'root/own', /no luck/],
    ['module that ends the process', 'process.exit(0);', 'root/own', /cannot be loaded: process\.exit\(0\) was called/],
    ['setup that ends the process', setup('process.exit();'), 'root/own', /process\.exit\(\) was called/],
    ['setup that really ends it', setup('process.reallyExit(0);'), 'root/own', /process\.reallyExit\(0\) was called/],
    ['module without a definition', 'export default 1;', 'root/own', /definition/],
    [
      'resource that does not open',
      setup("p.resource('store', async () => { throw new Error('no luck'); }, () => {});"),
      'root/own',
      /resource store .* no luck/,
    ],
    ['time that nobody can read', setup("p.cron('daily', { at: 'now and then' }, () => {});"), 'root/own', /daily/],
    [
      'key that its schema refuses',
      "export default definePlugin({ name: 'own', config: { size: t.integer() }, setup() {} });",
      '/plugins/own/size',
      /svc\.config\.yml:\d+:\d+ /,
    ],
  ];
  for (const [what, source, component, message] of FAULTS) {
    it(`for a ${what}`, async (t) => {
      const { path } = withPlugin(t, source);

      const { code, report, stderr } = await once(path);

      assert.equal(code, 1, stderr);
      assert.equal(report.ok, false);
      assert.equal(report.generation, null);
      assert.deepEqual(
        report.faults.map((fault) => fault.component),
        [component],
      );
      assert.match(report.faults[0]?.message ?? '', message);
      assert.match(stderr, new RegExp(component));
    });
  }

  it('with what a plugin prints on stderr, and its report alone on stdout', async (t) => {
    const { path } = withPlugin(t, "console.log('one'); process.stdout.write('two\\n'); throw new Error('no luck');");

    const { code, report, stderr } = await once(path);

    assert.equal(code, 1);
    assert.equal(report.ok, false);
    assert.match(stderr, /^one\ntwo\n/);
  });

  for (const [what, thrown] of [
    ['timer', 'setTimeout(fail, 1);'],
    ['promise', 'void Promise.resolve().then(fail);'],
  ] as const) {
    it(`for a ${what} of a plugin that throws where nobody catches it, without its secret`, async (t) => {
      const body = `const fail = () => { throw new Error(\`no luck with \${p.config.key.reveal()}\`); }; ${thrown}`;
      const { path, write, read } = withPlugin(
        t,
        `export default definePlugin({ name: 'own', config: { key: t.secret() }, setup(p) { ${body} } });`,
        { plugins: { own: { use: './plugins/own.ts', key: '${OWN_KEY}' } } },
      );
      write('.env', `${read('.env')}OWN_KEY=a-key-that-nobody-sees\n`);

      const { code, report, stderr } = await once(path);
      const check = await svc(['config', 'check', '--mode', 'development'], { cwd: path });

      assert.equal(code, 1, stderr);
      assert.deepEqual(
        report.faults.map((fault) => [fault.component, fault.message]),
        [['root/own', 'outside any handler: no luck with [secret]']],
      );
      assert.match(check.stdout + check.stderr, /root\/own: outside any handler: no luck with \[secret\]/);
    });
  }

  it('for a package that is not installed', async (t) => {
    const { path } = temporaryProject(t, { config: { plugins: { own: { use: 'svc-plugin-of-nobody' } } } });

    const { code, report } = await once(path);

    assert.equal(code, 1);
    assert.equal(report.faults[0]?.component, 'root/own');
    assert.match(report.faults[0]?.message ?? '', /svc-plugin-of-nobody/);
  });

  it('for accounts and bindings that readiness asks for and nothing has', async (t) => {
    const readiness = { endpoints: [{ owner: 'root/irc', name: 'irc~x' }], agents: ['helper'] };
    const { path } = temporaryProject(t, { config: { http: { token: '${HTTP_TOKEN}', readiness }, plugins: {} } });

    const { code, report } = await once(path);

    assert.equal(code, 1);
    assert.equal(report.generation, 1);
    assert.deepEqual(
      report.faults.map(({ component }) => component),
      ['endpoint:root/irc:irc~x', 'agent:helper'],
    );
  });

  it('for a database of a newer svc, which it leaves as it is', async (t) => {
    const { path, paths } = await portProject(t);
    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path })).code, 0);
    assert.equal((await svc(['runtime', 'stop'], { cwd: path })).code, 0);
    const { report: now } = await once(path);
    assert.equal(now.database?.state, 'current');
    const database = new Sqlite(paths.database);
    database.exec("INSERT INTO migrations VALUES (999, '0999-later', 1, 'x', 0)");
    database.close();
    const before = contents(path);

    const { code, report } = await once(path);

    assert.equal(code, 1);
    assert.deepEqual([report.database?.state, report.faults[0]?.component], ['refused', 'database']);
    assert.match(report.faults[0]?.message ?? '', /0999-later/);
    assert.equal(contents(path), before);
  });

  it('but with 78 for a configuration that no start would take', async (t) => {
    const { path } = temporaryProject(t, { config: 'http:\n  port: many\n' });

    const { code, report } = await once(path);

    assert.equal(code, 78);
    assert.match(JSON.stringify(report), /must be an integer/);
  });

  it('but with 78, and the report, for a key that is none: code, key, place and what to do, also without --json', async (t) => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    const { path } = temporaryProject(t, { config: 'http:\n  prot: 8068\n  token: ${HTTP_TOKEN}\n' });

    const { code, report, stderr } = await once(path);
    const plain = await svc(['runtime', 'start', '--once', '--mode', 'test'], { cwd: path });

    assert.equal(code, 78);
    assert.deepEqual(
      [report.ok, report.mode, report.generation, report.plugins, report.configVersion],
      [false, 'test', null, [], null],
    );
    assert.equal(report.error?.code, 'config_invalid');
    assert.deepEqual(report.faults, [
      {
        component: '/http/prot',
        code: 'config_invalid',
        message: 'svc.config.yml:2:3 is not a key here',
        hint: 'did you mean http.port?',
      },
    ]);
    assert.match(stderr, /http\/prot: svc\.config\.yml:2:3 is not a key here[^]*did you mean http\.port\?/);
    assert.deepEqual([plain.code, JSON.parse(plain.stdout)], [78, report]);
  });

  it('but with 78, and the report, for a configuration that is no YAML', async (t) => {
    const { path } = temporaryProject(t, { config: 'http: [\n' });

    const { code, report, stderr } = await once(path);

    assert.match(stderr, /^svc\.config\.yml:\d+:\d+ /);
    assert.deepEqual([code, report.ok, report.faults[0]?.code], [78, false, 'config_invalid']);
    assert.match(report.faults[0]?.message ?? '', /^svc\.config\.yml:\d+:\d+ /);
    assert.ok(report.faults[0]?.hint);
  });
});

describe('--once leaves nothing', () => {
  it('in a fresh project, and needs no port', async (t) => {
    const port = await freePort();
    const { path } = await portProject(t, { keys: { http: { port, token: '${HTTP_TOKEN}' } } });
    const holder = createServer().listen(port, '127.0.0.1');
    t.after(() => holder.close());
    const before = contents(path);

    const { code, stderr } = await once(path);

    assert.equal(code, 0, stderr);
    assert.equal(contents(path), before);
  });

  it(`of ${AT_ONCE} at once beside a running daemon, which goes on undisturbed`, TIMEOUT, async (t) => {
    const scratch = mkdtempSync(join(tmpdir(), 'svc-once-'));
    t.after(() => rmSync(scratch, { recursive: true, force: true }));
    const { path, url, token } = await portProject(t, {
      plugins: {
        'own.ts': `import { definePlugin } from 'svc';\n${setup("p.resource('store', async () => 1, () => {});")}`,
        'own.js': `import { definePlugin } from 'svc';\n${setup('')}`,
      },
      keys: { plugins: { sandbox: {}, echo: {}, own: { use: './plugins/own' } } },
    });
    const started = await svc(['runtime', 'start', '--daemon'], { cwd: path });
    assert.equal(started.code, 0, started.stderr);
    const status = async () => {
      const { code, stdout } = await svc(['runtime', 'status', '--json'], { cwd: path });
      const { pid, supervisorPid, runtimeId, generation, ready } = JSON.parse(stdout);
      return { code, pid, supervisorPid, runtimeId, generation, ready };
    };
    const before = await status();
    const files = contents(path, VOLATILE);
    // Of every kind: a socket is no file that has contents.
    const entries = (): readonly string[] =>
      readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => !/^node_modules\b|-wal$|-shm$/.test(name))
        .sort();
    const names = entries();

    const writes: number[] = [];
    const pause = async (): Promise<void> => void writes.push(await writeSomething(url, token));
    const all = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        await pause();
        const ended = await once(path, { TMPDIR: scratch });
        await pause();
        return ended;
      }),
    );

    for (const { code, report, stderr } of all) {
      assert.equal(code, 0, stderr);
      assert.deepEqual([report.ok, report.database?.state], [true, 'current']);
    }
    assert.equal(contents(path, VOLATILE), files);
    assert.deepEqual(entries(), names);
    assert.deepEqual(readdirSync(scratch), []);
    assert.deepEqual(await status(), before);
    if (process.platform === 'linux')
      assert.deepEqual(new Set(processesIn(path).map(Number)), new Set([before.pid, before.supervisorPid]));
    assert.deepEqual([...new Set(writes)], [200]);
    assert.equal((await svc(['runtime', 'stop'], { cwd: path })).code, 0);
    assert.deepEqual(
      readdirSync(join(path, '.svc')).filter((name) => /-wal$|-shm$/.test(name)),
      [],
    );
  });
});

/** The running worker stores something; its answer says whether it could. */
async function writeSomething(url: string, token: string): Promise<number> {
  const { status } = await fetch(`${url}/api/system/ingress`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ state: 'paused', reason: randomUUID() }),
  });
  return status;
}

/** What the daemon itself goes on writing. */
const VOLATILE = /\.log$|-wal$|-shm$|\.known$|\.json$/;
