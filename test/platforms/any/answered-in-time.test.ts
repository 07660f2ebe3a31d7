// What is delivered over HTTP is answered within the time that its platform waits, while every handler takes a minute and deliveries keep
// coming at all accounts: a platform that hears nothing in time delivers again, shows an error, or takes the address off its list.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { type OpenLoopResult, type Post, sendAtRate } from '../../bench/load/open-loop.ts';
import { startFakes } from '../../bench/load/platform-fakes.ts';
import { ACCOUNTS, deliveryOf, type Source, sourcesOf } from '../../bench/platform-deliveries.ts';
import { FakeOneBot } from '../../support/fake-platforms/onebot11.ts';
import { runningHost } from '../../support/hosts/running-host.ts';
import { until } from '../../support/until.ts';

const PER_SECOND = 10;
const SECONDS = 3;
const WARM_UP = 5;

type Found = OpenLoopResult & { readonly name: string };

/** As their documentation says; where it names none, what the strictest waits. Standard Webhooks asks senders for 15 s at least. */
const LIMIT_SECONDS: Readonly<Record<string, number>> = {
  discord: 3,
  github: 10,
  line: 3,
  onebot11: 3,
  slack: 3,
  telegram: 3,
  webhook: 15,
};

const MINUTE = `
import { definePlugin, t } from 'svc';
let begun = 0;
export default definePlugin({ name: 'minute', setup(p) {
  const handle = async (ctx) => {
    begun += 1;
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, 60_000);
      ctx.signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); });
    });
    return 'done';
  };
  const spec = { timeoutMs: 120_000 };
  p.on('message', spec, handle);
  p.command('count', { ...spec, summary: 'Takes a minute', args: { text: t.rest() } }, handle);
  p.gauge('begun', 'Handlers that were called', () => begun);
} });
`;

describe('deliveries over HTTP', { timeout: 900_000 }, () => {
  it('are answered within the time of each platform, while handlers take a minute and more keep coming', async (t) => {
    const oneBot = await FakeOneBot.start(t);
    const sources = [...sourcesOf(await startFakes(t)), oneBotSource(oneBot)];
    assert.deepEqual(sources.map(({ name }) => name).toSorted(), Object.keys(LIMIT_SECONDS));
    const host = await runningHost(t, {
      http: { publicUrl: 'https://bot.example' },
      config: { log_level: 'warn' },
      plugins: {
        ...Object.fromEntries(sources.map(({ name, account }) => [name, { endpoints: [{ id: 'a0', ...account(0) }] }])),
        minute: { use: './plugins/minute.mjs' },
      },
      env: Object.assign({}, ...sources.map(({ env }) => env)) as Record<string, string>,
      sources: { 'minute.mjs': MINUTE },
    });

    await until(async () => (await fetch(`${host.url}pub/ready`)).ok, { what: 'the host to be ready' });

    const port = Number(new URL(host.url).port);
    const atRate = (perSecond: number, seconds: number, from: number): Promise<readonly Found[]> =>
      Promise.all(
        sources.map(async (source) => {
          // The other accounts of the source are not in this host.
          const make = (n: number): Post => deliveryOf(source, (from + n) * ACCOUNTS, PER_SECOND);
          return { name: source.name, ...(await sendAtRate({ port, perSecond, seconds, make })) };
        }),
      );
    // A machine that is shared has enough to do with loading seven clients at once.
    await atRate(WARM_UP, 1, 0);
    const found = await atRate(PER_SECOND, SECONDS, WARM_UP);

    for (const { name, latencies, failed } of found) {
      const longest = Math.max(...latencies);
      assert.deepEqual([...failed], [], `${name}: all are taken`);
      assert.equal(latencies.length, PER_SECOND * SECONDS, name);
      assert.ok(longest < (LIMIT_SECONDS[name] ?? 0) * 1_000, `${name} was answered after ${Math.round(longest)} ms`);
    }
    const { items } = (await host.get('api/inbox?state=done')) as { readonly items: readonly unknown[] };
    assert.deepEqual(items, [], 'no handler had ended');
    const metrics = await (
      await fetch(`${host.url}api/metrics`, { headers: { authorization: `Bearer ${host.project.token}` } })
    ).text();
    const [, begun] = /^svc_plugin_minute_begun\{.*\} (\d+)$/m.exec(metrics) ?? [];
    assert.ok(Number(begun) > sources.length, `${begun} handlers are at work`);
  });
});

function oneBotSource(fake: FakeOneBot): Source {
  const secret = 'the-secret-of-deliveries';
  return {
    name: 'onebot11',
    asksPerSecond: PER_SECOND,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
    account: () => ({ mode: 'http', url: fake.url, accessTokens: ['${ONEBOT_TOKEN}'], secrets: ['${ONEBOT_SECRET}'] }),
    env: { ONEBOT_TOKEN: fake.token, ONEBOT_SECRET: secret },
    post({ text, conversation: user }) {
      const body = JSON.stringify(fake.line(text, { user: 1 + user, push: false }));
      const headers = {
        'content-type': 'application/json',
        'x-self-id': String(fake.bot.self),
        'x-signature': `sha1=${createHmac('sha1', secret).update(body).digest('hex')}`,
      };
      return { path: '/webhooks/onebot11/a0', headers, body };
    },
  };
}
