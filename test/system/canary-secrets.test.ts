// Every secret that a configuration can hold, looked for in all that the host shows: answers, stream, metrics, logs, files.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type RunningHost, runningHost } from '../support/running-host.ts';
import { until } from '../support/until.ts';

const canary = (): string => `canary${randomBytes(18).toString('hex')}`;
const SECRETS: Readonly<Record<string, string>> = {
  DEMO_TOKEN: canary(),
  NAMED_TOKEN: canary(),
  HOOK_SECRET: `whsec_${Buffer.from(canary()).toString('base64')}`,
  IRC_PASSWORD: canary(),
  LEAKY_KEY: canary(),
  TELEGRAM_TOKEN: `1234:${canary()}`,
  TELEGRAM_SECRET: canary(),
};

/**
 * A plugin that does with its secret what no plugin should: logs it, and throws it in several forms. Whoever posts to its webhook sends it in
 * a header, as some platforms do.
 */
const LEAKY = `import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'leaky', config: { key: t.secret() }, setup(p) {
  const key = p.config.key.reveal();
  p.log.info({ token: key, nested: { url: 'https://x.example/?k=' + encodeURIComponent(key) } }, 'using ' + key);
  p.command('leak', { summary: 'Leaks', attempts: 1 }, () => { throw new Error('failed with ' + key + ' and ' + Buffer.from(key).toString('base64')); });
  const verify = ({ headers }) => (headers['x-hook-token'] === key ? { kind: 'ok' } : { kind: 'refused', reason: 'no' });
  p.webhook('hook', { verify, delivery: () => 'one', body: t.object({}) }, () => {});
} });
`;

const GET_PATHS = [
  'pub/health',
  'pub/ready',
  'api/system/readiness',
  'api/system/status',
  'api/system/ingress',
  'api/endpoints',
  'api/inbox?limit=200',
  'api/outbox?limit=200',
  'api/plugins',
  'api/config',
  'api/logs?lines=1000',
  'api/metrics',
  'api/openapi.json',
  'api/events?format=json&limit=200',
  'api/chat/messages?person=ann&after=0',
  'api/nothing',
]; // prettier-ignore

describe('secrets', () => {
  it('of every kind are in no answer, stream, log or file, whatever a plugin does with them (row 41)', async (t) => {
    const host = await leakyHost(t);
    await say(host, '/leak');
    await say(host, '/echo hello');
    await post(host, 'leaky/hook', { body: '{}', headers: { 'x-hook-token': SECRETS['LEAKY_KEY'] ?? '' } });
    const secret = SECRETS['TELEGRAM_SECRET'] ?? '';
    await post(host, 'telegram/shop', { body: '{', headers: { 'x-telegram-bot-api-secret-token': secret } });
    await until(async () => JSON.stringify(await host.get('api/inbox?limit=200')).includes('dead'), {
      what: 'the leaking command to end',
    });

    const shown = [...(await answers(host)), ['stream', await stream(host)] as const];
    const item = ((await host.get('api/inbox?state=dead')) as { items: readonly { id: string }[] }).items[0]?.id ?? '';
    const items = await texts(host);
    await host.stop();
    const files = filesBelow(join(host.project.path, '.svc'));

    assert.notEqual(item, '', 'the leaking command is a dead letter');
    for (const [where, content] of [
      ...shown,
      ['output', host.output()] as const,
      ['items', items] as const,
      ...files,
    ]) {
      for (const [name, secret] of secretsOf(host)) {
        for (const form of formsOf(secret)) assert.ok(!content.includes(form), `${name} is in ${where}`);
      }
    }
  });
});

function leakyHost(t: Parameters<typeof runningHost>[0]): Promise<RunningHost> {
  return runningHost(t, {
    env: { ...SECRETS },
    plugins: {
      sandbox: {},
      echo: {},
      webhook: { endpoints: [{ id: 'shop', secrets: ['${HOOK_SECRET}'] }] }, // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      irc: {
        endpoints: [{ id: 'net', server: '127.0.0.1', port: 1, tls: false, nick: 'svc', password: '${IRC_PASSWORD}' }],
      }, // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      telegram: {
        endpoints: [
          {
            id: 'shop',
            apiUrl: 'http://127.0.0.1:1',
            mode: 'webhook',
            username: 'shop_bot',
            token: '${TELEGRAM_TOKEN}',
            secrets: ['${TELEGRAM_SECRET}'],
          },
        ],
      }, // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      leaky: { use: './plugins/leaky.mjs', key: '${LEAKY_KEY}' }, // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    },
    sources: { 'leaky.mjs': LEAKY },
  });
}

const secretsOf = (host: RunningHost): readonly (readonly [string, string])[] => [
  ...Object.entries(SECRETS),
  ['HTTP_TOKEN', host.project.token],
];

/** As it is, in base64 and as a part of a URL. */
const formsOf = (secret: string): readonly string[] => [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  encodeURIComponent(secret),
];

const authorization = (host: RunningHost): { readonly authorization: string } => ({
  authorization: `Bearer ${host.project.token}`,
});

async function text(host: RunningHost, path: string): Promise<string> {
  return (await fetch(host.url + path, { headers: authorization(host) })).text();
}

async function answers(host: RunningHost): Promise<(readonly [string, string])[]> {
  return Promise.all(GET_PATHS.map(async (path) => [path, await text(host, path)] as const));
}

/** Every item of the inbox, with its text. */
async function texts(host: RunningHost): Promise<string> {
  const { items } = (await host.get('api/inbox?limit=200')) as { items: readonly { id: string }[] };
  return (await Promise.all(items.map(({ id }) => text(host, `api/inbox/${id}`)))).join('\n');
}

/** A delivery that is taken. */
async function post(host: RunningHost, path: string, given: { body: string; headers: Record<string, string> }) {
  const headers = { 'content-type': 'application/json', ...given.headers };
  const answer = await fetch(`${host.url}webhooks/${path}`, { method: 'POST', headers, body: given.body });
  assert.equal(answer.status < 300, true, await answer.text());
}

async function say(host: RunningHost, line: string): Promise<void> {
  const answer = await fetch(`${host.url}api/chat/say`, {
    method: 'POST',
    headers: { ...authorization(host), 'content-type': 'application/json' },
    body: JSON.stringify({ person: 'ann', text: line, delivery: randomBytes(6).toString('hex') }),
  });
  assert.equal(answer.status < 300, true, await answer.text());
}

/** The whole history as a stream, up to where it is live. */
async function stream(host: RunningHost): Promise<string> {
  const abort = new AbortController();
  const answer = await fetch(`${host.url}api/events?lastEventId=x`, {
    headers: authorization(host),
    signal: abort.signal,
  });
  let seen = '';
  for await (const chunk of answer.body ?? []) {
    seen += Buffer.from(chunk).toString('utf8');
    if (seen.includes('event: svc.live')) break;
  }
  abort.abort();
  return seen;
}

function filesBelow(folder: string): (readonly [string, string])[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [[entry.name, readFileSync(path, 'latin1')] as const] : [];
  });
}
