// The suite that every adapter runs, for line. The delivery is the example of a text message in LINE's documentation. LINE signs no time.
import { createHmac } from 'node:crypto';
import { line } from '../../worker/adapters/line/index.ts';
import { adapterContract } from '../../worker/sdk/testing/index.ts';
import { GROUP, TEXT } from '../support/line-examples.ts';

const SECRET = '8c570fa6dd201bb328f1c1eac23a96d8';
const TOKEN = 'channel-access-token-of-line/0123456789+abcdef=';

adapterContract(line, {
  account: (url) => ({
    channelAccessToken: TOKEN,
    channelSecrets: ['an older secret', SECRET],
    apiUrl: url,
    dataApiUrl: url,
  }),
  conversation: GROUP,
  unsigned: ['time'],
  secrets: [SECRET, TOKEN, 'an older secret', 'nHuyWiB7yP5Zw52FIkcQobQuGDXCTA'],
  platform: ({ path }) =>
    path === '/v2/bot/message/push'
      ? { json: { sentMessages: [{ id: '461230966842064897', quoteToken: 'IStG5h1Tz7b...' }] } }
      : { status: 404, json: { message: 'Not found' } },
  good() {
    const body = JSON.stringify(TEXT);
    const signature = createHmac('sha256', SECRET).update(body).digest('base64');
    return {
      method: 'POST',
      path: '/webhooks/line/shop',
      query: {},
      headers: { 'content-type': 'application/json; charset=utf-8', 'x-line-signature': signature },
      body: Buffer.from(body),
      receivedAt: 1_462_629_480_000,
    };
  },
});
