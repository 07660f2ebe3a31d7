// Bots over OneBot 11 at the whole host, in all three ways of connection: answered once, over kills and restarts; refused by HTTP before a
// WebSocket opens; disabled and enabled. The implementation's side is the fake that an SDK of NapCat was tried on.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { FakeOneBot } from '../../support/fake-platforms/onebot11.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { deliverOverKills, KILLS } from '../../support/process/kill-rounds.ts';
import { svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const SECRET = 'the-secret-of-deliveries';
const [MAIN, BACK, POST] = ['onebot11~main', 'onebot11~back', 'onebot11~post'] as const;

/** Three implementations, all of the same bot: their ids are the same, and mean something else. */
async function hostWithBots(t: TestContext) {
  const [main, back, post] = [
    await FakeOneBot.start(t, { token: 'token-of-main' }),
    await FakeOneBot.start(t, { token: 'token-of-back' }),
    await FakeOneBot.start(t, { token: 'token-of-post' }),
  ];
  const common = { perSecond: 100 };
  const endpoints = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
    { ...common, id: 'main', url: main.wsUrl, accessTokens: ['${MAIN_TOKEN}'], catchUp: true },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
    { ...common, id: 'back', mode: 'reverse', accessTokens: ['${OLD_TOKEN}', '${BACK_TOKEN}'], selfId: '10001000' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
    {
      ...common,
      id: 'post',
      mode: 'http',
      url: post.url,
      accessTokens: ['${POST_TOKEN}'],
      secrets: ['${POST_SECRET}'],
    },
  ];
  const host = await runningHost(t, {
    http: { publicUrl: 'https://bot.example' },
    plugins: { onebot11: { endpoints }, echo: {} },
    env: {
      MAIN_TOKEN: main.token,
      BACK_TOKEN: back.token,
      OLD_TOKEN: 'token-of-before',
      POST_TOKEN: post.token,
      POST_SECRET: SECRET,
    },
  });
  const reverseUrl = `${host.url.replace('http', 'ws')}webhooks/onebot11/back`;
  const deliver = (event: object): Promise<Response> =>
    post.post(`${host.url}webhooks/onebot11/post`, event as Readonly<Record<string, unknown>>, { secret: SECRET });
  return { main, back, post, host, reverseUrl, deliver };
}

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly lastError: { readonly reason?: string; readonly remedy?: string } | null;
}
const endpoint = async (host: RunningHost, name: string): Promise<Shown | undefined> =>
  ((await host.get('api/endpoints')) as { readonly endpoints: readonly Shown[] }).endpoints.find(
    (one) => one.name === name,
  );
const isState = (host: RunningHost, name: string, state: string): Promise<unknown> =>
  until(async () => (await endpoint(host, name))?.state === state, {
    what: `${name} to be ${state}`,
  });
/** The host knows that so many answers were taken: a kill from here on repeats none of them. */
const areSent = (host: RunningHost, count: number): Promise<unknown> =>
  until(
    async () => {
      const { items } = (await host.get('api/outbox')) as { readonly items: readonly { readonly state: string }[] };
      return items.filter(({ state }) => state === 'sent').length >= count;
    },
    { what: `${count} answers to be sent` },
  );
const mostTimes = (texts: readonly string[]): number =>
  Math.max(...texts.map((text) => texts.filter((other) => other === text).length));

describe('OneBot at the whole host', { timeout: 600_000 }, () => {
  it('answers in each of the three ways, with the same ids at all of them, once, also after a kill', async (t) => {
    const { main, back, post, host, reverseUrl, deliver } = await hostWithBots(t);
    back.connectTo(reverseUrl);
    for (const name of [MAIN, BACK, POST]) await isState(host, name, 'online');

    main.line('/echo one', { group: 7, time: 1_700_000_000 });
    back.line('/echo one', { group: 7, time: 1_700_000_000 });
    const event = post.line('/echo one', { group: 7, time: 1_700_000_000, push: false });
    const first = await deliver(event);
    for (const fake of [main, back, post])
      await until(() => fake.bot.texts(7).length === 1, { what: 'an answer of each' });
    await areSent(host, 3);
    await host.stop('SIGKILL');
    await host.start();
    const again = await deliver(event);
    for (const name of [MAIN, BACK, POST]) await isState(host, name, 'online');
    main.push(main.bot.event(main.bot.messages[0] ?? assert.fail()));
    for (const fake of [main, back]) fake.line('/echo two', { user: 5 });
    await deliver(post.line('/echo two', { user: 5, push: false }));
    for (const fake of [main, back, post])
      await until(() => fake.bot.texts().includes('two'), { what: 'the second answer' });

    assert.deepEqual([first.status, await first.text(), again.status, await again.text()], [204, '', 204, '']);
    for (const fake of [main, back, post]) assert.deepEqual(fake.bot.texts(), ['one', 'two']);
    for (const hidden of ['token-of-main', 'token-of-back', 'token-of-post', SECRET])
      assert.ok(!host.output().includes(hidden));
  });

  it('takes an event over HTTP that is as large as one over a WebSocket may be', async (t) => {
    const { post, deliver } = await hostWithBots(t);

    const { status } = await deliver(post.line(`look ${'x'.repeat(3_000_000)}`, { user: 5, push: false }));

    assert.equal(status, 204);
  });

  it('answers each delivery that was acknowledged before a kill, though none comes again', async (t) => {
    const { post, host, deliver } = await hostWithBots(t);
    await isState(host, POST, 'online');
    const acknowledged = await deliverOverKills(host, (text, group) =>
      deliver(post.line(`/echo ${text}`, { group, push: false })),
    );
    await until(() => acknowledged.every((text) => post.bot.texts().includes(text)), { what: 'an answer to each' });

    // OneBot knows no keys: an answer whose result a kill took is said again, in each conversation once a kill.
    assert.ok(mostTimes(post.bot.texts()) <= 1 + KILLS);
    const repeats = post.bot.texts().length - new Set(post.bot.texts()).size;
    assert.ok(repeats <= 6 * KILLS, `${repeats} repeats`);
  });

  it('answers events that were stored before a kill once, and reads what was said meanwhile from the history', async (t) => {
    const { main, back, host, reverseUrl } = await hostWithBots(t);
    back.connectTo(reverseUrl);
    for (const name of [MAIN, BACK]) await isState(host, name, 'online');
    for (const fake of [main, back]) fake.line('/echo before', { group: 7 });
    for (const fake of [main, back]) await until(() => fake.bot.texts(7).length === 1, { what: 'the first answer' });
    await areSent(host, 2);

    // Until the kill the implementations say that their own wait ran out; none of these tries was made.
    const timeout = { status: 'failed', retcode: 1200, data: null, message: 'Timeout' } as const;
    for (const fake of [main, back]) {
      fake.next('send_group_msg', ...Array.from({ length: 100 }, () => timeout));
      fake.line('/echo stored', { group: 7 });
    }
    for (const fake of [main, back])
      await until(() => fake.called('send_group_msg').length >= 2, { what: 'the answer to be tried' });
    await host.stop('SIGKILL');
    for (const fake of [main, back]) fake.calm();
    main.line('/echo missed', { group: 7, push: false });
    await host.start();
    await until(() => main.bot.texts(7).includes('missed'), { what: 'the missed answer' });
    await isState(host, BACK, 'online');
    for (const fake of [main, back]) fake.line('/echo live', { group: 7 });
    for (const fake of [main, back]) await until(() => fake.bot.texts(7).includes('live'), { what: 'the live answer' });

    assert.deepEqual(main.bot.texts(7), ['before', 'stored', 'missed', 'live']);
    assert.deepEqual(back.bot.texts(7), ['before', 'stored', 'live']);
  });

  it('refuses WebSockets before they open, takes each token, and comes back after a kill, a disable and a stop', async (t) => {
    const { back, host, reverseUrl } = await hostWithBots(t);
    const cwd = host.project.path;
    const statusOf = async (options: Parameters<FakeOneBot['connectTo']>[1]): Promise<number | undefined> => {
      const count = back.handshakes.length;
      const caller = back.connectTo(reverseUrl, { againMs: 600_000, ...options });
      await until(() => back.handshakes.length > count, { what: 'the answer' });
      caller.stop();
      return back.handshakes[count];
    };
    assert.deepEqual(
      [
        await statusOf({ token: 'wrong' }),
        await statusOf({ token: host.project.token }),
        await statusOf({ headers: { 'x-self-id': '42' } }),
        await statusOf({ headers: { 'x-client-role': 'Admin' } }),
      ],
      [401, 401, 403, 403],
    );
    assert.equal((await endpoint(host, BACK))?.state, 'connecting');
    assert.equal(
      (await svc(['webhooks', 'url', BACK], { cwd })).stdout,
      'https://bot.example/webhooks/onebot11/back\n',
    );

    const caller = back.connectTo(reverseUrl, { token: 'token-of-before', role: 'Universal' });
    await isState(host, BACK, 'online');
    await host.stop('SIGKILL');
    await host.start();
    await isState(host, BACK, 'online');
    assert.equal((await svc(['endpoints', 'disable', BACK], { cwd })).code, 0);
    await until(() => !caller.isOpen && back.handshakes.at(-1) === 503, {
      what: 'the socket to be closed and refused',
    });
    assert.equal((await svc(['endpoints', 'enable', BACK], { cwd })).code, 0);
    await isState(host, BACK, 'online');
    back.line('/echo hello', { user: 5 });
    await until(() => back.bot.texts().includes('hello'), { what: 'the answer' });

    // A reload leaves the connection of an account that did not change; a token that was taken out ends it, and is refused.
    assert.equal((await svc(['runtime', 'reload'], { cwd })).code, 0);
    assert.equal(caller.isOpen, true);
    host.project.write('.env', host.project.read('.env').replace('token-of-before', 'token-of-tomorrow'));
    assert.equal((await svc(['runtime', 'reload'], { cwd })).code, 0);
    await until(() => !caller.isOpen && back.handshakes.at(-1) === 401, { what: 'the old token to be refused' });
    caller.stop();
    back.connectTo(reverseUrl);
    await isState(host, BACK, 'online');
    await host.stop();
    await until(() => back.listeners === 0, { what: 'the socket to be closed' });
    assert.doesNotMatch(host.output(), /did not end within/);
  });

  it('fails an account whose token is refused, with its remedy, is degraded where it is not well, and comes back when it was cut', async (t) => {
    const { main, host, post } = await hostWithBots(t);
    await isState(host, MAIN, 'online');
    await isState(host, POST, 'online');
    post.next('send_group_msg', { http: 403 });
    await post.post(`${host.url}webhooks/onebot11/post`, post.line('/echo x', { group: 7, push: false }), {
      secret: SECRET,
    });
    await isState(host, POST, 'failed');
    const failed = await endpoint(host, POST);
    assert.match(failed?.lastError?.reason ?? '', /403/);
    assert.match(failed?.lastError?.remedy ?? '', /accessTokens/);

    main.bot.status.good = false;
    main.heartbeat(600_000);
    await isState(host, MAIN, 'degraded');
    main.line('/echo all the same', { group: 7 });
    await until(() => main.bot.texts(7).includes('all the same'), { what: 'the answer' });
    main.bot.status.good = true;
    main.heartbeat(600_000);
    await isState(host, MAIN, 'online');
    main.cut();
    await until(
      async () => {
        const shown = await endpoint(host, MAIN);
        return shown?.state === 'online' && /connection was lost/.test(shown.lastError?.reason ?? '');
      },
      { what: 'the account to come back' },
    );
    main.line('/echo back again', { group: 7 });
    await until(() => main.bot.texts(7).includes('back again'), { what: 'the answer' });
  });
});
