// OneBot 11, over HTTP and over a WebSocket that svc opens. Over HTTP a delivery comes again until it is answered; over a WebSocket nothing is
// acknowledged, and what was missed is read from the history, as far as it goes. It knows no keys of sends, and no mark to look for.
import { createHmac } from 'node:crypto';
import { FakeOneBot } from '../../../support/fake-platforms/onebot11.ts';
import { grown, type OpenPlatform, type Platform, push, writtenWhen } from '../platform.ts';

const SECRET = 'the-secret-of-deliveries';
const COMMON = { repeats: 'none', mostOwed: 8, conversations: 6 } as const;
const RATE = { perSecond: 100 };

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
      deliver({ text, conversation: user }, to) {
        const body = JSON.stringify(fake.line(text, { user, push: false }));
        const headers = {
          'content-type': 'application/json',
          'x-self-id': String(fake.bot.self),
          'x-signature': `sha1=${createHmac('sha1', SECRET).update(body).digest('hex')}`,
        };
        return push(() => ({ path: '/webhooks/onebot11/post', headers, body }), to);
      },
      answers: answersOf(fake),
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
      deliver: ({ text, conversation: user }, to) =>
        writtenWhen(() => fake.listeners > 0 && fake.line(text, { user }) !== undefined, to),
      answers: answersOf(fake),
    };
  },
};

const answersOf = ({ bot }: FakeOneBot): ((from: number) => readonly string[]) =>
  grown(
    () => bot.messages.length,
    () => bot.texts(),
  );
