// The suite that every adapter runs, for slack. The delivery is the example of a `message` event in Slack's documentation.
import { createHmac } from 'node:crypto';
import { slack } from '../../worker/adapters/slack/index.ts';
import { adapterContract } from '../../worker/sdk/testing/index.ts';
import { MESSAGE } from '../support/slack-examples.ts';

const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const TOKEN = 'xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy';
const AT = 1_355_517_524;

adapterContract(slack, {
  account: (url) => ({ token: TOKEN, secrets: ['an older secret', SECRET], apiUrl: `${url}/api/` }),
  conversation: 'C123ABC456',
  secrets: [SECRET, TOKEN, 'an older secret'],
  platform: ({ path }) =>
    path === '/api/chat.postMessage'
      ? { json: { ok: true, channel: 'C123ABC456', ts: '1503435956.000247', message: { text: 'hi' } } }
      : { json: { ok: false, error: 'unknown_method' } },
  good() {
    const body = JSON.stringify(MESSAGE);
    const signature = createHmac('sha256', SECRET).update(`v0:${AT}:${body}`).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-slack-request-timestamp': String(AT),
      'x-slack-signature': `v0=${signature}`,
    };
    return {
      method: 'POST',
      path: '/webhooks/slack/work',
      query: {},
      headers,
      body: Buffer.from(body),
      receivedAt: AT * 1_000,
    };
  },
});
