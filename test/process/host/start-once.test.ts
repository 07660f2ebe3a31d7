// `svc runtime start --once --mode test` as a harness runs it: what the report says, and how it ends.
import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Sqlite } from '../../../shared/sqlite.ts';
import { contents, once, setup, withPlugin } from '../../support/once.ts';
import { portProject, svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

describe('the report of --once', { concurrency: 3 }, () => {
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
    const { path, paths, write } = withPlugin(
      t,
      setup('setInterval(() => {}, 1_000);'),
      { http: { port: 0 } },
      'own.ts',
    );
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

  it('blames no code for work that ends by itself', async (t) => {
    const { path } = withPlugin(
      t,
      setup("p.signal.addEventListener('abort', () => setImmediate(() => setImmediate(() => {})));"),
    );

    const { report } = await once(path);

    assert.deepEqual(report.production, []);
  });

  it('says nothing of production where everything would hold', async (t) => {
    const { path, env } = await portProject(t);

    const { report } = await once(path);

    assert.deepEqual(report.production, []);
    assert.deepEqual(report.warnings, []);
    assert.ok(!JSON.stringify(report).includes(env['HTTP_TOKEN'] ?? ''));
  });
});

describe('--once ends with 1 and the name', { concurrency: 3 }, () => {
  const FAULTS: readonly (readonly [slot: string, source: string, message: RegExp])[] = [
    ['throws', setup("throw new Error('no luck');"), /no luck/],
    ['rejects', setup("return Promise.reject(new Error('no luck'));"), /no luck/],
    ['throws-loaded', "throw new Error('no luck');", /no luck/],
    ['ends-loaded', 'process.exit(0);', /cannot be loaded: process\.exit\(0\) was called/],
    ['ends', setup('process.exit();'), /process\.exit\(\) was called/],
    ['really-ends', setup('process.reallyExit(0);'), /process\.reallyExit\(0\) was called/],
    ['undefined', 'export default 1;', /definition/],
    ['time', setup("p.cron('daily', { at: 'now and then' }, () => {});"), /daily/],
  ];
  it('for each of many plugins that cannot be loaded or set up', async (t) => {
    const { path } = temporaryProject(t, {
      config: { plugins: Object.fromEntries(FAULTS.map(([slot]) => [slot, { use: `./plugins/${slot}.js` }])) },
      plugins: Object.fromEntries(
        FAULTS.map(([slot, source]) => [`${slot}.js`, `import { definePlugin, t } from 'svc';\n${source}`]),
      ),
    });

    const { code, report, stderr } = await once(path);

    assert.equal(code, 1, stderr);
    assert.deepEqual([report.ok, report.generation], [false, null]);
    assert.deepEqual(
      report.faults.map(({ component }) => component).toSorted(),
      FAULTS.map(([slot]) => `root/${slot}`).toSorted(),
    );
    for (const [slot, , message] of FAULTS) {
      assert.match(report.faults.find(({ component }) => component === `root/${slot}`)?.message ?? '', message);
      assert.match(stderr, new RegExp(`root/${slot}`));
    }
  });

  it('for a resource that does not open', async (t) => {
    const { path } = withPlugin(
      t,
      setup("p.resource('store', async () => { throw new Error('no luck'); }, () => {});"),
    );

    const { code, report } = await once(path);

    assert.deepEqual([code, report.ok, report.generation], [1, false, null]);
    assert.deepEqual(
      report.faults.map(({ component }) => component),
      ['root/own'],
    );
    assert.match(report.faults[0]?.message ?? '', /resource store .* no luck/);
  });

  it('for a key that its schema refuses', async (t) => {
    const { path } = withPlugin(
      t,
      "export default definePlugin({ name: 'own', config: { size: t.integer() }, setup() {} });",
    );

    const { code, report, stderr } = await once(path);

    assert.deepEqual([code, report.ok, report.generation], [1, false, null]);
    assert.deepEqual(
      report.faults.map(({ component }) => component),
      ['/plugins/own/size'],
    );
    assert.match(report.faults[0]?.message ?? '', /svc\.config\.yml:\d+:\d+ /);
    assert.match(stderr, /\/plugins\/own\/size/);
  });

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
        { plugins: { own: { use: './plugins/own.js', key: '${OWN_KEY}' } } },
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
    assert.equal(report.faults[0]?.component, '/plugins/own/use');
    assert.match(report.faults[0]?.message ?? '', /"svc-plugin-of-nobody" is not built in/);
    assert.equal(report.faults.length, 1);
    assert.deepEqual(report.production, []);
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
