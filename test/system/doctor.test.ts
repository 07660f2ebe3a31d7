// `svc doctor`: a fixture that makes each check fail, and a check without one fails here; then --live against a host of our own.
import assert from 'node:assert/strict';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { bindAddress, fileSystemFinding } from '../../supervisor/cli/doctor/state-checks.ts';
import { inRange } from '../../supervisor/cli/doctor/version-range.ts';
import { portProject, startSvc, svc } from '../support/svc-command.ts';
import type { TemporaryProject } from '../support/temporary-project.ts';
import { until } from '../support/until.ts';

type Project = TemporaryProject & { readonly port: number };

const good = (project: Project): void => {
  project.write(
    'package.json',
    JSON.stringify({
      name: 'test-project',
      version: '1.0.0',
      scripts: { build: 'true', start: 'exec svc runtime start' },
    }),
  );
};

/** What makes a check say `warn` or `error`. */
const FIXTURES: Readonly<Record<string, (project: Project, t: TestContext) => void | Promise<void>>> = {
  'node.version': ({ write }) => write('package.json', JSON.stringify({ engines: { node: '>=99.0.0' }, scripts: {} })),
  'package.scripts': ({ write }) =>
    write('package.json', JSON.stringify({ scripts: { build: 'true', start: 'svc runtime start' } })),
  'package.lockfile': ({ paths }) => rmSync(paths.lockfile),
  'config.valid': ({ write }) => write('svc.config.yml', 'http:\n  prot: 1\n'),
  'env.rights': ({ paths }) => chmodSync(paths.env, 0o640),
  'env.format': ({ write, token, paths }) => {
    write('.env', `HTTP_TOKEN=${token}\nOTHER="quoted value"\n`);
    chmodSync(paths.env, 0o600);
  },
  'token.strength': ({ write, paths }) => {
    write('.env', 'HTTP_TOKEN=short-token-1\n');
    chmodSync(paths.env, 0o600);
  },
  'http.port': async ({ port }, t) => {
    const server = createServer().listen(port, '127.0.0.1');
    t.after(() => server.close());
    await until(() => server.listening, { what: 'the stranger to listen' });
  },
  'state.folder': ({ write, paths }) => {
    write('.svc/x', '');
    chmodSync(paths.stateDir, 0o755);
  },
  'state.space': ({ write, port }) =>
    write(
      'svc.config.yml',
      `http:\n  port: ${port}\n  token: \${HTTP_TOKEN}\ndisk:\n  minFreeBytes: ${15 * 1024 ** 4}\n`,
    ),
  'database.integrity': ({ write, paths }) => {
    write('.svc/data.sqlite', 'this is no database, and never was one. '.repeat(200));
    chmodSync(paths.stateDir, 0o700);
  },
  'owner.single': async (project, t) => {
    const run = startSvc(['runtime', 'start', '--mode', 'production'], { cwd: project.path });
    t.after(() => run.child.kill('SIGKILL'));
    await until(async () => (await svc(['runtime', 'status'], { cwd: project.path })).code === 0, {
      what: 'ready',
      timeoutMs: 10_000,
    });
    rmSync(`${project.path}/.svc/worker.sock`);
    run.child.kill('SIGSTOP');
  },
};

/** No test can mount a network file system or know whether it runs in a container; the judgement is tested instead. */
const TESTED_APART = ['state.filesystem', 'http.bind'];

describe('svc doctor', () => {
  it('finds nothing wrong with a good project, and changes nothing', async (t) => {
    const project = await portProject(t);
    good(project);

    const { code, stdout } = await svc(['doctor', '--json'], { cwd: project.path });

    const report = JSON.parse(stdout);
    assert.deepEqual(
      report.checks.filter((check: { status: string }) => !['ok', 'skip'].includes(check.status)),
      [],
    );
    assert.equal(code, 0);
    assert.equal(report.ok, true);
  });

  it('has a fixture that makes each check fail', async () => {
    const { stdout } = await svc(['doctor', '--list', '--json']);

    assert.deepEqual(
      JSON.parse(stdout)
        .map(({ id }: { id: string }) => id)
        .sort(),
      [...Object.keys(FIXTURES), ...TESTED_APART].sort(),
    );
  });

  for (const [id, break_] of Object.entries(FIXTURES)) {
    it(`${id} fails where it should, with a reason and what mends it`, async (t) => {
      const project = await portProject(t);
      good(project);
      await break_(project, t);

      const { code, stdout } = await svc(['doctor', '--only', id, '--strict', '--json'], { cwd: project.path });

      const [check] = JSON.parse(stdout).checks;
      assert.match(check.status, /^(warn|error)$/, check.reason);
      assert.notEqual(check.fix, undefined);
      assert.equal(code, 1);
    });
  }

  it('calls Node 20 an error where the project wants a newer one, and not where it does not', () => {
    assert.deepEqual(
      ['>=22.12.0', '^20.19.0 || >=22.12.0', '>=20', '20.x', '^22', '~20.20', '<20', '>= 20.19.0 <21'].map((range) =>
        inRange('20.20.2', range),
      ),
      [false, true, true, true, false, true, false, true],
    );
    assert.equal(inRange('20.20.2', 'lts/*'), undefined);
  });

  it('calls a network file system an error (state.filesystem)', () => {
    assert.deepEqual(
      [0x6969, 0x65735546, 0xef53].map((type) => fileSystemFinding(type).status),
      ['error', 'warn', 'ok'],
    );
  });

  it('warns of every address outside a container (http.bind)', () => {
    const judged = [
      bindAddress('0.0.0.0', false),
      bindAddress('::', false),
      bindAddress('0.0.0.0', true),
      bindAddress('127.0.0.1', false),
    ];

    assert.deepEqual(
      judged.map(({ status }) => status),
      ['warn', 'warn', 'ok', 'ok'],
    );
  });

  it('lets warnings pass unless --strict, and leaves out what is skipped', async (t) => {
    const project = await portProject(t);
    await FIXTURES['package.scripts']?.(project, t);
    const run = async (...args: string[]) => (await svc(['doctor', ...args], { cwd: project.path })).code;

    assert.deepEqual(
      [await run(), await run('--strict'), await run('--strict', '--skip', 'package.scripts')],
      [0, 1, 0],
    );
  });
});

describe('svc doctor --live', () => {
  const TOKEN = { SVC_HTTP_TOKEN: 'a-live-token-of-a-test' };
  const REPORT = '{"ready":true,"state":"ready",  "checks":[]}';
  const serve = async (t: TestContext, listener: RequestListener): Promise<string> => {
    const server = createHttp(listener).listen(0, '127.0.0.1');
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    await until(() => server.listening, { what: 'the host' });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const live = async (url: string, env: Readonly<Record<string, string>> = TOKEN, ...args: string[]) => {
    const { code, stdout } = await svc(['doctor', '--live', url, '--json', ...args], { env });
    return { code, stdout, report: JSON.parse(stdout) };
  };

  it('prints the report unchanged, below the base, with the token', async (t) => {
    const url = await serve(t, (request, response) => {
      const right =
        request.url === '/bot/api/system/readiness' &&
        request.headers.authorization === `Bearer ${TOKEN.SVC_HTTP_TOKEN}`;
      response.writeHead(right ? 200 : 404).end(right ? REPORT : '{}');
    });

    const { code, stdout } = await live(`${url}/bot/`);

    assert.deepEqual([code, stdout], [0, `${REPORT}\n`]);
  });

  for (const [title, status, body, expected] of [
    ['not ready', 503, '{"ready":false,"state":"not_ready"}', undefined],
    ['a report that says ready with 503', 503, REPORT, undefined],
    ['a refused token', 401, '{"code":"invalid_token"}', 'invalid_token'],
    ['a demo token', 403, '{"code":"insufficient_scope"}', 'insufficient_scope'],
    ['a path that is not there', 404, 'no', 'not_found'],
    ['a redirect', 302, '', 'redirected'],
    ['some other server', 200, '<html>', 'unexpected_answer'],
    ['an error', 500, '{}', 'unexpected_answer'],
  ] as const) {
    it(`exits 1 on ${title}`, async (t) => {
      const url = await serve(
        t,
        (_request, response) => void response.writeHead(status, { location: '/elsewhere' }).end(body),
      );

      const { code, report } = await live(url);

      assert.equal(code, 1);
      assert.equal(report.error?.code, expected);
      if (status === 404) assert.match(report.error.hint, /http\.base/);
    });
  }

  it('sends nothing without a token, and no token over plain HTTP to another machine', async () => {
    assert.equal((await live('http://127.0.0.1:1', {})).report.error.code, 'token_missing');
    assert.equal((await live('http://192.0.2.1:1')).report.error.code, 'insecure_http');
  });

  it('says when nobody answers', async (t) => {
    const url = await serve(t, () => {});
    const closed = await live('http://127.0.0.1:1');
    const began = performance.now();

    const silent = await live(url);

    assert.equal(closed.report.error.code, 'request_failed');
    assert.deepEqual([silent.code, silent.report.error.code], [1, 'timeout']);
    assert.ok(performance.now() - began < 7_000);
  });

  it('tells the state of a real host', async (t) => {
    const project = await portProject(t);
    writeFileSync(`${project.path}/note`, '');
    const started = await svc(['runtime', 'start', '--daemon'], { cwd: project.path });

    const { code, report } = await live(`http://127.0.0.1:${project.port}`, { SVC_HTTP_TOKEN: project.token });

    assert.deepEqual([started.code, code, report.state], [0, 0, 'ready']);
    assert.deepEqual((await live(`http://127.0.0.1:${project.port}`)).report.error.code, 'invalid_token');
  });
});
