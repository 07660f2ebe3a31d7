// LINE at the whole host, built: taken once, over kills and restarts, from deliveries that come only once, at two accounts.
// The platform's side is the fake that LINE's own client was tried on.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ANN, BEN, GROUP, SIGNED } from '../../support/accounts/line-examples.ts';
import { FakeLine } from '../../support/fake-platforms/line.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { deliverOverKills } from '../../support/process/kill-rounds.ts';
import { svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const POLL = `import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'poll', setup(p) {
  const vote = p.action('vote', { data: { for: t.string() } }, (ctx, data) => \`voted \${data.for}\`);
  p.command('poll', { summary: 'Asks' }, () => ({ text: 'Tea?', buttons: [vote.button('Yes', { for: 'tea' })] }));
  p.on('message', {}, async (ctx, message) => {
    for (const file of message.files) {
      const bytes = await ctx.readFile(file);
      const back = [await ctx.saveFile('back.txt', 'text/plain', bytes), await ctx.saveFile('back.png', 'image/png', Buffer.concat([bytes, bytes]))];
      ctx.reply({ text: \`\${bytes.length} bytes\`, files: back });
    }
  });
} });
`;

describe('line at the whole host', { timeout: 590_000 }, () => {
  it('answers a line, and takes it once, also when it comes again after a kill', async (t) => {
    const { host, line, url } = await hostAt(t);
    const event = line.says('/echo hello', { user: ANN });
    const again = redelivered(event);

    const first = await line.deliver(url, event);
    await isSent(host);
    const second = await line.deliver(url, again);
    await host.stop('SIGKILL');
    await host.start();
    const third = await line.deliver(url, again);
    await line.deliver(url, line.says('/echo again', { user: ANN }));
    await until(() => textsOf(line).includes('again'), { what: 'the second answer' });

    assert.deepEqual(
      [first, second, third].map(({ status }) => status),
      [200, 200, 200],
    );
    assert.deepEqual(textsOf(line), ['hello', 'again']);
  });

  it('takes the same id at each of two accounts, and nothing that the bot said itself', async (t) => {
    const { line, url } = await hostAt(t);
    const other = url.replace('/shop', '/lab');
    const event = line.says('/echo both', { user: ANN });

    const itself = await line.deliver(url, line.says('/echo itself', { user: line.channel.bot }));
    const foreign = await line.deliver(other, event);
    const taken = [await line.deliver(url, event), await line.deliver(other, event, { secret: SIGNED.secret })];
    await until(() => textsOf(line).length === 2, { what: 'an answer of each account' });

    assert.deepEqual(
      [itself, foreign, ...taken].map(({ status }) => status),
      [200, 401, 200, 200],
    );
    assert.deepEqual(textsOf(line), ['both', 'both']);
  });

  it('answers each line that was acknowledged before a kill, once, though none comes again', async (t) => {
    const { host, line, url } = await hostAt(t);
    const acknowledged = await deliverOverKills(host, (text, n) =>
      line.deliver(url, line.says(`/echo ${text}`, { user: `U${String(n).padStart(32, '0')}` })),
    );
    await until(() => acknowledged.every((text) => textsOf(line).includes(text)), { what: 'an answer to each' });

    assert.equal(mostTimes(line), 1, 'the retry key lets LINE drop what it had taken before a kill');
  });

  it('sends an answer again whose own answer was lost, and LINE shows it once', async (t) => {
    const { line, url } = await hostAt(t);
    line.next('POST /v2/bot/message/push', 'drop');
    line.next('POST /v2/bot/message/push', { status: 500 });

    await line.deliver(url, line.says('/echo hello', { user: ANN }));
    await line.deliver(url, line.says('/echo after', { user: ANN }));
    await until(() => textsOf(line).includes('after'), { what: 'the answer behind it' });

    assert.deepEqual(textsOf(line), ['hello', 'after']);
    const keys = line.calls.flatMap(({ retryKey }) => retryKey ?? []);
    assert.deepEqual([keys.length >= 4, new Set(keys).size], [true, 2]);
  });

  it('answers 401 to what LINE has not signed, stores nothing of it, and 200 to its empty delivery', async (t) => {
    const { host, line, url } = await hostAt(t);
    const event = line.says('/echo x', { user: ANN });
    const body = JSON.stringify(event);
    const post = (headers: Record<string, string>, sent = body): Promise<Response> =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: sent });

    const refused = [
      await post({}),
      await line.deliver(url, event, { secret: 'another secret' }),
      await post(line.signed(body), `${body}\n`),
      await post({ 'x-line-signature': Buffer.from(line.signed(body)['x-line-signature'] ?? '').toString('hex') }),
      await post({ authorization: `Bearer ${host.project.token}` }),
    ];
    const empty = await line.deliver(url, { destination: line.channel.bot, events: [] });
    const stored = ((await host.get('api/inbox')) as { readonly items: readonly unknown[] }).items;

    assert.deepEqual(
      refused.map(({ status }) => status),
      Array(5).fill(401),
    );
    assert.equal(empty.status, 200);
    assert.deepEqual(stored, []);
  });

  it('takes presses, mentions in groups, and files; gives files back as links, and pictures by them', async (t) => {
    const { host, line, url } = await hostAt(t);
    line.channel.groups.set(GROUP, [ANN, BEN]);
    const source = { type: 'group', groupId: GROUP, userId: ANN };
    const mention = { mentionees: [{ index: 0, length: 4, type: 'user', userId: line.channel.bot, isSelf: true }] };

    await line.deliver(url, line.says('@svc /poll', { user: ANN, group: GROUP, mention }));
    await until(() => line.channel.messages.some(({ type }) => type === 'flex'), { what: 'the buttons' });
    const data = /"data":"([^"]+)"/.exec(JSON.stringify(line.channel.messages.at(-1)?.content))?.[1];
    const press = line.event({ type: 'postback', source, postback: { data } });
    await line.deliver(url, press);
    await line.deliver(url, redelivered(press));
    await until(() => textsOf(line).includes('voted tea'), { what: 'the vote' });
    line.keep('325708', Buffer.from('the bytes'));
    const message = { id: '325708', type: 'file', fileName: 'a.txt', fileSize: 9 };
    await line.deliver(url, line.event({ type: 'message', source: { type: 'user', userId: BEN }, message }));
    await until(() => textsOf(line).some((text) => text.includes('9 bytes')), { what: 'what was in the file' });
    await until(() => /https:\/\/bot\.example\/files\//.test(textsOf(line).join()), { what: 'the link' });

    const link = /https:\/\/bot\.example\/(files\/[^\s)]+)/.exec(textsOf(line).join('\n'))?.[1] ?? '';
    assert.equal(await (await fetch(host.url + link)).text(), 'the bytes');
    const picture = line.channel.messages.find(({ type }) => type === 'image')?.content['originalContentUrl'];
    const shown = await fetch(String(picture).replace('https://bot.example/', host.url));
    assert.deepEqual([shown.headers.get('content-type'), await shown.text()], ['image/png', 'the bytesthe bytes']);
    assert.deepEqual(
      line.channel.messages.filter(({ to }) => to === GROUP).map(({ content }) => content['text']),
      ['Tea?', undefined, 'voted tea'],
    );
  });

  it('is registered by the command, and fails with its remedy when its token is revoked', async (t) => {
    const { host, line, url } = await hostAt(t);
    line.reach = (address) => address.replace('https://bot.example/', host.url);
    await until(async () => (await stateOf(host, 'shop')) === 'degraded', {
      what: 'the account to know no deliveries',
    });

    const registered = await svc(['webhooks', 'register', 'line~shop', '--project', host.project.path]);
    await host.stop('SIGTERM');
    await host.start();
    await until(async () => (await stateOf(host, 'shop')) === 'online', { what: 'the account to be online' });
    line.next('POST /v2/bot/message/push', { status: 401, body: '{"message":"revoked"}' });
    await line.deliver(url, line.says('/echo hello', { user: ANN }));
    await until(async () => (await stateOf(host, 'shop')) === 'failed', { what: 'the account to fail' });

    assert.match(registered.stdout, /LINE delivers there; its test was answered/, registered.stderr);
    assert.equal(line.channel.webhook?.endpoint, 'https://bot.example/webhooks/line/shop');
    assert.match(JSON.stringify(await host.get('api/endpoints')), /revoked[^]*issue a channel access token/);
    assert.doesNotMatch(host.output(), new RegExp([line.token.slice(0, 20), line.secret, SIGNED.secret].join('|')));
  });
});

const textsOf = ({ channel }: FakeLine): readonly string[] =>
  channel.messages.flatMap(({ content }) => (typeof content['text'] === 'string' ? [content['text']] : []));

/** How often the answer that shows most often does. */
const mostTimes = (line: FakeLine): number =>
  Math.max(...textsOf(line).map((text) => textsOf(line).filter((other) => other === text).length));

function redelivered(payload: object): object {
  const { events, ...rest } = payload as { readonly events: readonly object[] };
  return { ...rest, events: events.map((event) => ({ ...event, deliveryContext: { isRedelivery: true } })) };
}

/** The host knows that its answer was taken. */
const isSent = (host: RunningHost): Promise<unknown> =>
  until(
    async () => {
      const { items } = (await host.get('api/outbox')) as { readonly items: readonly { readonly state: string }[] };
      return items.some(({ state }) => state === 'sent');
    },
    { what: 'the answer to be sent' },
  );

async function stateOf(host: RunningHost, account: string): Promise<string | undefined> {
  const { endpoints } = (await host.get('api/endpoints')) as {
    readonly endpoints: readonly { readonly id: string; readonly state: string }[];
  };
  return endpoints.find(({ id }) => id.endsWith(`~${account}`))?.state;
}

/* biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration */
async function hostAt(
  t: TestContext,
): Promise<{ readonly host: RunningHost; readonly line: FakeLine; readonly url: string }> {
  const line = await FakeLine.start(t);
  const common = { channelAccessToken: '${LINE_TOKEN}', apiUrl: line.url, dataApiUrl: line.url };
  const host = await runningHost(t, {
    plugins: {
      line: {
        endpoints: [
          { id: 'shop', ...common, channelSecrets: ['${OLD_SECRET}', '${SHOP_SECRET}'] },
          { id: 'lab', ...common, channelSecrets: ['${LAB_SECRET}'] },
        ],
      },
      echo: {},
      poll: { use: './plugins/poll.js' },
    },
    http: { publicUrl: 'https://bot.example' },
    env: { LINE_TOKEN: line.token, OLD_SECRET: 'an-older-secret', SHOP_SECRET: line.secret, LAB_SECRET: SIGNED.secret },
    sources: { 'poll.js': POLL },
  });
  return { host, line, url: `${host.url}webhooks/line/shop` };
}
/* biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration */
