// A secret for every place of a configuration that holds one, each easy to find again, and a host that has them all: accounts of every platform,
// whose platforms say back whatever they hear, and a plugin that does with its secret what no plugin should.
import { randomBytes } from 'node:crypto';
import { createServer as createHttp, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';
import { type RunningHost, runningHost } from './running-host.ts';

const canary = (): string => `canary${randomBytes(18).toString('hex')}`;
const key = (): string => `whsec_${Buffer.from(canary()).toString('base64')}`;
const ref = (name: string): string => `\${${name}}`;

/** By the variables of `.env`. */
export const SECRETS: Readonly<Record<string, string>> = {
  DEMO_TOKEN: canary(),
  NAMED_TOKEN: canary(),
  LEAKY_KEY: canary(),
  HOOK_SECRET: key(),
  HOOK_OUT_SECRET: key(),
  IRC_PASSWORD: canary(),
  IRC_SASL: canary(),
  IRC_NICKSERV: canary(),
  IRC_KEY: canary(),
  TELEGRAM_TOKEN: `1234:${canary()}`,
  TELEGRAM_SECRET: canary(),
  SLACK_TOKEN: `xoxb-${canary()}`,
  SLACK_SECRET: canary(),
  SLACK_APP: `xapp-${canary()}`,
  DISCORD_TOKEN: canary(),
  GITHUB_TOKEN: canary(),
  GITHUB_SECRET: canary(),
  LINE_TOKEN: canary(),
  LINE_SECRET: canary(),
  ONEBOT_TOKEN: canary(),
  ONEBOT_SECRET: canary(),
  XMPP_PASSWORD: canary(),
  XMPP_ROOM: canary(),
};

/** Logs its secret, and throws it in several forms. Whoever posts to its webhook sends it in a header, as some platforms do. */
const LEAKY = `import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'leaky', config: { key: t.secret() }, setup(p) {
  const key = p.config.key.reveal();
  p.log.info({ token: key, nested: { url: 'https://x.example/?k=' + encodeURIComponent(key) } }, 'using ' + key);
  console.log('printed ' + key);
  console.log(Buffer.from(key), Buffer.from(key).toString('hex').toUpperCase(), 'https://bot:' + key + '@x.example/');
  p.log.info({ bytes: Buffer.from(key), escaped: Array.from(key, (one) => '\\\\u00' + one.charCodeAt(0).toString(16)).join(''), twice: encodeURIComponent(encodeURIComponent('%' + key)) }, 'in other spellings');
  p.command('leak', { summary: 'Leaks', attempts: 1 }, () => { throw new Error('failed with ' + key + ' and ' + Buffer.from(key).toString('base64')); });
  p.route('GET /leak', { scope: 'none' }, () => { throw new Error('no answer for ' + key); });
  const verify = ({ headers }) => (headers['x-hook-token'] === key ? { kind: 'ok' } : { kind: 'refused', reason: 'not ' + key });
  p.webhook('hook', { verify, delivery: () => 'one', body: t.object({}) }, () => {});
} });
`;

type Accounts = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** Two of a platform where one has not all its secrets. */
export function accounts(http: string, tcpPort: number): Accounts {
  const irc = { server: '127.0.0.1', port: tcpPort, tls: false, nick: 'svc' };
  return {
    webhook: [{ id: 'shop', url: http, secrets: [ref('HOOK_SECRET')], outgoingSecrets: [ref('HOOK_OUT_SECRET')] }],
    irc: [
      {
        ...irc,
        id: 'net',
        password: ref('IRC_PASSWORD'),
        sasl: { account: 'svc', password: ref('IRC_SASL') },
        channelKeys: [{ channel: '#closed', key: ref('IRC_KEY') }],
      },
      { ...irc, id: 'old', nickserv: { password: ref('IRC_NICKSERV') } },
    ],
    telegram: [
      {
        id: 'shop',
        apiUrl: http,
        mode: 'webhook',
        username: 'shop_bot',
        token: ref('TELEGRAM_TOKEN'),
        secrets: [ref('TELEGRAM_SECRET')],
      },
      { id: 'polls', apiUrl: http, token: ref('TELEGRAM_TOKEN') },
    ],
    slack: [
      { id: 'web', apiUrl: `${http}/`, token: ref('SLACK_TOKEN'), secrets: [ref('SLACK_SECRET')] },
      { id: 'socket', apiUrl: `${http}/`, mode: 'socket', token: ref('SLACK_TOKEN'), appToken: ref('SLACK_APP') },
    ],
    discord: [{ id: 'guild', apiUrl: http, applicationId: '123456789012345678', token: ref('DISCORD_TOKEN') }],
    github: [
      { id: 'org', apiUrl: http, login: 'svc-bot', token: ref('GITHUB_TOKEN'), secrets: [ref('GITHUB_SECRET')] },
    ],
    line: [
      {
        id: 'shop',
        apiUrl: http,
        dataApiUrl: http,
        channelAccessToken: ref('LINE_TOKEN'),
        channelSecrets: [ref('LINE_SECRET')],
      },
    ],
    onebot11: [
      { id: 'out', url: http.replace('http', 'ws'), accessTokens: [ref('ONEBOT_TOKEN')] },
      { id: 'web', mode: 'http', url: http, accessTokens: [ref('ONEBOT_TOKEN')], secrets: [ref('ONEBOT_SECRET')] },
    ],
    xmpp: [
      {
        id: 'home',
        jid: 'svc@localhost',
        host: '127.0.0.1',
        port: tcpPort,
        tls: 'none',
        password: ref('XMPP_PASSWORD'),
        rooms: [{ jid: 'closed@rooms.localhost', password: ref('XMPP_ROOM') }],
      },
    ],
  };
}

export async function leakyHost(t: Cleanup): Promise<RunningHost> {
  const [http, tcpPort] = [await sayingBack(t), await sayingBackLines(t)];
  const platforms = Object.entries(accounts(http, tcpPort)).map(([name, endpoints]) => [name, { endpoints }]);
  return runningHost(t, {
    env: SECRETS,
    http: {
      demoToken: ref('DEMO_TOKEN'),
      tokens: [{ name: 'next', token: ref('NAMED_TOKEN'), scope: 'full' }],
    },
    config: { log_level: 'trace' },
    plugins: {
      sandbox: {},
      echo: {},
      ...Object.fromEntries(platforms),
      leaky: { use: './plugins/leaky.mjs', key: ref('LEAKY_KEY') },
    },
    sources: { 'leaky.mjs': LEAKY },
  });
}

/** Until none waits for its first answer; an account that only takes deliveries has nothing to wait for. */
export const haveMetTheirPlatforms = (host: RunningHost): Promise<boolean> =>
  until(async () => (await untried(host)).length === 0, { what: 'each account to have met its platform' });

async function untried(host: RunningHost): Promise<readonly string[]> {
  const { endpoints } = (await host.get('api/endpoints')) as {
    readonly endpoints: readonly { readonly id: string; readonly state: string; readonly lastError: unknown }[];
  };
  return endpoints.filter(({ state, lastError }) => state === 'connecting' && lastError === null).map(({ id }) => id);
}

/** Throws where one of the secrets is in a text, in one of the spellings that the plugin above gives it. */
export function assertNoCanary(where: string, content: string, host: RunningHost): void {
  for (const [name, secret] of [...Object.entries(SECRETS), ['HTTP_TOKEN', host.project.token] as const])
    for (const form of formsOf(secret)) {
      const at = content.indexOf(form);
      if (at !== -1) throw new Error(`${name} is in ${where}: …${content.slice(Math.max(0, at - 200), at)}…`);
    }
}

const formsOf = (secret: string): readonly string[] => [
  secret,
  Buffer.from(secret).toString('hex'),
  Buffer.from(secret).toString('hex').toUpperCase(),
  Buffer.from(secret)
    .toString('hex')
    .replaceAll(/(..)(?!$)/g, '$1 ')
    .slice(0, 60),
  [...Buffer.from(secret)].join(','),
  Array.from(secret, (one) => `\\u00${one.charCodeAt(0).toString(16)}`).join(''),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  encodeURIComponent(secret),
];

/** A platform over HTTP that refuses each call with all that it was told. */
async function sayingBack(t: Cleanup): Promise<string> {
  const answer = async (request: IncomingMessage): Promise<string> => {
    let heard = `${request.url ?? ''} ${JSON.stringify(request.headers)} `;
    for await (const chunk of request) heard += String(chunk);
    return JSON.stringify({ ok: false, error: heard, message: heard, description: heard, errors: [heard] });
  };
  const server = createHttp((request, response) => {
    void answer(request).then((text) => response.writeHead(400, { 'content-type': 'application/json' }).end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server of lines that answers each with an error that quotes it, and then goes. */
async function sayingBackLines(t: Cleanup): Promise<number> {
  const server = createTcp((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      const heard = data.toString().replace(/\s+/g, ' ');
      socket.end(`:srv 400 svc :what is ${heard}\r\nERROR :Closing link: ${heard}\r\n`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}
