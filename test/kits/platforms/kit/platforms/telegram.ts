// Telegram, polled and by webhook. Told again until it is confirmed by an offset, or answered 200; it knows no keys of sends.
import { FakeTelegram } from '../../../../support/fake-platforms/telegram.ts';
import type { Shown } from '../extras.ts';
import { acknowledgedWhen, type Line, type OpenPlatform, type Platform, push, slows } from '../platform.ts';

const SECRET = 'a_secret-of-the-webhook';
/** Telegram takes one message a second in a chat. */
const COMMON = { repeats: 'none', mostOwed: 10, conversations: 6 } as const;
const EXTRAS = ['edited', 'split', 'file', 'button', 'reacted', 'given'] as const;
const PEOPLE = Array.from({ length: COMMON.conversations }, (_, n) => n + 1);
const SHOWS = /\/send\w+$/;
const FIRST_WEBHOOK_UPDATE = 500_000;

export const telegramPolling: Platform = {
  ...COMMON,
  name: 'telegram, polling',
  extras: EXTRAS,
  async open(t): Promise<OpenPlatform> {
    const telegram = await new FakeTelegram().listen(t);
    const token = telegram.bot(42, 'main_bot');
    const confirmed = new Set<number>();
    let read = 0;
    const isConfirmed = (update: number): boolean => {
      for (const one of telegram.confirmed(token).slice(read)) confirmed.add(one);
      read = telegram.confirmed(token).length;
      return confirmed.has(update);
    };
    return {
      slot: 'telegram',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      account: { id: 'polled', token: '${TELEGRAM_POLLED}', apiUrl: telegram.url },
      env: { TELEGRAM_POLLED: token },
      deliver(line, to) {
        const update = telegram.happens(token, says(line, telegram));
        return acknowledgedWhen(() => isConfirmed(update), to);
      },
      press(line, to) {
        const update = telegram.happens(token, presses(line, telegram));
        return acknowledgedWhen(() => isConfirmed(update), to);
      },
      shown: shownBy(telegram),
      answers: answersOf(telegram),
      slowed: slows(telegram, SHOWS),
    };
  },
};

export const telegramWebhook: Platform = {
  ...COMMON,
  name: 'telegram, webhook',
  extras: EXTRAS,
  async open(t): Promise<OpenPlatform> {
    const telegram = await new FakeTelegram().listen(t);
    const token = telegram.bot(43, 'shop_bot');
    let updates = FIRST_WEBHOOK_UPDATE;
    const update = (of: object) => {
      const headers = { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': SECRET };
      const body = JSON.stringify({ update_id: (updates += 1), ...of });
      return () => ({ path: '/webhooks/telegram/hooked', headers, body });
    };
    return {
      slot: 'telegram',
      account: {
        id: 'hooked',
        mode: 'webhook',
        // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration
        token: '${TELEGRAM_HOOKED}',
        secrets: ['${TELEGRAM_SECRET}'],
        // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration
        apiUrl: telegram.url,
      },
      env: { TELEGRAM_HOOKED: token, TELEGRAM_SECRET: SECRET },
      deliver: (line, to) => push(update(says(line, telegram)), to),
      press: (line, to) => push(update(presses(line, telegram)), to),
      shown: shownBy(telegram),
      answers: answersOf(telegram),
      slowed: slows(telegram, SHOWS),
    };
  },
};

let messages = 0;

/** As a text, or as a file that holds it. */
function says({ token, text, conversation, extra }: Line, { chats }: FakeTelegram) {
  const { from, chat } = placeOf(conversation);
  const document = { file_id: chats.holds(Buffer.from(text)), file_unique_id: token, file_name: `${token}.txt` };
  return {
    message: { message_id: (messages += 1), date: 1, chat, from, ...(extra === 'given' ? { document } : { text }) },
  };
}

function presses({ token, conversation }: Line, { chats }: FakeTelegram) {
  const shown = chats.messages(conversation).find(({ text }) => text.startsWith(`${token} `));
  const data = shown?.buttons[0]?.callback_data;
  if (shown === undefined || data === undefined) throw new Error('its answer has no button');
  const { from, chat } = placeOf(conversation);
  const message = { message_id: shown.message_id, date: 1, chat };
  return { callback_query: { id: `q${shown.message_id}`, from, chat_instance: 'c', data, message } };
}

function placeOf(id: number) {
  const from = { id, is_bot: false, first_name: `P${id}` };
  return { from, chat: { ...from, type: 'private' } };
}

const shownBy =
  ({ chats }: FakeTelegram): (() => readonly Shown[]) =>
  () =>
    PEOPLE.flatMap((n) => chats.messages(n)).map(({ text, file, reactions }) => ({
      text,
      // `<name>: <content>`
      files: file === undefined ? [] : [file.slice(file.indexOf(': ') + 2)],
      reactions,
    }));

/** Among the calls of a fake server, those that show a message. */
function answersOf(telegram: FakeTelegram): (from: number) => readonly string[] {
  const texts: string[] = [];
  let read = 0;
  return (from) => {
    for (const { method, params } of telegram.calls.slice(read))
      if (method === 'sendMessage') texts.push(String(params['text']));
      else if (method === 'sendDocument') texts.push(String(params['caption']));
    read = telegram.calls.length;
    return texts.slice(from);
  };
}
