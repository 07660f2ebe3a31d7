// Sessions of Koishi's adapter with the fake implementation of OneBot: what it calls over HTTP, what it is told over HTTP, and a WebSocket
// that the implementation opens. A session throws where the bot has not understood.

import { type KoishiBot, koishiBot, seenIn } from '../accounts/koishi-bot.ts';
import { FakeOneBot } from '../fake-platforms/onebot11.ts';
import { until } from '../until.ts';
import { nameOf, type Platform, portOf, refused } from './clients.ts';

const SECRET = 'the secret of deliveries';
const CLIENT = `${nameOf('koishi-plugin-adapter-onebot')} on ${nameOf('koishi')}`;

/** It asks for an extension of one implementation, beside its first question: which of the two comes first is chance. */
const isExtension = (frame: unknown): boolean => /get_guild_service_profile|"retcode":1404/.test(JSON.stringify(frame));

async function says({ bot }: KoishiBot): Promise<void> {
  const [id = ''] = await bot.sendMessage(
    '7',
    '<at id="5"/> hello <face id="14"/><img src="data:image/png;base64,YWJj"/>',
  );
  await bot.sendPrivateMessage('5', 'hi');
  const { user } = await bot.getMessage('7', id);
  if (user?.id !== bot.selfId) throw new Error('the message is of nobody');
  await bot.deleteMessage('7', id);
  await refused(bot.deleteMessage('7', id));
}

async function hears(
  fake: FakeOneBot,
  { heard }: KoishiBot,
  tell: (event: Readonly<Record<string, unknown>>) => unknown,
): Promise<void> {
  await tell(
    fake.line(
      [
        { type: 'at', data: { qq: '5' } },
        { type: 'text', data: { text: ' a [b] & c' } },
      ],
      { group: 7, push: false },
    ),
  );
  fake.format = 'string';
  await tell(fake.line([{ type: 'text', data: { text: 'plain &' } }], { user: 5, push: false }));
  await tell(
    fake.told({
      post_type: 'notice',
      notice_type: 'group_recall',
      group_id: 7,
      user_id: 5,
      operator_id: 5,
      message_id: 3,
    }),
  );
  await until(() => heard.length === 3, { what: 'the events' });
  const seen = seenIn(heard);
  const expected = [
    ['message-created', '7', '5', '<at id="5"/> a [b] &amp; c'],
    ['message-created', 'private:5', '5', 'plain &amp;'],
    ['message-deleted', '7', '5', undefined],
  ];
  if (JSON.stringify(seen) !== JSON.stringify(expected)) throw new Error(`the bot heard ${JSON.stringify(seen)}`);
}

export const onebot11Http: Platform = {
  client: CLIENT,
  async start(t) {
    const fake = await FakeOneBot.start(t, { takesAnyScheme: true });
    const session = async (address: string): Promise<void> => {
      const endpoint = `http://${address}`;
      const bot = await koishiBot(t, fake.bot.self, { protocol: 'http', endpoint, token: fake.token, secret: SECRET });
      await until(() => bot.isOnline(), { what: 'the bot to know who it is' });
      await says(bot);
    };
    return { port: portOf(fake.url), known: { token: fake.token }, leavesOut: isExtension, session };
  },
};

export const onebot11Posts: Platform = {
  client: CLIENT,
  async start(t) {
    const fake = await FakeOneBot.start(t, { takesAnyScheme: true });
    const way = { protocol: 'http', endpoint: fake.url, token: fake.token, secret: SECRET } as const;
    const bot = await koishiBot(t, fake.bot.self, way);
    const session = async (address: string): Promise<void> => {
      const url = `http://${address}/onebot`;
      await hears(fake, bot, (event) => fake.post(url, event, { secret: SECRET }));
      const { status } = await fake.post(url, fake.line('no', { push: false }), { secret: 'another' });
      if (status !== 403) throw new Error(`a wrong signature was answered ${status}`);
    };
    return { port: portOf(bot.url), known: {}, madeUp: ['x-signature'], session };
  },
};

export const onebot11Reverse: Platform = {
  client: CLIENT,
  async start(t) {
    const fake = await FakeOneBot.start(t);
    const bot = await koishiBot(t, fake.bot.self, { protocol: 'ws-reverse' });
    const session = async (address: string): Promise<void> => {
      const caller = fake.connectTo(`ws://${address}/onebot`);
      await until(() => bot.isOnline(), { what: 'the bot to know who it is' });
      await hears(fake, bot, (event) => fake.push(event));
      await says(bot);
      caller.stop();
    };
    const known = { token: fake.token };
    return { port: portOf(bot.url), known, madeUp: ['echo'], opener: 'platform', leavesOut: isExtension, session };
  },
};
