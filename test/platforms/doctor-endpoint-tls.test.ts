// `svc doctor --endpoint` over TLS, which all platforms but those of these tests speak: the built command, whose modules are loaded otherwise than
// those of the host.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createServer } from 'node:tls';
import { ask, told, web } from '../support/doctor-endpoint.ts';
import { FakeDiscord } from '../support/fake-platforms/discord.ts';
import { FakeGithub } from '../support/fake-platforms/github.ts';
import { FakeLine } from '../support/fake-platforms/line.ts';
import { FakeOneBot } from '../support/fake-platforms/onebot11.ts';
import { FakeSlack } from '../support/fake-platforms/slack.ts';
import { FakeTelegram } from '../support/fake-platforms/telegram.ts';
import { selfSigned } from '../support/self-signed.ts';

const SECRET = `0123456789abcdef-${'s'.repeat(20)}`;
const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const certificate = selfSigned();

/** The same server over TLS. */
async function overTls(t: TestContext, url: string): Promise<string> {
  const { port, pathname } = new URL(url);
  const server = createServer({ ...certificate }, (socket) => {
    const inner = connect(Number(port), '127.0.0.1');
    for (const [from, to] of [
      [socket, inner],
      [inner, socket],
    ] as const) {
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}${pathname.replace(/\/$/, '')}`;
}

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
      const folder = mkdtempSync(join(tmpdir(), 'svc-ca-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'ca.pem');
      writeFileSync(file, certificate.cert);
      const endpoint = { id: 'main', token: '${TOKEN}', ...account(await overTls(t, url)) };
      const asked = { plugins: { [name]: { endpoints: [endpoint] } }, env: { TOKEN: token, SECRET, KEY } };

      const known = await ask(t, { ...asked, process: { NODE_EXTRA_CA_CERTS: file } }, '--endpoint', name, '--json');

      const { list } = told(known);
      assert.ok(
        list.some((one) => ['ok token', 'ok platform'].includes(one)),
        known.stdout,
      );
    });
});
