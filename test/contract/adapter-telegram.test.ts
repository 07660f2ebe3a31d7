// The suite that every adapter runs, for telegram. Telegram signs neither bytes nor time: a shared token alone.
import { telegram } from '../../worker/adapters/telegram/index.ts';
import { adapterContract } from '../../worker/sdk/testing/index.ts';

const TOKEN = '123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11';
const SECRET = 'rotated_Secret-1';

adapterContract(telegram, {
  account: (url) => ({
    token: TOKEN,
    mode: 'webhook',
    secrets: ['old_secret', SECRET],
    username: 'svc_bot',
    apiUrl: url,
  }),
  conversation: '1111111',
  unsigned: ['bytes', 'time'],
  secrets: [TOKEN, TOKEN.slice(7), SECRET],
  platform: ({ path }) => ({
    json: path.endsWith('/sendMessage')
      ? {
          ok: true,
          result: { message_id: 7, date: 1_767_225_600, chat: { id: 1_111_111, type: 'private' }, text: 'hi' },
        }
      : { ok: true, result: true },
  }),
  good() {
    // "Message with text" of the examples in Marvin's Marvellous Guide to All Things Webhook.
    const person = {
      last_name: 'Test Lastname',
      id: 1_111_111,
      first_name: 'Test Firstname',
      username: 'Testusername',
    };
    const update = {
      update_id: 10_000,
      message: {
        date: 1_441_645_532,
        chat: { ...person, type: 'private' },
        message_id: 1_365,
        from: person,
        text: '/start',
      },
    };
    return {
      method: 'POST',
      path: '/webhooks/telegram/main',
      query: {},
      headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': SECRET },
      body: Buffer.from(JSON.stringify(update)),
      receivedAt: 1_441_645_533_000,
    };
  },
});
