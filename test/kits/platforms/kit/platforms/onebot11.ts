// OneBot 11: over HTTP, over a WebSocket that svc opens, and over one that the implementation opens. Over HTTP a delivery comes again until it is
// answered; over a WebSocket nothing is acknowledged, and what was missed is read from the history, as far as it goes. It knows no keys of
// sends, and no mark to look for.
import { createHmac } from 'node:crypto';
import type { Piece } from '../../../../support/fake-platforms/onebot11/bot.ts';
import { FakeOneBot } from '../../../../support/fake-platforms/onebot11.ts';
import { fileShown, type Shown } from '../extras.ts';
import { grown, type Line, type OpenPlatform, type Platform, push, slows, writtenWhen } from '../platform.ts';

const SECRET = 'the-secret-of-deliveries';
const COMMON = {
  repeats: 'none',
  filesApart: true,
  mostOwed: 8,
  conversations: 6,
  extras: ['split', 'file', 'reacted', 'given'],
} as const;
const RATE = { perSecond: 100 };
const SHOWS = /send_\w+$/;
const BASE64 = 'base64://';

export const onebot11Http: Platform = {
  ...COMMON,
  name: 'onebot11, HTTP',
  async open(t): Promise<OpenPlatform> {
    const fake = await FakeOneBot.start(t, { token: 'token-of-post' });
    return {
      slot: 'onebot11',
      account: {
        ...RATE,
        id: 'post',
        mode: 'http',
        url: fake.url,
        // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration
        accessTokens: ['${ONEBOT_POST}'],
        secrets: ['${ONEBOT_SECRET}'],
        // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration
      },
      env: { ONEBOT_POST: fake.token, ONEBOT_SECRET: SECRET },
      deliver(said, to) {
        const body = JSON.stringify(eventOf(fake, said, { push: false }));
        const headers = {
          'content-type': 'application/json',
          'x-self-id': String(fake.bot.self),
          'x-signature': `sha1=${createHmac('sha1', SECRET).update(body).digest('hex')}`,
        };
        return push(() => ({ path: '/webhooks/onebot11/post', headers, body }), to);
      },
      ...seenOf(fake),
      slowed: slows(fake, SHOWS),
    };
  },
};

export const onebot11Socket: Platform = {
  ...COMMON,
  name: 'onebot11, WebSocket',
  async open(t): Promise<OpenPlatform> {
    const fake = await FakeOneBot.start(t, { token: 'token-of-main' });
    return {
      slot: 'onebot11',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      account: { ...RATE, id: 'main', url: fake.wsUrl, accessTokens: ['${ONEBOT_MAIN}'], catchUp: true },
      env: { ONEBOT_MAIN: fake.token },
      deliver: (said, to) => writtenWhen(() => fake.listeners > 0 && eventOf(fake, said) !== undefined, to),
      ...seenOf(fake),
      slowed: slows(fake, SHOWS),
    };
  },
};

export const onebot11Reverse: Platform = {
  ...COMMON,
  name: 'onebot11, reverse WebSocket',
  async open(t): Promise<OpenPlatform> {
    const fake = await FakeOneBot.start(t, { token: 'token-of-back' });
    let isCalling = false;
    return {
      slot: 'onebot11',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      account: { ...RATE, id: 'back', mode: 'reverse', accessTokens: ['${ONEBOT_BACK}'], catchUp: true },
      env: { ONEBOT_BACK: fake.token },
      deliver(said, to) {
        if (!isCalling) fake.connectTo(`${to.url.replace('http', 'ws')}/webhooks/onebot11/back`);
        isCalling = true;
        return writtenWhen(() => fake.listeners > 0 && eventOf(fake, said) !== undefined, to);
      },
      ...seenOf(fake),
      slowed: slows(fake, SHOWS),
    };
  },
};

/** As a text, or as a file that holds it. */
function eventOf(
  fake: FakeOneBot,
  { token, text, conversation: user, extra }: Line,
  { push: isPushed = true } = {},
): object {
  const where = { user, push: isPushed };
  if (extra !== 'given') return fake.line(text, where);
  const [file, name] = [`f${token}`, `${token}.txt`];
  fake.bot.files.set(file, { path: `/files/${name}`, name, base64: Buffer.from(text).toString('base64') });
  return fake.line([{ type: 'file', data: { file: name, file_id: file, file_size: String(text.length) } }], where);
}

/** A message that is a file alone is a message of its own, behind its post. */
function seenOf({ bot }: FakeOneBot): Pick<OpenPlatform, 'answers' | 'shown'> {
  const shown = (): readonly Shown[] =>
    bot.messages
      .filter(({ user_id }) => user_id === bot.self)
      .map(({ message, reactions }) => {
        const [content] = message.flatMap(contentOf);
        if (content !== undefined) return { text: fileShown(content), files: [content], reactions };
        return { text: message.map(({ data }) => String(data['text'])).join(''), reactions };
      });
  return {
    shown,
    answers: grown(
      () => bot.messages.length,
      () => shown().map(({ text }) => text),
    ),
  };
}

const contentOf = ({ type, data }: Piece): readonly string[] =>
  type === 'file' ? [Buffer.from(String(data['file']).slice(BASE64.length), 'base64').toString()] : [];
