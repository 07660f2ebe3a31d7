// The fake Bot API server, driven by grammY itself as its authors use it: what holds here does not come from our own adapter.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Api, Bot, GrammyError, InlineKeyboard, InputFile } from 'grammy';
import { FakeTelegram } from '../../support/fake-platforms/telegram.ts';
import { until } from '../../support/until.ts';

const ANN = { id: 5, is_bot: false, first_name: 'Ann' };
const CHAT = { id: 5, type: 'private', first_name: 'Ann' };
const message = (text: string, more: object = {}) => ({
  message: { message_id: 1, date: 1, chat: CHAT, from: ANN, text, ...more },
});

describe('the fake Telegram, driven by grammY', { timeout: 590_000 }, () => {
  it('serves a bot: polls, commands, answers, buttons; confirms by offset', async (t) => {
    const telegram = await new FakeTelegram().listen(t);
    const token = telegram.bot(42, 'svc_bot');
    const bot = new Bot(token, { client: { apiRoot: telegram.url } });
    bot.command('start', (ctx) =>
      ctx.reply('<b>Hi</b> &amp; welcome', { parse_mode: 'HTML', reply_markup: new InlineKeyboard().text('Yes', 'y') }),
    );
    bot.callbackQuery('y', async (ctx) => {
      await ctx.answerCallbackQuery();
      await ctx.editMessageText('Done');
    });
    telegram.happens(token, message('/start', { entities: [{ type: 'bot_command', offset: 0, length: 6 }] }));
    const running = bot.start({ drop_pending_updates: false });

    const sent = await until(() => telegram.messages(5)[0], { what: 'the answer' });
    assert.deepEqual([sent.text, sent.buttons[0]?.callback_data], ['Hi & welcome', 'y']);
    const pressed = { ...CHAT, message_id: sent.message_id };
    telegram.happens(token, {
      callback_query: {
        id: 'q1',
        from: ANN,
        chat_instance: 'c',
        data: 'y',
        message: { message_id: sent.message_id, date: 1, chat: pressed },
      },
    });
    await until(() => telegram.messages(5)[0]?.text === 'Done', { what: 'the edit' });
    assert.deepEqual(telegram.chats.answered, ['q1']);
    await until(() => telegram.confirmed(token).length === 2, { what: 'the confirmation' });
    assert.deepEqual(telegram.confirmed(token), [10_000, 10_001]);
    await bot.stop();
    await running;
  });

  it('refuses as documented: bad token, second poll, webhook against polling, HTML, length', async (t) => {
    const telegram = await new FakeTelegram().listen(t);
    const token = telegram.bot(42, 'svc_bot');
    const options = { apiRoot: telegram.url };
    const api = new Api(token, options);
    const code = (wanted: number, text: RegExp) => (error: unknown) =>
      error instanceof GrammyError && error.error_code === wanted && text.test(error.description);

    await assert.rejects(new Api('42:wrong', options).getMe(), code(401, /Unauthorized/));
    await assert.rejects(new Api('nonsense', options).getMe(), code(404, /Not Found/));
    const first = api.getUpdates({ timeout: 40 });
    first.catch(() => {});
    await until(() => telegram.isPolled(token), { what: 'the first poll' });
    const second = api.getUpdates({ timeout: 40 });
    await assert.rejects(first, code(409, /terminated by other getUpdates/));
    telegram.happens(token, message('x'));
    assert.equal((await second).length, 1);
    await api.setWebhook('https://bot.example/x', { secret_token: 's' });
    await assert.rejects(api.getUpdates(), code(409, /webhook is active/));
    assert.deepEqual((await api.getWebhookInfo()).pending_update_count, 1);
    await api.deleteWebhook();
    await assert.rejects(api.sendMessage(5, 'a < b', { parse_mode: 'HTML' }), code(400, /can't parse entities/));
    await assert.rejects(api.sendMessage(5, 'x'.repeat(4_097)), code(400, /too long/));
    await assert.rejects(api.sendMessage(5, ' '), code(400, /empty/));
    telegram.next('sendMessage', {
      status: 429,
      body: {
        ok: false,
        error_code: 429,
        description: 'Too Many Requests: retry after 3',
        parameters: { retry_after: 3 },
      },
    });
    await assert.rejects(
      api.sendMessage(5, 'x'),
      (error) => error instanceof GrammyError && error.parameters.retry_after === 3,
    );
  });

  it('takes and gives files, reactions, removals and the menu', async (t) => {
    const telegram = await new FakeTelegram().listen(t);
    const token = telegram.bot(42, 'svc_bot');
    const api = new Api(token, { apiRoot: telegram.url });

    const sent = await api.sendDocument(5, new InputFile(Buffer.from('bytes'), 'a.txt'), { caption: 'here' });
    await api.sendMediaGroup(5, [
      { type: 'document', media: new InputFile(Buffer.from('one'), '1.txt') },
      { type: 'document', media: new InputFile(Buffer.from('two'), '2.txt') },
    ]);
    await api.setMessageReaction(5, sent.message_id, [{ type: 'emoji', emoji: '👍' }]);
    await api.sendChatAction(5, 'typing');
    await api.setMyCommands([{ command: 'ping', description: 'Pings' }]);
    const file = await api.getFile(telegram.chats.holds(Buffer.from('content')));

    const bytes = await fetch(`${telegram.url}/file/bot${token}/${file.file_path}`);
    assert.equal(await bytes.text(), 'content');
    assert.deepEqual(
      telegram.messages(5).map((one) => one.file),
      ['a.txt: bytes', '1.txt: one', '2.txt: two'],
    );
    assert.deepEqual(telegram.messages(5)[0]?.reactions, ['👍']);
    await api.deleteMessage(5, sent.message_id);
    assert.equal(telegram.messages(5).length, 2);
  });
});
