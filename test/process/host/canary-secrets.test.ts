// Every secret that a configuration can hold, looked for in all that the host shows: answers, stream, metrics, logs, files. What commands print
// is in test/process/package/canary-commands.test.ts, what the page holds in test/process/browser/host.test.ts, reports in test/process/recovery/watchdog.test.ts.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { configSchema } from '../../../shared/config/schema/schema.ts';
import { accounts, assertNoCanary, haveMetTheirPlatforms, leakyHost, SECRETS } from '../../support/hosts/canaries.ts';
import type { RunningHost } from '../../support/hosts/running-host.ts';
import { importSource } from '../../support/import-source.ts';
import { until } from '../../support/until.ts';

const ADAPTERS = join(import.meta.dirname, '../../../worker/adapters');

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
  'plugins/leaky/leak',
]; // prettier-ignore

describe('secrets', () => {
  it('have a canary in each place of the configuration, of the host and of each adapter, that holds one', async () => {
    const planted = accounts('http://127.0.0.1:1', 1);
    const missing: string[] = [];
    for (const adapter of readdirSync(ADAPTERS)) {
      const file = join(ADAPTERS, adapter, 'config.ts');
      const config = (existsSync(file) ? await importSource(file) : {}) as { account?: object };
      const found = new Set((planted[adapter] ?? []).flatMap((account) => placesOf(account, isPlanted)));
      const places = Object.entries(config.account ?? {}).flatMap(([key, schema]) =>
        placesOf(schema, isSecret).map((place) => `.${key}${schemaPath(place)}`),
      );
      missing.push(...places.filter((place) => !found.has(place)).map((place) => adapter + place));
    }

    assert.deepEqual(missing, []);
    const ofHost = placesOf(configSchema, isSecret).map(schemaPath);
    assert.deepEqual(ofHost.toSorted(), ['.http.demoToken', '.http.token', '.http.tokens[].token']);
  });

  it('of every kind are in no answer, stream, log or file, whatever a plugin does with them', async (t) => {
    const host = await leakyHost(t);
    await say(host, '/leak');
    await say(host, '/echo hello');
    await post(host, 'leaky/hook', { body: '{}', headers: { 'x-hook-token': SECRETS['LEAKY_KEY'] ?? '' } });
    const secret = SECRETS['TELEGRAM_SECRET'] ?? '';
    await post(host, 'telegram/shop', { body: '{', headers: { 'x-telegram-bot-api-secret-token': secret } });
    await until(async () => JSON.stringify(await host.get('api/inbox?limit=200')).includes('dead'), {
      what: 'the leaking command to end',
    });
    await haveMetTheirPlatforms(host);

    const shown = [...(await answers(host)), ['stream', await stream(host)] as const, ...(await refusals(host))];
    const item = ((await host.get('api/inbox?state=dead')) as { items: readonly { id: string }[] }).items[0]?.id ?? '';
    const items = await texts(host);
    await host.stop();
    const files = filesBelow(join(host.project.path, '.svc'));

    assert.notEqual(item, '', 'the leaking command is a dead letter');
    for (const [where, content] of [...shown, ['output', host.output()] as const, ['items', items] as const, ...files])
      assertNoCanary(where, content, host);
  });
});

const isSecret = (value: object | string): boolean =>
  typeof value === 'object' && (value as { format?: unknown }).format === 'svc-secret';
const isPlanted = (value: object | string): boolean => typeof value === 'string' && /^\$\{\w+\}$/.test(value);

/** Paths of all that is looked for, elements of a list as `[]`. */
function placesOf(value: unknown, isOne: (value: object | string) => boolean, at = ''): string[] {
  if (typeof value === 'string') return isOne(value) ? [at] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (isOne(value)) return [at];
  return Object.entries(value).flatMap(([key, inner]) =>
    placesOf(inner, isOne, at + (Array.isArray(value) ? '[]' : `.${key}`)),
  );
}

/** The path in a value, from that in its schema. */
const schemaPath = (place: string): string =>
  place
    .replaceAll(/\.properties(?=\.)/g, '')
    .replaceAll(/\.items(?![\w])/g, '[]')
    .replaceAll(/\.anyOf\[\]/g, '');

const authorization = (host: RunningHost): { readonly authorization: string } => ({
  authorization: `Bearer ${host.project.token}`,
});

async function text(host: RunningHost, path: string): Promise<string> {
  return (await fetch(host.url + path, { headers: authorization(host) })).text();
}

async function answers(host: RunningHost): Promise<(readonly [string, string])[]> {
  return Promise.all(GET_PATHS.map(async (path) => [path, await text(host, path)] as const));
}

/** What is answered to secrets that come where they do not belong. */
async function refusals(host: RunningHost): Promise<(readonly [string, string])[]> {
  const asked: Promise<readonly [string, string]>[] = [];
  for (const [name, secret] of Object.entries(SECRETS)) {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ state: 'paused', reason: secret });
    const ask = (path: string, init: RequestInit): void =>
      void asked.push(
        fetch(host.url + path, init).then(async (answer) => [
          `${path.split('?', 1)} with ${name}`,
          await answer.text(),
        ]),
      );
    ask('api/system/readiness', { headers });
    ask(`api/system/readiness?token=${encodeURIComponent(secret)}`, {});
    ask('api/system/ingress', { method: 'PUT', headers, body });
    for (const path of ['webhook/shop', 'slack/web', 'github/org', 'line/shop', 'onebot11/web', 'leaky/hook'])
      ask(`webhooks/${path}`, { method: 'POST', headers: { ...headers, 'x-hook-token': secret }, body });
  }
  return Promise.all(asked);
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
