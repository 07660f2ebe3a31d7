// `svc doctor --live`: against servers that answer as a host, a proxy or a stranger would, and against a host of our own.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer as createHttp, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { portProject, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

// All at once: one of them waits for the end of a time limit.
describe('svc doctor --live', { concurrency: true }, () => {
  const TOKEN = { SVC_HTTP_TOKEN: 'a-live-token-of-a-test' };
  const REPORT = '{"schema":"svc.readiness/1","ready":true,"state":"ready",  "checks":[]}';
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
    ['not ready', 503, '{"schema":"svc.readiness/1","ready":false,"state":"not_ready"}', undefined],
    ['a report that says ready with 503', 503, REPORT, undefined],
    ['a refused token', 401, '{"code":"invalid_token"}', 'invalid_token'],
    ['a demo token', 403, '{"code":"insufficient_scope"}', 'insufficient_scope'],
    ['a path that is not there', 404, 'no', 'not_found'],
    ['a redirect', 302, '', 'redirected'],
    ['some other server', 200, '<html>', 'unexpected_answer'],
    ['the answer for probes', 200, '{"ready":true}', 'unexpected_answer'],
    ['the answer for probes of a host that is not ready', 503, '{"ready":false}', 'unexpected_answer'],
    ['a report of another version', 200, '{"schema":"svc.readiness/2","ready":true}', 'unexpected_answer'],
    ['a report without its answer', 200, '{"schema":"svc.readiness/1"}', 'unexpected_answer'],
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

    const silent = await live(url);

    assert.equal(closed.report.error.code, 'request_failed');
    for (const { report } of [closed, silent])
      assert.match(JSON.stringify(report), /127\.0\.0\.1:\d+: .*"hint":".*svc runtime status/);
    assert.deepEqual([silent.code, silent.report.error.code], [1, 'timeout']);
  });

  it('tells a host that could not be asked from one that is not ready', async (t) => {
    const text = async (url: string, env: Readonly<Record<string, string>> = TOKEN): Promise<string> =>
      (await svc(['doctor', '--live', url], { env })).stdout;
    const answering = (status: number, body: string): Promise<string> =>
      serve(t, (_request, response) => void response.writeHead(status).end(body));
    const notReady = JSON.stringify({
      schema: 'svc.readiness/1',
      ready: false,
      checks: [{ component: 'database', ready: false, reason: 'the disk is full', remediation: 'free space' }],
    });

    assert.equal(await text(await answering(503, notReady)), 'not ready\n  database: the disk is full. free space\n');
    for (const [url, why] of [
      ['http://127.0.0.1:1', /ECONNREFUSED/],
      [await answering(200, '{"ready":true}'), /no readiness report/],
      [await answering(200, '{"schema":"svc.readiness/2","ready":true}'), /svc\.readiness\/2.*svc\.readiness\/1/],
      [await answering(401, '{}'), /the token was refused/],
      [await answering(502, 'bad gateway'), /answered with 502/],
    ] as const) {
      const told = await text(url);
      assert.match(told, /^could not ask\n/);
      assert.match(told, why);
    }
    assert.match(await text('http://127.0.0.1:1', {}), /^could not ask\n.*SVC_HTTP_TOKEN is not set/s);
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
