// `svc doctor --endpoint` of Slack and GitHub: tokens, scopes, webhooks and their last deliveries, by reading alone.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ask, PUBLIC, told } from '../../support/commands/doctor-endpoint.ts';
import { FakeGithub } from '../../support/fake-platforms/github.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import type { Ended } from '../../support/svc-command.ts';

const SECRET = `0123456789abcdef-${'s'.repeat(20)}`;

describe('svc doctor --endpoint slack', () => {
  const start = async (t: TestContext, change: object = {}) => {
    const platform = await FakeSlack.start(t);
    const env = { TOKEN: platform.botToken, APP: platform.appToken, SECRET: platform.signingSecret };
    const account = { id: 'work', token: '${TOKEN}', secrets: ['${SECRET}'], apiUrl: platform.apiUrl, ...change };
    return { platform, asked: { plugins: { slack: { endpoints: [account] } }, env } };
  };

  it('knows the bot and its scopes over HTTP, and in Socket Mode opens no socket', async (t) => {
    const http = await start(t);
    const socket = await start(t, { mode: 'socket', appToken: '${APP}' });
    const [overHttp, overSocket] = [
      await ask(t, http.asked, '--endpoint', 'slack', '--json'),
      await ask(t, socket.asked, '--endpoint', 'slack', '--json'),
    ];

    assert.deepEqual([overHttp.code, overSocket.code], [0, 0], overHttp.stdout + overSocket.stdout);
    assert.deepEqual(told(overHttp).list, ['ok address', 'ok token', 'ok scopes', 'skip webhook', 'ok clock']);
    assert.match(told(overHttp).of('webhook').detail, /https:\/\/bot\.example\/webhooks\/slack\/work/);
    assert.deepEqual(told(overSocket).list, ['ok token', 'ok scopes', 'ok socket', 'ok clock']);
    assert.deepEqual(
      socket.platform.calls.map(({ method }) => method).filter((method) => method !== ''),
      ['auth.test', 'apps.connections.open'],
    );
    assert.equal(socket.platform.connections, 0);
  });

  it('names the scopes that are missing; without the one to speak it is an error', async (t) => {
    const { platform, asked } = await start(t);
    platform.scopes = 'chat:write,channels:history';
    const some = await ask(t, asked, '--endpoint', 'slack', '--json');
    const strict = await ask(t, asked, '--endpoint', 'slack', '--json', '--strict');
    platform.scopes = 'commands';
    const mute = await ask(t, asked, '--endpoint', 'slack', '--json');

    assert.deepEqual([some.code, strict.code, mute.code], [0, 1, 1]);
    assert.match(told(some).of('scopes').detail, /reactions:write \(to react\)/);
    assert.match(told(some).of('scopes').detail, /groups:read \(.*missed in channels\)/);
    assert.equal(told(some).of('scopes').status, 'warn');
    assert.match(told(mute).of('scopes').detail, /chat:write \(to say anything\)/);
  });

  it('says whose token it is when the account is of another workspace, and what refuses Socket Mode', async (t) => {
    const foreign = await start(t, { team: 'T0OTHER99' });
    const wrong = await start(t, { mode: 'socket', appToken: '${TOKEN}' });
    const [of, refused] = [
      await ask(t, foreign.asked, '--endpoint', 'slack', '--json'),
      await ask(t, wrong.asked, '--endpoint', 'slack', '--json'),
    ];

    assert.deepEqual([of.code, refused.code], [1, 1]);
    assert.match(told(of).of('token').detail, /Example \(T123ABC456\), the account of T0OTHER99/);
    assert.match(told(refused).of('account').detail, /not_allowed_token_type/);
    assert.match(told(refused).of('account').remedy ?? '', /App-Level Tokens.*appToken/);
  });
});

describe('svc doctor --endpoint github', () => {
  const URL_HERE = `${PUBLIC}/webhooks/github/main`;
  const EVENTS = ['*'];
  const start = async (t: TestContext, change: object = {}) => {
    const platform = await new FakeGithub({
      'ghp-token-of-a-bot': 'helper-bot',
      'ghs-token-of-an-app': 'my-app[bot]',
    }).start(t);
    const account = {
      id: 'main',
      login: 'helper-bot',
      token: '${TOKEN}',
      secrets: ['${SECRET}'],
      repositories: ['octo/hello'],
      apiUrl: platform.url,
      ...change,
    };
    const hook = (config: object, more: object = {}): number => {
      const id = platform.data.nextId();
      platform.data.hooks.push({
        id,
        repository: 'octo/hello',
        events: EVENTS,
        active: true,
        config: { url: URL_HERE, content_type: 'json', insecure_ssl: '0', secret: SECRET, ...config },
        ...more,
      });
      return id;
    };
    const delivered = (at: number, status_code: number): void =>
      void platform.data.deliveries.push({
        id: platform.data.nextId(),
        hook: at,
        guid: `g${status_code}`,
        delivered_at: new Date().toISOString(),
        status_code,
        event: 'issues',
      });
    const asked = { plugins: { github: { endpoints: [account] } }, env: { TOKEN: 'ghp-token-of-a-bot', SECRET } };
    return { platform, asked, hook, delivered };
  };

  it('knows the login, its scopes, the webhook and its deliveries, by reading alone', async (t) => {
    const { platform, asked, hook, delivered } = await start(t);
    const at = hook({});
    delivered(at, 502);
    delivered(at, 200);

    const ended = await ask(t, asked, '--endpoint', 'github', '--json');

    assert.equal(ended.code, 0, ended.stdout + ended.stderr);
    assert.deepEqual(told(ended).list, [
      'ok address',
      'ok token',
      'ok scopes',
      'ok webhook',
      'ok deliveries',
      'ok clock',
    ]);
    assert.match(told(ended).of('deliveries').detail, /200 OK; 1 of the last 2 failed/);
    assert.deepEqual(
      platform.requests.filter((line) => !line.startsWith('GET ')),
      [],
    );
  });

  it('takes the token of an installation, which may not ask who it is', async (t) => {
    const { asked, hook } = await start(t, { login: 'my-app[bot]' });
    hook({});

    const ended = await ask(
      t,
      { ...asked, env: { ...asked.env, TOKEN: 'ghs-token-of-an-app' } },
      '--endpoint',
      'github',
      '--json',
    );

    assert.equal(ended.code, 0, ended.stdout + ended.stderr);
    assert.equal(told(ended).of('token').detail, 'of my-app[bot]');
    assert.equal(told(ended).of('scopes').status, 'skip');
  });

  it('names a webhook that does not sign, one that is refused, one that is not there, and a repository out of sight', async (t) => {
    const unsigned = await start(t);
    unsigned.hook({}, { active: false, config: { url: URL_HERE, content_type: 'json', insecure_ssl: '0' } });
    const refused = await start(t);
    refused.delivered(refused.hook({}), 401);
    const absent = await start(t);
    absent.hook({ url: 'https://elsewhere.example/webhooks/github/main' });
    const hidden = await start(t);
    hidden.platform.data.hidden.add('octo/hello');
    const ended = [];
    for (const { asked } of [unsigned, refused, absent, hidden])
      ended.push(await ask(t, asked, '--endpoint', 'github~main', '--json'));
    const [one, two, three, four] = ended as [Ended, Ended, Ended, Ended];

    assert.deepEqual(
      ended.map(({ code }) => code),
      [1, 1, 1, 1],
    );
    assert.match(told(one).of('webhook').detail, /is switched off, has no secret/);
    assert.match(told(two).of('deliveries').detail, /another secret/);
    assert.equal(told(three).of('webhook').remedy, 'svc webhooks register github~main');
    assert.match(told(four).of('repository').detail, /octo\/hello is not there/);
  });

  it('says whose token it is when it is of somebody else, which scope is missing, and when it ends', async (t) => {
    const { platform, asked } = await start(t, { login: 'other-bot', repositories: [] });
    platform.data.tokenHeaders = {
      'x-oauth-scopes': 'gist',
      'github-authentication-token-expiration': '2020-01-01 00:00:00 UTC',
    };

    const ended = await ask(t, asked, '--endpoint', 'github', '--json');

    assert.equal(ended.code, 1);
    assert.deepEqual(told(ended).list, [
      'ok address',
      'error token',
      'error scopes',
      'warn token-end',
      'skip webhook',
      'ok clock',
    ]);
    assert.match(told(ended).of('token').detail, /of helper-bot, the account says other-bot/);
  });
});
