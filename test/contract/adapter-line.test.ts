// The suite that every adapter runs, for line. The delivery is the example of a text message in LINE's documentation. LINE signs no time.
import { createHmac } from 'node:crypto';
import { line } from '../../worker/adapters/line/index.ts';
import type { HttpAnswer, RawRequest } from '../../worker/sdk/index.ts';
import { adapterContract } from '../../worker/testing/index.ts';
import { BOT, GROUP, TEXT } from '../support/accounts/line-examples.ts';

const SECRET = '8c570fa6dd201bb328f1c1eac23a96d8';
const TOKEN = 'channel-access-token-of-line/0123456789+abcdef=';

function delivery(events: unknown): RawRequest {
  const body = JSON.stringify(events);
  const signature = createHmac('sha256', SECRET).update(body).digest('base64');
  return {
    method: 'POST',
    path: '/webhooks/line/shop',
    query: {},
    headers: { 'content-type': 'application/json; charset=utf-8', 'x-line-signature': signature },
    body: Buffer.from(body),
    receivedAt: 1_462_629_480_000,
  };
}

/** A message of the group, as the bot's members say them. */
const said = (n: number): object => ({
  ...TEXT.events[0],
  webhookEventId: `01FZ74A0TDDPYRVKNK77XKC3Z${n}`,
  message: { id: String(n), type: 'text', text: `line ${n}` },
});

/** LINE answers a retry key that it knows with 409 and what it had accepted. */
const accepted = new Map<string, string>();
function pushed({ headers, body }: RawRequest): HttpAnswer {
  const { messages } = JSON.parse(Buffer.from(body).toString()) as { messages: { text: string }[] };
  if (messages.some(({ text }) => text.length > 5_000))
    return { status: 400, json: { message: 'The request body has 1 error(s)' } };
  const key = headers['x-line-retry-key'] ?? '';
  const known = accepted.get(key);
  const id = known ?? String(461_230_966_842_064_897n + BigInt(accepted.size));
  accepted.set(key, id);
  const sentMessages = messages.map(() => ({ id, quoteToken: 'IStG5h1Tz7b...' }));
  if (known === undefined) return { json: { sentMessages } };
  const json = { message: 'The retry key is already accepted', sentMessages };
  return { status: 409, headers: { 'x-line-accepted-request-id': `request of ${id}` }, json };
}

adapterContract(line, {
  account: (url) => ({
    channelAccessToken: TOKEN,
    channelSecrets: ['an older secret', SECRET],
    apiUrl: url,
    dataApiUrl: url,
  }),
  conversation: GROUP,
  elsewhere: 'C00000000000000000000000000000002',
  unsigned: ['time'],
  secrets: [SECRET, TOKEN, 'an older secret', 'nHuyWiB7yP5Zw52FIkcQobQuGDXCTA'],
  platform(request) {
    if (request.path === '/v2/bot/message/push') return pushed(request);
    if (request.path === '/v2/bot/info') return { json: { userId: BOT, basicId: '@216ru', displayName: 'Example' } };
    return { status: 404, json: { message: 'Not found' } };
  },
  // Its connection only watches over the address.
  history: [],
  without: {
    history: 'LINE only delivers, and has no history',
    catchUp: 'LINE only delivers, and has no history',
    edit: 'LINE lets nothing be changed that was sent',
    react: 'LINE lets no bot react',
    remove: 'LINE lets no bot take back what it sent',
  },
  good: () => delivery(TEXT),
  own: () => delivery({ ...TEXT, events: [{ ...said(4), source: { type: 'group', groupId: GROUP, userId: BOT } }] }),
  several: () => [delivery({ ...TEXT, events: [said(3), said(1), said(2)] })],
  order: [3, 1, 2].map((n) => `01FZ74A0TDDPYRVKNK77XKC3Z${n}`),
});
