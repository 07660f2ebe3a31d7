// Bots of Discord at the whole host, over the gateway and over HTTP: taken once, over kills and sessions that are over, from deliveries that come
// only once. The platform's side is the fake that Discord's own clients were tried on.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Json } from '../../support/fake-platforms/discord/world.ts';
import { FakeDiscord } from '../../support/fake-platforms/discord.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const POLL = `import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'poll', setup(p) {
  const vote = p.action('vote', { data: { for: t.string() } }, (ctx, data) => \`voted \${data.for}\`);
  p.command('poll', { summary: 'Asks' }, () => ({ text: 'Tea?', buttons: [vote.button('Yes', { for: 'tea' })] }));
} });
`;

interface Hosted {
  readonly host: RunningHost;
  /** Over the gateway. */
  readonly main: FakeDiscord;
  /** Interactions over HTTP, at another application with the same ids. */
  readonly shop: FakeDiscord;
  readonly url: string;
}

async function hostWithBots(t: TestContext): Promise<Hosted> {
  const [main, shop] = [await FakeDiscord.start(t), await FakeDiscord.start(t)];
  const { application: applicationId } = main.world;
  const host = await runningHost(t, {
    http: { publicUrl: 'https://bot.example' },
    plugins: {
      discord: {
        endpoints: [
          // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
          { id: 'main', token: '${MAIN_TOKEN}', applicationId, apiUrl: main.apiUrl },
          {
            id: 'shop',
            mode: 'interactions',
            // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
            token: '${SHOP_TOKEN}',
            applicationId,
            publicKeys: ['ab'.repeat(32), shop.publicKey],
            apiUrl: shop.apiUrl,
          },
        ],
      },
      echo: {},
      poll: { use: './plugins/poll.js' },
    },
    env: { MAIN_TOKEN: main.token, SHOP_TOKEN: shop.token },
    sources: { 'poll.js': POLL },
  });
  shop.reach = (url) => url.replace('https://bot.example/', host.url);
  return { host, main, shop, url: `${host.url}webhooks/discord/shop` };
}

interface Shown {
  readonly name: string;
  readonly state: string;
}
const stateOf = async (host: RunningHost, name: string): Promise<unknown> =>
  ((await host.get('api/endpoints')) as { readonly endpoints: readonly Shown[] }).endpoints.find(
    (one) => one.name === name,
  );
const is = (host: RunningHost, name: string, state: string): Promise<unknown> =>
  until(async () => ((await stateOf(host, name)) as Shown).state === state, { what: `${name} to be ${state}` });
const echo = (text: string): Json => ({ type: 1, name: 'echo', options: [{ type: 3, name: 'text', value: text }] });

/** Answers that show more than once. */
const doubled = ({ world }: FakeDiscord): readonly string[] =>
  world.said().filter((text, at, all) => all.indexOf(text) !== at);

describe('discord at the whole host', { timeout: 590_000 }, () => {
  it('answers each message of the gateway once, over kills at any moment, though each is told only once', async (t) => {
    const { host, main } = await hostWithBots(t);
    await is(host, 'discord~main', 'online');
    const texts: string[] = [];

    for (const round of [1, 2, 3]) {
      for (let n = 0; n < 6; n += 1) {
        const text = `line-${round}-${n}`;
        texts.push(text);
        main.says(`/echo ${text}`, { channel: main.world.addChannel(main.world.snowflake()).id });
      }
      await until(() => main.world.said().some((text) => text.startsWith(`line-${round}`)), {
        what: 'an answer',
        everyMs: 1,
      });
      await host.stop('SIGKILL');
      texts.push(`down-${round}`);
      main.says(`/echo down-${round}`);
      await host.start();
    }
    await until(() => texts.every((text) => main.world.said().includes(text)), { what: 'an answer to each' });

    assert.deepEqual(doubled(main), []);
    assert.equal(main.gateway.identifies, 1, 'each process has resumed the session of the one before it');
    assert.ok(!host.output().includes(main.token));
  });

  it('shows a post once whose answer was lost in a kill', async (t) => {
    const { host, main } = await hostWithBots(t);
    await is(host, 'discord~main', 'online');
    main.next(/^POST .*\/messages$/, 'hold');

    main.says('/echo once');
    await until(() => main.held === 1, { what: 'the post' });
    await host.stop('SIGKILL');
    await host.start();
    main.says('/echo after');
    await until(() => main.world.said().includes('after'), { what: 'the next answer' });

    const posts = main.requests.filter(
      ({ method, path, body }) => method === 'POST' && path.endsWith('/messages') && body['content'] === 'once',
    );
    assert.deepEqual(main.world.said(), ['once', 'after']);
    assert.equal(posts.length, 2, 'it was sent again');
  });

  it('answers what was said while no session could tell of it, once', async (t) => {
    const { host, main } = await hostWithBots(t);
    const dm = main.world.privateChannel('80351110224678912');
    await is(host, 'discord~main', 'online');
    main.says('/echo before', { channel: dm.id });
    await until(() => main.world.said().includes('before'), { what: 'the first answer' });

    await host.stop('SIGKILL');
    main.gateway.forgetSessions();
    main.says('/echo missed in private', { channel: dm.id });
    main.says('/echo missed');
    await host.start();
    await until(() => main.world.said().length === 3, { what: 'the answers' });
    main.says('/echo after');
    await until(() => main.world.said().includes('after'), { what: 'the last answer' });

    assert.deepEqual(new Set(main.world.said()), new Set(['before', 'missed in private', 'missed', 'after']));
    assert.deepEqual(doubled(main), []);
    assert.equal(main.gateway.identifies, 2);
  });

  it('registers its address and its commands, and answers each interaction that it acknowledged once, over a kill', async (t) => {
    const { host, shop, url } = await hostWithBots(t);
    await is(host, 'discord~shop', 'degraded');
    const registered = await svc(['webhooks', 'register', 'discord~shop', '--project', host.project.path]);
    await is(host, 'discord~shop', 'online');
    const interactions = Array.from({ length: 6 }, (_, n) => {
      const channel = shop.world.addChannel(shop.world.snowflake());
      return shop.interaction(echo(`asked ${n}`), { channel_id: channel.id, channel: { id: channel.id } });
    });

    const answered: string[] = [];
    const sent = interactions.map((interaction, n) =>
      shop.deliver(url, interaction).then(
        ({ ok }) => void (ok && answered.push(`asked ${n}`)),
        () => {},
      ),
    );
    await until(() => answered.length > 0, { what: 'an acknowledgement', everyMs: 1 });
    await host.stop('SIGKILL');
    await Promise.all(sent);
    await host.start();
    await until(() => answered.every((text) => shop.world.said().includes(text)), { what: 'an answer to each' });
    const again = await shop.deliver(url, interactions[0] ?? {});
    await shop.deliver(url, shop.interaction(echo('last')));
    await until(() => shop.world.said().includes('last'), { what: 'the last answer' });
    await until(() => shop.world.commands.length === 2, { what: 'the commands to be known' });

    assert.equal(registered.code, 0, registered.stderr);
    assert.equal(shop.world.endpointUrl, 'https://bot.example/webhooks/discord/shop');
    assert.deepEqual(new Set(shop.world.commands.map(({ name }) => name)), new Set(['echo', 'poll']));
    assert.deepEqual(await again.json(), { type: 5, data: { flags: 64 } });
    assert.deepEqual(doubled(shop), []);
  });

  it('takes a press of its button, and the same interaction at each of two accounts', async (t) => {
    const { host, main, shop, url } = await hostWithBots(t);
    await is(host, 'discord~main', 'online');
    const command = shop.interaction({ type: 1, name: 'poll' });

    main.gateway.dispatch('INTERACTION_CREATE', command);
    await shop.deliver(url, command);
    await until(() => main.world.said().length === 1 && shop.world.said().length === 1, { what: 'both polls' });
    const [asked] = shop.world.messages;
    const token = /"custom_id":"([^"]+)"/.exec(JSON.stringify(asked?.components))?.[1];
    const press = shop.interaction(
      { component_type: 2, custom_id: token },
      { type: 3, message: shop.world.shown(asked ?? shop.says(''), shop.url) },
    );
    const pressed = [await shop.deliver(url, press), await shop.deliver(url, press)];
    await until(() => shop.world.said().includes('voted tea'), { what: 'the vote' });
    await until(() => shop.world.interactions[0]?.original?.isDeleted, { what: 'the end of thinking' });

    assert.deepEqual(await Promise.all(pressed.map((response) => response.json())), [{ type: 6 }, { type: 6 }]);
    assert.deepEqual(shop.world.said(), ['Tea?', 'voted tea']);
    assert.deepEqual(main.world.said(), ['Tea?']);
  });

  it('answers 401 to what Discord has not signed, stores nothing of it, and PONG to a PING that is signed', async (t) => {
    const { host, shop, url } = await hostWithBots(t);
    const body = JSON.stringify(shop.interaction(echo('x')));
    const now = Math.floor(Date.now() / 1_000);
    const postTo = (headers: Record<string, string>, sent = body): Promise<Response> =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: sent });

    const refused = [
      await postTo({}),
      await postTo(shop.signed(body), `${body}\n`),
      await postTo(shop.signed(body, { at: now - 400 })),
      await postTo(shop.signed(body, { at: now + 400 })),
      await postTo({ authorization: `Bearer ${host.project.token}` }),
      await postTo({ ...shop.signed(body), 'x-signature-ed25519': 'ab'.repeat(64) }, '{"type":1}'),
      await fetch(url.replace('shop', 'main'), { method: 'POST', body }),
    ];
    const stored = ((await host.get('api/inbox')) as { readonly items: readonly unknown[] }).items;
    const pong = await shop.deliver(url, { type: 1, id: '1', application_id: '2' });

    assert.deepEqual(
      refused.map(({ status }) => status),
      [...Array<number>(6).fill(401), 404],
    );
    assert.deepEqual([stored, pong.status, await pong.json()], [[], 200, { type: 1 }]);
  });

  it('fails an account whose token is revoked, with its remedy, does not try again, and serves the other one', async (t) => {
    const { host, main, shop, url } = await hostWithBots(t);
    await is(host, 'discord~main', 'online');
    await until(() => main.world.commands.length === 2, { what: 'the last call of an account that came up' });
    main.gateway.refuses = 4004;
    main.gateway.cut();

    await is(host, 'discord~main', 'failed');
    const calls = main.calls.length;
    await shop.deliver(url, shop.interaction(echo('still here')));
    await until(() => shop.world.said().includes('still here'), { what: 'the answer of the other account' });

    assert.match(JSON.stringify(await stateOf(host, 'discord~main')), /4004[^]*new token/);
    assert.equal(main.calls.length, calls);
  });
});
