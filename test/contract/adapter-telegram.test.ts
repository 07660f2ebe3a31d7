// The suite that every adapter runs, for telegram. Telegram signs neither bytes nor time: a shared token alone.
import { describe } from 'node:test';
import { telegram } from '../../worker/adapters/telegram/index.ts';
import type { HttpAnswer, RawRequest } from '../../worker/sdk/index.ts';
import { adapterContract } from '../../worker/testing/index.ts';

const TOKEN = '123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11';
const SECRET = 'rotated_Secret-1';

// "Message with text" of the examples in Marvin's Marvellous Guide to All Things Webhook.
const PERSON = { last_name: 'Test Lastname', id: 1_111_111, first_name: 'Test Firstname', username: 'Testusername' };
function delivery(update_id: number, from: object = PERSON): RawRequest {
  const update = {
    update_id,
    message: { date: 1_441_645_532, chat: { ...PERSON, type: 'private' }, message_id: 1_365, from, text: '/start' },
  };
  return {
    method: 'POST',
    path: '/webhooks/telegram/main',
    query: {},
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': SECRET },
    body: Buffer.from(JSON.stringify(update)),
    receivedAt: 1_441_645_533_000,
  };
}

const NO_KEYS = {
  idempotent: 'Telegram knows no keys by which it could drop a repeat',
  finds: 'Telegram shows a bot nothing of what was said before',
};

const BOT = { id: 123_456, is_bot: true, first_name: 'svc', username: 'svc_bot' };
let messages = 6;
/** 4,096 characters, once the tags are read. */
function sent({ body }: RawRequest): HttpAnswer {
  const { text } = JSON.parse(Buffer.from(body).toString()) as { text: string };
  if (text.replace(/<[^>]*>/g, '').replace(/&\w+;/g, '&').length > 4_096)
    return { status: 400, json: { ok: false, error_code: 400, description: 'Bad Request: message is too long' } };
  const message_id = (messages += 1);
  return {
    json: { ok: true, result: { message_id, date: 1_767_225_600, chat: { id: 1_111_111, type: 'private' }, text } },
  };
}

adapterContract(telegram, {
  account: (url) => ({
    token: TOKEN,
    mode: 'webhook',
    secrets: ['old_secret', SECRET],
    username: 'svc_bot',
    apiUrl: url,
  }),
  conversation: '1111111',
  elsewhere: '1111112',
  unsigned: ['bytes', 'time'],
  secrets: [TOKEN, TOKEN.slice(7), SECRET],
  platform(request) {
    if (request.path.endsWith('/sendMessage')) return sent(request);
    if (request.path.endsWith('/getMe')) return { json: { ok: true, result: BOT } };
    if (!request.path.endsWith('/getWebhookInfo')) return { json: { ok: true, result: true } };
    const result = { url: 'https://bot.example/webhooks/telegram/main', pending_update_count: 0 };
    return { json: { ok: true, result } };
  },
  changes: true,
  // Its connection only watches over the address.
  history: [],
  without: {
    history: 'Telegram keeps what it could not deliver, and delivers it again',
    catchUp: 'Telegram keeps what it could not deliver, and delivers it again',
    ...NO_KEYS,
  },
  good: () => delivery(10_000),
  own: () => delivery(10_001, BOT),
  several: () => [delivery(10_004), delivery(10_002), delivery(10_003)],
  order: ['123456:10004', '123456:10002', '123456:10003'],
});

/** What waits, until a poll confirms it with its offset. */
const WAITING = [1, 2, 3].map((n) => ({
  update_id: 20_000 + n,
  message: {
    date: 1_441_645_532,
    chat: { ...PERSON, type: 'private' },
    message_id: n,
    from: PERSON,
    text: `line ${n}`,
  },
}));

describe('polling', () => {
  adapterContract(telegram, {
    account: (url) => ({ token: TOKEN, mode: 'polling', apiUrl: url }),
    conversation: '1111111',
    elsewhere: '1111112',
    secrets: [TOKEN, TOKEN.slice(7)],
    platform(request) {
      if (request.path.endsWith('/sendMessage')) return sent(request);
      if (request.path.endsWith('/getMe')) return { json: { ok: true, result: BOT } };
      if (!request.path.endsWith('/getUpdates')) return { json: { ok: true, result: true } };
      const { offset = 0 } = JSON.parse(Buffer.from(request.body).toString()) as { offset?: number };
      // One at a time, so that there is something in between.
      return { json: { ok: true, result: WAITING.filter(({ update_id }) => update_id >= offset).slice(0, 1) } };
    },
    changes: true,
    without: {
      good: 'to a bot that polls Telegram delivers nothing',
      catchUp: 'the first poll of each connection brings what waited',
      ...NO_KEYS,
    },
    history: WAITING.map(({ update_id }) => `123456:${update_id}`),
  });
});
