// `svc doctor --endpoint` of OneBot: which bot the implementation has and how it is, by reading alone.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ask, told } from '../../support/commands/doctor-endpoint.ts';
import { FakeOneBot, type FakeOneBotOptions } from '../../support/fake-platforms/onebot11.ts';

const start = async (t: TestContext, change: object = {}, options: FakeOneBotOptions = {}) => {
  const fake = await FakeOneBot.start(t, options);
  const url = 'mode' in change ? fake.url : fake.wsUrl;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
  const account = { id: 'main', url, accessTokens: ['${OTHER}', '${TOKEN}'], secrets: ['${SECRET}'], ...change };
  const env = { TOKEN: fake.token, OTHER: 'a-token-of-before', SECRET: 'the-secret-of-deliveries' };
  return { fake, asked: { plugins: { onebot11: { endpoints: [account] } }, env } };
};
const READ = ['get_login_info', 'get_status', 'get_version_info'];

describe('svc doctor --endpoint onebot11', () => {
  it('knows bot, status and implementation over a WebSocket and over HTTP, and changes nothing', async (t) => {
    const forward = await start(t, {}, { saysLate: true });
    const split = await start(t, { split: true });
    const http = await start(t, { mode: 'http' });
    const [one, two, three] = [
      await ask(t, forward.asked, '--endpoint', 'onebot11', '--json'),
      await ask(t, split.asked, '--endpoint', 'onebot11', '--json'),
      await ask(t, http.asked, '--endpoint', 'onebot11', '--json'),
    ];

    assert.deepEqual([one.code, two.code, three.code], [0, 0, 0], one.stdout + two.stdout + three.stdout);
    assert.deepEqual(told(one).list, ['ok token', 'ok status', 'ok implementation']);
    assert.deepEqual(told(two).list, told(one).list);
    assert.deepEqual(told(three).list, ['ok address', 'skip webhook', ...told(one).list, 'ok clock']);
    assert.match(told(one).of('token').detail, /10001000/);
    assert.match(told(three).of('webhook').detail, /https:\/\/bot\.example\/webhooks\/onebot11\/main/);
    for (const { fake } of [forward, split, http])
      assert.deepEqual(
        fake.calls.map(({ action }) => action).filter((action) => action !== ''),
        READ,
      );
  });

  it('says what is wrong with its remedy: the token, the bot, its status, its protocol', async (t) => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
    const refused = await start(t, { accessTokens: ['${OTHER}'] });
    const other = await start(t, { selfId: '42' });
    const offline = await start(t);
    offline.fake.bot.status = { online: false, good: false };
    const version = { app_name: 'X', app_version: '1', protocol_version: 'v12' };
    offline.fake.next('get_version_info', { status: 'ok', retcode: 0, data: version });
    const [token, bot, status] = [
      await ask(t, refused.asked, '--endpoint', 'onebot11', '--json'),
      await ask(t, other.asked, '--endpoint', 'onebot11', '--json'),
      await ask(t, offline.asked, '--endpoint', 'onebot11', '--json'),
    ];

    assert.deepEqual([token.code, bot.code, status.code], [1, 1, 1]);
    assert.match(token.stdout, /access token is refused[^]*accessTokens/);
    assert.match(bot.stdout, /10001000[^]*42[^]*selfId/);
    assert.deepEqual(told(status).list, ['ok token', 'error status', 'error implementation']);
  });

  it('says where an implementation has to come, and that it cannot ask it, in mode reverse', async (t) => {
    const { asked } = await start(t, { mode: 'reverse' });
    const ended = await ask(t, asked, '--endpoint', 'onebot11', '--json');

    assert.equal(ended.code, 0, ended.stdout);
    assert.match(told(ended).of('webhook').detail, /wss:\/\/bot\.example\/webhooks\/onebot11\/main/);
    assert.equal(told(ended).of('connection').status, 'skip');
  });
});
