// LINE: delivered again until it is answered 2xx, marked as such. The retry key is the key of a send, under which a repeat shows nothing new.
import { FakeLine } from '../../../../support/fake-platforms/line.ts';
import { Links } from '../links.ts';
import { grown, type Line, type OpenPlatform, type Platform, push, type SignedRequest, slows } from '../platform.ts';

export const line: Platform = {
  name: 'line',
  extras: ['split', 'file', 'button', 'given'],
  repeats: 'key',
  mostOwed: 20,
  conversations: 6,
  async open(t): Promise<OpenPlatform> {
    const fake = await FakeLine.start(t);
    const links = new Links();
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
      deliver(said, to) {
        return push(redelivered(fake, eventOf(fake, said)), to);
      },
      press({ token, conversation }, to) {
        const { messages } = fake.channel;
        // The buttons are a message behind the text.
        const at = messages.findIndex(({ content }) => String(content['text']).startsWith(`${token} `));
        const data = /"data":"([^"]+)"/.exec(JSON.stringify(messages[at + 1]?.content))?.[1];
        if (data === undefined) throw new Error('its answer has no button');
        const source = { type: 'user', userId: personOf(conversation) };
        return push(redelivered(fake, fake.event({ type: 'postback', source, postback: { data } })), to);
      },
      answers: grown(
        () => fake.channel.messages.length,
        () => textsOf(fake),
      ),
      slowed: slows(fake, /\/message\/(?:push|reply)$/),
      finish: (to) => links.open(textsOf(fake), to),
      shown: () => textsOf(fake).map((text) => ({ text, files: links.filesOf(text) })),
    };
  },
};

/** As a text, or as a file that holds it. */
function eventOf(fake: FakeLine, { token, text, conversation, extra }: Line): object {
  const user = personOf(conversation);
  if (extra !== 'given') return fake.says(text, { user });
  const [minted, bytes] = [fake.channel.mint(user), Buffer.from(text)];
  fake.keep(minted.id, bytes, { type: 'text/plain' });
  const message = { ...minted, type: 'file', fileName: `${token}.txt`, fileSize: bytes.length };
  return fake.event({ type: 'message', source: { type: 'user', userId: user }, message });
}

const personOf = (conversation: number): string => `U${String(conversation).padStart(32, '0')}`;
const textsOf = ({ channel }: FakeLine): readonly string[] =>
  channel.messages.filter(({ type }) => type === 'text').map(({ content }) => String(content['text']));

/** Each time but the first it says that it comes again. */
function redelivered(fake: FakeLine, event: object): () => SignedRequest {
  let isRedelivery = false;
  return () => {
    const body = JSON.stringify(event).replace('"isRedelivery":false', `"isRedelivery":${isRedelivery}`);
    isRedelivery = true;
    const headers = { 'content-type': 'application/json; charset=utf-8', ...fake.signed(body) };
    return { path: '/webhooks/line/main', headers, body };
  };
}
