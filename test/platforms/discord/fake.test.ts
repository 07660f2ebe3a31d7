// The fake Discord, driven by Discord's own clients: @discordjs/rest over its API, @discordjs/ws over its gateway, discord-interactions over
// what it signs.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { DiscordAPIError, RateLimitError, REST } from '@discordjs/rest';
import { type SessionInfo, WebSocketManager, WebSocketShardEvents } from '@discordjs/ws';
import {
  type APIMessage,
  GatewayIntentBits,
  type RESTPostAPIChannelMessageJSONBody,
  Routes,
} from 'discord-api-types/v10';
import { verifyKey } from 'discord-interactions';
import { FakeDiscord } from '../../support/fake-platforms/discord.ts';
import { until } from '../../support/until.ts';

const restOf = ({ apiUrl, token }: FakeDiscord, more: ConstructorParameters<typeof REST>[0] = {}): REST =>
  new REST({ api: apiUrl, retries: 0, ...more }).setToken(token);

async function post(rest: REST, channel: string, body: RESTPostAPIChannelMessageJSONBody): Promise<APIMessage> {
  return (await rest.post(Routes.channelMessages(channel), { body })) as APIMessage;
}

interface Gateway {
  readonly manager: WebSocketManager;
  readonly heard: { readonly t: string; readonly s: number; readonly d: object }[];
  readonly ups: string[];
  session: SessionInfo | null;
}

/** The clients end before the platform does: one that is left alone comes back without end. */
async function start(
  t: TestContext,
): Promise<{ readonly platform: FakeDiscord; readonly managers: WebSocketManager[] }> {
  const managers: WebSocketManager[] = [];
  t.after(() => Promise.all(managers.map(async (manager) => manager.destroy())));
  return { platform: await FakeDiscord.start(t), managers };
}

function gatewayOf(
  { platform, managers }: Awaited<ReturnType<typeof start>>,
  intents = GatewayIntentBits.GuildMessages,
): Gateway {
  const manager = new WebSocketManager({
    token: platform.token,
    intents,
    rest: restOf(platform),
    retrieveSessionInfo: () => gateway.session,
    updateSessionInfo: (_, session) => {
      gateway.session = session;
    },
  });
  const gateway: Gateway = { manager, heard: [], ups: [], session: null };
  manager.on(
    WebSocketShardEvents.Dispatch,
    ({ t: type, s, d }) => void gateway.heard.push({ t: type, s, d: d as object }),
  );
  manager.on(WebSocketShardEvents.Ready, () => void gateway.ups.push('ready'));
  manager.on(WebSocketShardEvents.Resumed, () => void gateway.ups.push('resumed'));
  manager.on(WebSocketShardEvents.Error, ({ message }) => void gateway.ups.push(message));
  manager.on(WebSocketShardEvents.SocketError, () => {});
  managers.push(manager);
  return gateway;
}

const textsOf = ({ heard }: Gateway): readonly unknown[] =>
  heard.filter(({ t }) => t === 'MESSAGE_CREATE').map(({ d }) => (d as { readonly content: string }).content);

describe('the API of the fake, over the client of Discord', () => {
  it('takes messages, and the same nonce once', async (t) => {
    const platform = await FakeDiscord.start(t);
    const { channel } = platform.world;
    const rest = restOf(platform);

    const first = await post(rest, channel, { content: 'hi', nonce: 'n1', enforce_nonce: true });
    const again = await post(rest, channel, { content: 'hi', nonce: 'n1', enforce_nonce: true });
    await rest.patch(Routes.channelMessage(channel, first.id), { body: { content: 'changed' } });
    await rest.put(Routes.channelMessageOwnReaction(channel, first.id, encodeURIComponent('👍')));
    const [shown] = (await rest.get(Routes.channelMessages(channel))) as readonly APIMessage[];
    await rest.delete(Routes.channelMessage(channel, first.id));

    assert.deepEqual([again.id, shown?.content, shown?.author.id], [first.id, 'changed', platform.world.bot.id]);
    assert.equal(platform.world.messages.length, 0);
  });

  it('refuses by the codes of Discord, with the field', async (t) => {
    const platform = await FakeDiscord.start(t);
    const { channel } = platform.world;
    const rest = restOf(platform);
    const codeOf = (call: Promise<unknown>): Promise<unknown> =>
      call.then(
        () => 'taken',
        (error: unknown) => (error instanceof DiscordAPIError ? [error.status, error.code] : error),
      );

    const codes = [
      await codeOf(post(rest, channel, { content: 'x'.repeat(2_001) })),
      await codeOf(post(rest, channel, { content: '' })),
      await codeOf(post(rest, '645027906669510000', { content: 'x' })),
      await codeOf(rest.get(Routes.channelMessage(channel, '645027906669510001'))),
      await codeOf(restOf(platform).setToken('another').get(Routes.currentApplication())),
    ];
    const words = await post(rest, channel, { content: 'x'.repeat(2_001) }).catch(String);

    assert.deepEqual(codes, [
      [400, 50_035],
      [400, 50_006],
      [404, 10_003],
      [404, 10_008],
      [401, 0],
    ]);
    assert.match(String(words), /content\[BASE_TYPE_MAX_LENGTH\]: Must be 2000 or fewer/);
  });

  it('limits the messages of a channel as the client understands it', async (t) => {
    const platform = await FakeDiscord.start(t);
    const { channel } = platform.world;
    platform.limit = { calls: 2, perMs: 10_000 }; // the client leaves a timer of that length behind
    const rest = restOf(platform, { rejectOnRateLimit: () => true });

    for (const content of ['one', 'two']) await post(rest, channel, { content });
    const known = platform.calls.length;
    await assert.rejects(post(rest, channel, { content: 'three' }), RateLimitError);
    const asked = platform.calls.length;
    await assert.rejects(
      post(restOf(platform, { rejectOnRateLimit: () => true }), channel, { content: 'three' }),
      RateLimitError,
    );

    assert.equal(asked, known, 'a client that knows the bucket does not ask');
    assert.equal(platform.calls.length, known + 1, 'one that does not is told');
  });

  it('takes files with a message, and gives them back', async (t) => {
    const platform = await FakeDiscord.start(t);
    const { channel } = platform.world;
    const rest = restOf(platform);

    const sent = (await rest.post(Routes.channelMessages(channel), {
      body: { content: 'look' },
      files: [{ name: 'a.txt', data: Buffer.from('bytes'), contentType: 'text/plain' }],
    })) as APIMessage;
    const [file] = sent.attachments;
    const bytes = await (await fetch(file?.url ?? '')).text();

    assert.deepEqual([file?.filename, file?.size, bytes], ['a.txt', 5, 'bytes']);
  });
});

describe('the gateway of the fake, over the client of Discord', () => {
  it('identifies, tells what is said, and acknowledges heartbeats', async (t) => {
    const started = await start(t);
    const { platform } = started;
    platform.gateway.heartbeatMs = 1_000;
    const gateway = gatewayOf(started);
    let beats = 0;
    gateway.manager.on(WebSocketShardEvents.HeartbeatComplete, () => void (beats += 1));

    await gateway.manager.connect();
    platform.says('hello');
    await until(() => textsOf(gateway).length === 1 && beats > 0, { what: 'a message and a heartbeat' });

    assert.deepEqual(
      gateway.heard.map(({ t: type, s }) => [type, s]),
      [
        ['READY', 1],
        ['GUILD_CREATE', 2],
        ['MESSAGE_CREATE', 3],
      ],
    );
    assert.equal(gateway.session?.sequence, 3);
  });

  it('tells each of several connections what is said in its servers, and the first one what is said in private', async (t) => {
    const started = await start(t);
    const { platform } = started;
    const { world } = platform;
    platform.gateway.shards = 2;
    platform.gateway.concurrency = 2;
    const other = world.addServer((BigInt(world.guild) + (1n << 22n)).toString());
    const gateway = gatewayOf(started, GatewayIntentBits.GuildMessages | GatewayIntentBits.DirectMessages);
    const heard: [shard: number, text: string][] = [];
    gateway.manager.on(WebSocketShardEvents.Dispatch, ({ t: type, d }, shard) => {
      if (String(type) === 'MESSAGE_CREATE') heard.push([shard, (d as { readonly content: string }).content]);
    });

    await gateway.manager.connect();
    platform.says('here');
    platform.says('there', { channel: other.id });
    platform.says('in private', { channel: world.privateChannel(world.owner).id });
    await until(() => heard.length === 3, { what: 'three messages' });

    assert.deepEqual(
      heard.toSorted(([, a], [, b]) => (a < b ? -1 : 1)),
      [
        [1, 'here'],
        [0, 'in private'],
        [0, 'there'],
      ],
    );
    assert.equal(gateway.ups.length, 2);
  });

  it('replays to a session that is resumed, after a cut and when it asks to come again', async (t) => {
    const started = await start(t);
    const { platform } = started;
    const gateway = gatewayOf(started);
    await gateway.manager.connect();

    platform.gateway.closeWith(4000);
    await until(() => platform.gateway.connections === 0, { what: 'the socket to be closed' });
    platform.says('missed');
    await until(() => textsOf(gateway).length === 1, { what: 'the replay' });
    platform.gateway.askToReconnect();
    await until(() => gateway.ups.length === 3, { what: 'another resume' });
    platform.says('last');
    await until(() => textsOf(gateway).length === 2, { what: 'the last message' });

    assert.deepEqual(
      [gateway.ups, textsOf(gateway)],
      [
        ['ready', 'resumed', 'resumed'],
        ['missed', 'last'],
      ],
    );
  });

  it('takes no session that is over, and a new one is told what is said from then on', async (t) => {
    const started = await start(t);
    const { platform } = started;
    const gateway = gatewayOf(started);
    await gateway.manager.connect();

    platform.gateway.forgetSessions();
    platform.gateway.closeWith(4000);
    await until(() => gateway.ups.length === 2, { what: 'another session' });
    platform.says('new');
    await until(() => textsOf(gateway).length === 1, { what: 'the message' });

    assert.deepEqual(gateway.ups, ['ready', 'ready']);
    assert.equal(platform.gateway.resumes, 1);
  });

  for (const [what, refusal] of [
    ['a wrong token', { token: 'another', message: 'Authentication failed' }],
    ['an intent that is not switched on', { privileged: 0, message: 'Used disallowed intents' }],
  ] as const)
    it(`refuses ${what} for good`, async (t) => {
      const { platform, managers } = await start(t);
      if ('privileged' in refusal) platform.gateway.privileged = refusal.privileged;
      const said: string[] = [];
      const manager = new WebSocketManager({
        token: 'token' in refusal ? refusal.token : platform.token,
        intents: GatewayIntentBits.MessageContent,
        rest: restOf(platform),
      });
      manager.on(WebSocketShardEvents.Error, ({ message }) => void said.push(message));
      managers.push(manager);

      void manager.connect().catch(() => {});
      await until(() => said.length > 0, { what: 'the refusal' });

      assert.deepEqual(said, [refusal.message]);
    });
});

it('the interactions of the fake are signed as discord-interactions verifies them', async (t) => {
  const platform = await FakeDiscord.start(t);
  const body = JSON.stringify(platform.interaction({ name: 'ping', type: 1 }));
  const { 'x-signature-ed25519': signature = '', 'x-signature-timestamp': at = '' } = platform.signed(body);

  const verdicts = [
    await verifyKey(body, signature, at, platform.publicKey),
    await verifyKey(`${body} `, signature, at, platform.publicKey),
    await verifyKey(body, signature, `${Number(at) + 1}`, platform.publicKey),
  ];

  assert.deepEqual(verdicts, [true, false, false]);
});
