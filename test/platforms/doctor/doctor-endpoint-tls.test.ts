// `svc doctor --endpoint` over TLS, which all platforms but those of these tests speak: the built command, whose modules are loaded otherwise than
// those of the host.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ask, told, web } from '../../support/commands/doctor-endpoint.ts';
import { FakeDiscord } from '../../support/fake-platforms/discord.ts';
import { FakeGithub } from '../../support/fake-platforms/github.ts';
import { FakeLine } from '../../support/fake-platforms/line.ts';
import { FakeOneBot } from '../../support/fake-platforms/onebot11.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import { FakeTelegram } from '../../support/fake-platforms/telegram.ts';
import { TlsFronts } from '../../support/http/tls-fronts.ts';

const SECRET = `0123456789abcdef-${'s'.repeat(20)}`;
const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

interface Platform {
  readonly url: string;
  readonly token?: string;
  readonly account: (url: string) => object;
}
const PLATFORMS: Readonly<Record<string, (t: TestContext) => Promise<Platform>>> = {
  async telegram(t) {
    const telegram = await new FakeTelegram().listen(t);
    return { url: telegram.url, token: telegram.bot(42, 'svc_bot'), account: (apiUrl) => ({ apiUrl }) };
  },
  async slack(t) {
    const { apiUrl: url, botToken } = await FakeSlack.start(t);
    return { url, token: botToken, account: (at) => ({ secrets: ['${SECRET}'], apiUrl: `${at}/` }) };
  },
  async discord(t) {
    const { apiUrl: url, token, world } = await FakeDiscord.start(t);
    return { url, token, account: (apiUrl) => ({ applicationId: world.application, apiUrl }) };
  },
  async github(t) {
    const token = 'ghp-token-of-a-bot';
    const { url } = await new FakeGithub({ [token]: 'helper-bot' }).start(t);
    return { url, token, account: (apiUrl) => ({ login: 'helper-bot', secrets: ['${SECRET}'], apiUrl }) };
  },
  async line(t) {
    const { url, token } = await FakeLine.start(t);
    const keys = { token: undefined, channelAccessToken: '${TOKEN}', channelSecrets: ['${SECRET}'] };
    return { url, token, account: (apiUrl) => ({ ...keys, apiUrl, dataApiUrl: apiUrl }) };
  },
  async onebot11(t) {
    const { url, token } = await FakeOneBot.start(t);
    const keys = { token: undefined, accessTokens: ['${TOKEN}'], secrets: ['${SECRET}'] };
    return { url, token, account: (at) => ({ ...keys, mode: 'http', url: at }) };
  },
  async webhook(t) {
    const { url } = await web(t, (_request, response) => void response.writeHead(405).end());
    return { url, account: (at) => ({ token: undefined, url: at, secrets: ['${KEY}'] }) };
  },
};

describe('svc doctor --endpoint over TLS', () => {
  for (const [name, start] of Object.entries(PLATFORMS))
    it(`asks ${name}`, async (t) => {
      const { url, token = SECRET, account } = await start(t);
      const fronts = new TlsFronts(t);
      const endpoint = { id: 'main', token: '${TOKEN}', ...account(await fronts.address(url.replace(/\/$/, ''))) };
      const asked = { plugins: { [name]: { endpoints: [endpoint] } }, env: { TOKEN: token, SECRET, KEY } };

      const known = await ask(t, { ...asked, process: fronts.env }, '--endpoint', name, '--json');

      const { list } = told(known);
      assert.ok(
        list.some((one) => ['ok token', 'ok platform'].includes(one)),
        known.stdout,
      );
    });
});
