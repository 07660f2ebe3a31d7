// A host that is well, in a project whose svc.config.yml has a fault by now, or another token: it can still be operated.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { controlStandIn } from '../../support/commands/control-stand-in.ts';
import { cannedHost } from '../../support/http/canned-host.ts';
import { startSvc, svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const TOKEN = 'a-token-of-sufficient-length-0123456789';

/** A host at an address that only its control socket tells; it takes that token. */
async function runningHost(t: TestContext, config: string | null, env: Readonly<Record<string, string>> = {}) {
  const project = temporaryProject(t, { config, env });
  if (config === null) project.write('svc.config.yml', '');
  const list = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
    headers['authorization'] === `Bearer ${TOKEN}`
      ? { json: { items: [], total: 0 } }
      : {
          status: 401,
          json: { code: 'invalid_token', title: 'The token is not valid', hint: 'the token is http.token' },
        };
  const host = await cannedHost(t, {
    'GET /api/inbox': list,
    'GET /bot/api/inbox': list,
    'GET /api/events': list,
  });
  const { hostname, port } = new URL(host.url);
  const running: Partial<RuntimeStatus> = {
    state: 'running',
    ready: true,
    address: { host: hostname, port: Number(port) },
    socket: 'supervisor',
  };
  return { ...project, ...host, running, control: await controlStandIn(t, project.path, running) };
}

const list = (path: string, env: Readonly<Record<string, string>> = {}) =>
  svc(['inbox', 'list', '--json'], { cwd: path, env });

describe('a host whose configuration has a fault by now', { concurrency: 3 }, () => {
  const faulty: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
    ['an unknown key', 'http: { port: 1, base: /bot, token: "${OF_MINE}" }\nlgo_level: debug\n', { OF_MINE: TOKEN }],
    ['no YAML behind the token', 'http:\n  port: 1\n  token: ${OF_MINE}\nplugins: [\n', { OF_MINE: TOKEN }],
    ['no YAML at all', '\u0000', { HTTP_TOKEN: TOKEN }],
    ['the token itself in its place', `http: { port: 1, token: secret-${TOKEN} }\n`, { HTTP_TOKEN: TOKEN }],
    [
      'a variable that this shell has not',
      'http: { port: "${PORT_OF_IT}", token: "${HTTP_TOKEN}" }\n',
      { HTTP_TOKEN: TOKEN },
    ],
    ['a base that is none', 'http: { port: 1, base: 12, token: "${HTTP_TOKEN}" }\n', { HTTP_TOKEN: TOKEN }],
  ];
  for (const [name, config, env] of faulty)
    it(`is reached at its own address with the token that can still be read, and the fault is told: ${name}`, async (t) => {
      const { path, asked } = await runningHost(t, config, env);

      const { code, stdout, stderr } = await list(path);

      assert.deepEqual([code, asked.length], [0, 1], stdout + stderr);
      assert.deepEqual(JSON.parse(stdout), { items: [], total: 0 });
      assert.match(stderr, /^warning: svc\.config\.yml has a fault, [^\n]*svc\.config\.yml:\d+:\d+ [^\n]+\n$/);
      assert.doesNotMatch(stderr, new RegExp(TOKEN));
    });

  it('is waited for between two workers, whose address only the next one tells', async (t) => {
    const { path, asked, running, control } = await runningHost(t, 'http: { token: "${HTTP_TOKEN}" }\nport: 1\n', {
      HTTP_TOKEN: TOKEN,
    });
    control.say({ state: 'starting', socket: 'supervisor' });

    const asking = startSvc(['inbox', 'list'], { cwd: path });
    await until(() => asking.output().includes('waiting: the host is starting'), { what: 'the first look' });
    control.say(running);

    assert.deepEqual([(await asking.ended).code, asked.length], [0, 1]);
  });

  it('is told of by 78 where nothing runs, where the worker does not either, and where no token can be found', async (t) => {
    const config = 'http: { port: 1, token: "${NOWHERE}" }\nlgo_level: debug\n';
    const idle = temporaryProject(t, { config });
    const failed = temporaryProject(t, { config: 'http: { port: 1, token: "${HTTP_TOKEN}" }\nlgo_level: debug\n' });
    await controlStandIn(t, failed.path, { state: 'failed', reason: 'the configuration is invalid' });
    const secretless = await runningHost(t, config, { HTTP_TOKEN: '' });

    for (const { path } of [idle, failed, secretless]) {
      const { code, stdout } = await list(path);

      assert.deepEqual([code, JSON.parse(stdout).error.code], [78, 'config_invalid']);
    }
    assert.equal(secretless.asked.length, 0);
  });
});

describe('a token that is not the one of the host', { concurrency: 3 }, () => {
  const config = 'http: { port: 1, token: "${HTTP_TOKEN}" }\n';

  it('was changed since: that is said, with what takes it in', async (t) => {
    const { path } = await runningHost(t, config, { HTTP_TOKEN: `${TOKEN}-new` });

    for (const words of ['inbox list', 'events tail']) {
      const { code, stderr } = await svc(words.split(' '), { cwd: path });

      assert.equal(code, 1);
      assert.match(
        stderr,
        /^svc: the host has another token: [^\n]*changed since\n[^\n]*svc runtime reload[^\n]*restart/,
      );
      assert.doesNotMatch(stderr, /the token is http\.token/);
    }
  });

  it('comes from the shell, where that has the variable too', async (t) => {
    const { path } = await runningHost(t, config, { HTTP_TOKEN: TOKEN });

    const { code, stderr } = await svc(['inbox', 'list'], { cwd: path, env: { HTTP_TOKEN: `${TOKEN}-other` } });

    assert.equal(code, 1);
    assert.match(stderr, /HTTP_TOKEN of this shell/);
  });
});
