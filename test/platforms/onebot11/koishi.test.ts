// The fake implementation of OneBot over HTTP and over a WebSocket that it opens, driven by Koishi's adapter, which nobody here wrote: what
// that calls is understood, and what is posted and pushed is what it expects.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type KoishiBot, koishiBot, seenIn } from '../../support/accounts/koishi-bot.ts';
import { FakeOneBot } from '../../support/fake-platforms/onebot11.ts';
import { until } from '../../support/until.ts';

const SECRET = 'the secret of deliveries';
type Way = 'http' | 'ws-reverse';

interface Both extends KoishiBot {
  readonly fake: FakeOneBot;
  /** Something happens. */
  tell(event: Readonly<Record<string, unknown>>): unknown;
}

async function start(t: TestContext, way: Way, token?: string): Promise<Both> {
  const fake = await FakeOneBot.start(t, { takesAnyScheme: true });
  const of = { endpoint: fake.url, token: token ?? fake.token, secret: SECRET };
  const bot = await koishiBot(t, fake.bot.self, way === 'http' ? { protocol: way, ...of } : { protocol: way });
  if (way === 'ws-reverse') fake.connectTo(bot.url);
  const tell: Both['tell'] = (event) =>
    way === 'http' ? fake.post(bot.url, event, { secret: SECRET }) : fake.push(event);
  return { ...bot, fake, tell };
}

async function online(t: TestContext, way: Way): Promise<Both> {
  const both = await start(t, way);
  await until(() => both.isOnline(), { what: 'the bot to know who it is' });
  return both;
}

for (const way of ['http', 'ws-reverse'] as const)
  describe(`the fake OneBot, to Koishi's adapter by ${way}`, () => {
    it('takes messages with mentions, answers and pictures, and gives and removes them', async (t) => {
      const { bot, fake } = await online(t, way);

      const [id = ''] = await bot.sendMessage('7', '<at id="5"/> hello');
      const picture = '<quote id="1001"/>look<img src="data:image/png;base64,YWJj"/>';
      await bot.sendMessage('7', picture);
      await bot.sendPrivateMessage('5', 'hi');
      const { content, user } = await bot.getMessage('7', id);
      const [said, answer] = fake.bot.messages;
      await bot.deleteMessage('7', id);

      assert.deepEqual([content, user?.id], ['<at id="5"/> hello', bot.selfId]);
      assert.deepEqual([said?.group_id, said?.message.map(({ type }) => type)], [7, ['at', 'text']]);
      assert.deepEqual(
        answer?.message.map(({ type, data }) => [type, data['id'] ?? data['text'] ?? data['file']]),
        [
          ['reply', '1001'],
          ['text', 'look'],
          ['image', 'base64://YWJj'],
        ],
      );
      assert.deepEqual(fake.bot.texts(), ['[reply]look[image]', 'hi']);
      await assert.rejects(bot.deleteMessage('7', id), /1200/);
    });

    it('tells events that the adapter knows: messages in both forms, what was taken back, who asks', async (t) => {
      const { fake, heard, tell } = await online(t, way);

      await tell(fake.line([{ type: 'text', data: { text: 'a [b]' } }], { group: 7, push: false }));
      fake.format = 'string';
      await tell(fake.line([{ type: 'text', data: { text: 'plain &' } }], { user: 5, push: false }));
      const recall = { notice_type: 'group_recall', group_id: 7, user_id: 5, operator_id: 5, message_id: 3 };
      await tell(fake.told({ post_type: 'notice', ...recall }));
      await tell(fake.told({ post_type: 'request', request_type: 'friend', user_id: 9, comment: 'hi', flag: 'f' }));
      await until(() => heard.length === 4, { what: 'the events' });

      assert.deepEqual(seenIn(heard), [
        ['friend-request', 'private:9', '9', 'hi'],
        ['message-created', '7', '5', 'a [b]'],
        ['message-created', 'private:5', '5', 'plain &amp;'],
        ['message-deleted', '7', '5', undefined],
      ]);
    });
  });

describe("the fake OneBot, to Koishi's adapter", () => {
  it('signs what it posts: another secret is not believed', async (t) => {
    const { fake, url, heard } = await online(t, 'http');

    const { status } = await fake.post(url, fake.line('no', { push: false }), { secret: 'another' });

    assert.deepEqual([status, heard.length], [403, 0]);
  });

  it('refuses calls with another token over HTTP', async (t) => {
    const { bot, fake } = await start(t, 'http', 'wrong');

    await assert.rejects(bot.sendPrivateMessage('5', 'hi'), /Forbidden|403/);
    assert.deepEqual([fake.bot.texts(), bot.isActive], [[], false]);
  });

  it('opens its WebSocket again after it was lost', async (t) => {
    const { bot, fake, heard, isOnline } = await online(t, 'ws-reverse');

    fake.cut();
    await until(() => fake.handshakes.length === 2 && isOnline(), { what: 'the bot to be back' });
    fake.line('hello', { user: 5 });
    await until(() => heard.length === 1, { what: 'the line' });
    await bot.sendPrivateMessage('5', 'back');

    assert.deepEqual(fake.bot.texts(), ['back']);
  });
});
