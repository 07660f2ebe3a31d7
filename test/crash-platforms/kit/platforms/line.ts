// LINE: delivered again until it is answered 2xx, marked as such. The retry key is the key of a send, under which a repeat shows nothing new.
import { FakeLine } from '../../../support/fake-platforms/line.ts';
import { type OpenPlatform, type Platform, push } from '../platform.ts';

export const line: Platform = {
  name: 'line',
  repeats: 'key',
  mostOwed: 20,
  conversations: 6,
  async open(t): Promise<OpenPlatform> {
    const fake = await FakeLine.start(t);
    return {
      slot: 'line',
      account: {
        id: 'main',
        // biome-ignore-start lint/suspicious/noTemplateCurlyInString: references of the configuration
        channelAccessToken: '${LINE_TOKEN}',
        channelSecrets: ['${LINE_SECRET}'],
        // biome-ignore-end lint/suspicious/noTemplateCurlyInString: references of the configuration
        apiUrl: fake.url,
        dataApiUrl: fake.url,
      },
      env: { LINE_TOKEN: fake.token, LINE_SECRET: fake.secret },
      deliver({ text, conversation }, to) {
        const event = fake.says(text, { user: `U${String(conversation).padStart(32, '0')}` });
        let isRedelivery = false;
        const make = () => {
          const body = JSON.stringify(event).replace('"isRedelivery":false', `"isRedelivery":${isRedelivery}`);
          isRedelivery = true;
          const headers = { 'content-type': 'application/json; charset=utf-8', ...fake.signed(body) };
          return { path: '/webhooks/line/main', headers, body };
        };
        return push(make, to);
      },
      answers: (from) => fake.channel.messages.slice(from).map(({ content }) => String(content['text'])),
    };
  },
};
