// `svc doctor --endpoint`: the built command asks fake platforms about accounts, without a running host, and changes nothing there.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ask, PUBLIC, reportOf, told, web } from '../../support/commands/doctor-endpoint.ts';
import { FakeTelegram } from '../../support/fake-platforms/telegram.ts';
import { freePort } from '../../support/free-port.ts';
import { selfSigned } from '../../support/http/self-signed.ts';
import { scriptedIrc } from '../../support/irc/scripted-irc.ts';

const SECRET = `0123456789abcdef-${'s'.repeat(20)}`;

describe('svc doctor --endpoint telegram', () => {
  const start = async (t: TestContext) => {
    const platform = await new FakeTelegram().listen(t);
    const token = platform.bot(123_456, 'svc_bot');
    const account = { id: 'main', token: '${TOKEN}', apiUrl: platform.url };
    const webhook = { ...account, mode: 'webhook', secrets: ['${SECRET}'] };
    const env = { TOKEN: token, SECRET };
    return { platform, token, env, polling: account, webhook };
  };
  const register = (platform: FakeTelegram, token: string, url: string) =>
    fetch(`${platform.url}/bot${token}/setWebhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        url,
        allowed_updates: [
          'message',
          'edited_message',
          'channel_post',
          'edited_channel_post',
          'callback_query',
          'message_reaction',
          'my_chat_member',
        ],
      }),
    });

  it('asks about every account of the slot, by questions that change nothing', async (t) => {
    const { platform, token, env, polling, webhook } = await start(t);
    const shop = platform.bot(777, 'shop_bot');
    await register(platform, shop, `${PUBLIC}/webhooks/telegram/shop`);
    platform.happens(token, { message: {} });
    const endpoints = [polling, { ...webhook, id: 'shop', token: '${SHOP}', enabled: false }];

    const ended = await ask(
      t,
      { plugins: { telegram: { endpoints } }, env: { ...env, SHOP: shop } },
      '--endpoint',
      'telegram',
      '--json',
    );

    assert.equal(ended.code, 0, ended.stdout + ended.stderr);
    assert.deepEqual(told(ended).list, ['ok token', 'ok groups', 'ok webhook', 'ok clock']);
    assert.deepEqual(told(ended, 1).list, [
      'ok address',
      'ok token',
      'ok groups',
      'ok webhook',
      'ok deliveries',
      'ok clock',
    ]);
    assert.equal(told(ended).of('token').detail, 'of @svc_bot (123456)');
    assert.match(told(ended).of('webhook').detail, /1 updates wait/);
    assert.deepEqual([...new Set(platform.calls.map(({ method }) => method))].sort(), [
      'getMe',
      'getWebhookInfo',
      'setWebhook',
    ]);
    assert.deepEqual(platform.confirmed(token), []);
  });

  it('says where deliveries go instead, and how the last one failed', async (t) => {
    const { platform, token, env, webhook } = await start(t);
    const plugins = { telegram: { endpoints: [webhook] } };
    const none = await ask(t, { plugins, env }, '--endpoint', 'telegram~main', '--json');
    await register(platform, token, 'https://elsewhere.example/path-that-is-secret');
    platform.deliveryFailed(token, new Date(), 'Wrong response from the webhook: 502 Bad Gateway');
    const elsewhere = await ask(t, { plugins, env }, '--endpoint', 'root/telegram:telegram~main', '--json');

    assert.deepEqual([none.code, elsewhere.code], [1, 1]);
    assert.equal(told(none).of('webhook').remedy, 'svc webhooks register telegram~main');
    assert.equal(told(elsewhere).of('webhook').detail, 'Telegram delivers to elsewhere.example, not to this host');
    assert.match(told(elsewhere).of('deliveries').detail, /502 Bad Gateway/);
    assert.equal(told(elsewhere).of('deliveries').status, 'warn');
    assert.match(told(elsewhere).of('deliveries').remedy ?? '', /does its address answer from outside/);
    platform.deliveryFailed(token, new Date(), 'Wrong response from the webhook: 401 Unauthorized');
    const refused = await ask(t, { plugins, env }, '--endpoint', 'telegram~main', '--json');
    assert.match(told(refused).of('deliveries').remedy ?? '', /another secret.*svc webhooks register telegram~main/);
  });

  it('says what mends a token that is of nobody, a missing address and a missing secret', async (t) => {
    const { platform, token, env, polling, webhook } = await start(t);
    const unknown = await ask(
      t,
      { plugins: { telegram: { endpoints: [webhook] } }, env, http: { publicUrl: undefined } },
      '--endpoint',
      'telegram',
      '--json',
    );
    const bare = await ask(
      t,
      { plugins: { telegram: { endpoints: [{ ...webhook, secrets: [] }] } }, env },
      '--endpoint',
      'telegram',
      '--json',
    );
    platform.revoke(token);
    const revoked = await ask(
      t,
      { plugins: { telegram: { endpoints: [polling] } }, env },
      '--endpoint',
      'telegram',
      '--json',
    );

    assert.deepEqual([unknown.code, bare.code, revoked.code], [1, 1, 1]);
    assert.match(told(unknown).of('address').remedy ?? '', /http\.publicUrl/);
    assert.match(told(bare).of('settings').detail, /a webhook needs secrets/);
    assert.deepEqual(told(revoked).list, ['error account']);
    assert.match(told(revoked).of('account').remedy ?? '', /@BotFather/);
  });
});

const ASKED_FOR_A_MOMENT = ['--endpoint', 'irc', '--timeout', '2s', '--json'];

describe('svc doctor --endpoint irc', () => {
  it('registers as the host does, joins nothing, says nothing, and goes', async (t) => {
    const server = await scriptedIrc(t, {
      tls: selfSigned(),
      answer: (line) => (line.startsWith('NICK helper') ? [] : undefined),
    });
    const account = {
      id: 'net',
      server: '127.0.0.1',
      port: server.port,
      verifyCertificate: false,
      nick: 'svcbot',
      channels: ['#a', '#b'],
      password: '${PASS}',
    };

    const ended = await ask(
      t,
      { plugins: { irc: { endpoints: [account] } }, env: { PASS: 'pass-of-the-server' } },
      '--endpoint',
      'irc',
      '--json',
    );

    assert.equal(ended.code, 0, ended.stdout + ended.stderr);
    assert.deepEqual(told(ended).list, ['ok login', 'ok nick', 'warn tls', 'skip clock', 'skip channels']);
    assert.match(told(ended).of('tls').detail, /^TLSv1\.\d.*any certificate is taken/);
    assert.deepEqual(
      server.lines.filter(({ text }) => /^(JOIN|PRIVMSG|NOTICE)/.test(text)),
      [],
    );
    assert.ok(server.lines.some(({ text }) => text.startsWith('QUIT')));
  });

  it('says how far it came when its time is over', async (t) => {
    const server = await scriptedIrc(t);
    const endpoint = { id: 'net', server: '127.0.0.1', port: server.port, nick: 'svcbot' };

    const ended = await ask(t, { plugins: { irc: { endpoints: [endpoint] } } }, ...ASKED_FOR_A_MOMENT);

    assert.deepEqual(told(ended).list, ['error login', 'error time']);
    assert.equal(told(ended).of('login').detail, `no connection over TLS to 127.0.0.1:${server.port}`);
  });

  it('tells a nick in use, and a password that is refused', async (t) => {
    const busy = await scriptedIrc(t, {
      answer: (line) =>
        line === 'NICK svcbot'
          ? [':s 433 * svcbot :in use']
          : line.startsWith('NICK ')
            ? [`:s 001 ${line.slice(5)} :Welcome`]
            : line.startsWith('USER')
              ? []
              : undefined,
    });
    const closed = await scriptedIrc(t, {
      answer: (line) => (line.startsWith('PASS') ? [':s 464 * :Password incorrect'] : undefined),
    });
    const account = { nick: 'svcbot', tls: false, server: '127.0.0.1' };
    const plugins = {
      irc: {
        endpoints: [
          { ...account, id: 'busy', port: busy.port },
          { ...account, id: 'closed', port: closed.port, password: '${PASS}' },
        ],
      },
    };

    const ended = await ask(t, { plugins, env: { PASS: 'pass-of-the-server' } }, '--endpoint', 'irc', '--json');

    assert.equal(ended.code, 1, ended.stdout + ended.stderr);
    assert.match(told(ended).of('nick').detail, /svcbot is in use, svcbot_ was taken/);
    assert.match(told(ended, 1).of('account').detail, /refused the password/);
    assert.deepEqual(
      reportOf(ended).endpoints.map(({ ok }) => ok),
      [true, false],
    );
  });
});

describe('svc doctor --endpoint webhook', () => {
  const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const accountAt = (url: string) => ({
    plugins: { webhook: { endpoints: [{ id: 'shop', url, secrets: ['${KEY}'] }] } },
    env: { KEY },
  });

  it('asks whether anybody is there, without a message, and compares the clocks', async (t) => {
    const good = await web(t, (_request, response) => void response.writeHead(405).end());
    const late = await web(
      t,
      (_request, response) =>
        void response.writeHead(200, { date: new Date(Date.now() - 600_000).toUTCString() }).end(),
    );
    const moved = await web(t, (_request, response) => void response.writeHead(308, { location: '/there' }).end());
    const [up, apart, gone] = [
      await ask(t, accountAt(`${good.url}/bot`), '--endpoint', 'webhook', '--json'),
      await ask(t, accountAt(late.url), '--endpoint', 'webhook', '--json'),
      await ask(t, accountAt(moved.url), '--endpoint', 'webhook', '--json'),
    ];

    assert.deepEqual([up.code, apart.code, gone.code], [0, 1, 1], up.stdout);
    assert.deepEqual(told(up).list, ['ok address', 'ok secrets', 'ok platform', 'ok clock']);
    assert.deepEqual([...new Set([...good.asked, ...late.asked, ...moved.asked])], ['HEAD /bot', 'HEAD /']);
    assert.match(told(apart).of('clock').detail, /s apart/);
    assert.equal(told(apart).of('clock').status, 'error');
    assert.match(told(gone).of('platform').detail, /redirects are not followed/);
  });

  it('tells that nobody is there, after what it knows without a network', async (t) => {
    const port = await freePort();
    const ended = await ask(t, accountAt(`http://127.0.0.1:${port}/`), '--endpoint', 'webhook', '--json');

    assert.equal(ended.code, 1);
    assert.deepEqual(told(ended).list, ['ok address', 'ok secrets', 'error platform']);
    assert.equal(told(ended).of('platform').detail, `connect ECONNREFUSED 127.0.0.1:${port}`);
  });
});

describe('svc doctor --endpoint', () => {
  const SILENT = `import { defineAdapter } from 'svc';
export default defineAdapter({ name: 'silent', account: {}, can: { text: { limit: 10, unit: 'bytes', render: 'plain' } }, send: async () => ({ kind: 'sent' }) });
`;

  it('prints for people what it found, account by account', async (t) => {
    const platform = await new FakeTelegram().listen(t);
    const endpoints = [{ id: 'main', token: '${TOKEN}', apiUrl: platform.url }];
    const asked = { plugins: { telegram: { endpoints } }, env: { TOKEN: platform.bot(1, 'svc_bot') } };

    const { stdout, code } = await ask(t, asked, '--endpoint', 'telegram~main');

    assert.equal(code, 0);
    assert.match(stdout, /^telegram~main \(telegram\)\nok {4}token {4}of @svc_bot \(1\)\n/);
    assert.match(stdout, /\n0 errors, 0 warnings, 4 ok, 0 skipped\n$/);
  });

  it('is wrong usage for a name that is none, for a plugin, and beside other questions', async (t) => {
    const asked = { plugins: { sandbox: {}, echo: {} } };
    const ends = [];
    for (const args of [
      ['sandbux'],
      ['echo'],
      ['sandbox', '--fix'],
      ['sandbox', '--live', 'http://127.0.0.1:9'],
      ['sandbox', '--timeout', '0'],
    ])
      ends.push(await ask(t, asked, '--endpoint', ...args));

    assert.deepEqual(
      ends.map(({ code }) => code),
      [2, 2, 2, 2, 2],
    );
    assert.match(ends[0]?.stderr ?? '', /did you mean 'sandbox'/);
    assert.match(ends[1]?.stderr ?? '', /echo is a plugin/);
  });

  it('ends with 78 where the configuration is invalid, as JSON too', async (t) => {
    const asked = { plugins: { telegram: { endpoints: [{ id: 'main', token: '${NOT_SET}' }] } } };
    const { code, stdout } = await ask(t, asked, '--endpoint', 'telegram', '--json');

    assert.equal(code, 78);
    assert.match(JSON.parse(stdout).error.code, /invalid$/);
  });

  it('is no success where nothing was asked: an adapter without a check', async (t) => {
    const asked = { plugins: { silent: { use: './plugins/silent.js' } }, sources: { 'silent.js': SILENT } };
    const ended = await ask(t, asked, '--endpoint', 'silent', '--json');

    assert.equal(ended.code, 1, ended.stdout + ended.stderr);
    assert.deepEqual(told(ended).list, ['error check']);
  });

  it('ends when its time is over for an account whose platform is silent, and tells of the others', async (t) => {
    const silent = await web(t, () => {}); // never answers
    const good = await web(t, (_request, response) => void response.end());
    const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const endpoints = [
      { id: 'silent', url: silent.url, secrets: ['${KEY}'] },
      { id: 'good', url: good.url, secrets: ['${KEY}'] },
    ];

    const ended = await ask(
      t,
      { plugins: { webhook: { endpoints } }, env: { KEY } },
      '--endpoint',
      'webhook',
      '--json',
      '--timeout',
      '5s',
    );

    assert.equal(ended.code, 1);
    assert.deepEqual(told(ended).list, ['ok address', 'ok secrets', 'error time']);
    assert.equal(told(ended).of('time').detail, 'not done within 5 s');
    assert.equal(told(ended, 1).of('secrets').status, 'ok');
  });

  it('is the only one that asks: svc doctor by itself uses no network', async (t) => {
    const platform = await web(t, (_request, response) => void response.end());
    const endpoints = [{ id: 'main', token: '${TOKEN}', apiUrl: platform.url }];

    await ask(t, { plugins: { telegram: { endpoints } }, env: { TOKEN: `1:${'a'.repeat(30)}` } }, '--json');

    assert.deepEqual(platform.asked, []);
  });
});
