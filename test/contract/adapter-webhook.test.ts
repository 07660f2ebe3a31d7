// The suite that every adapter runs, for webhook; what is signed here is signed by another implementation of Standard Webhooks.
import { Webhook } from 'standardwebhooks';
import { webhook } from '../../worker/adapters/webhook/index.ts';
import type { RawRequest } from '../../worker/sdk/index.ts';
import { adapterContract } from '../../worker/testing/index.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const AT = 1_767_225_600;

function delivery(id: string, user: object = { id: 'ann' }): RawRequest {
  const body = JSON.stringify({ conversation: { id: 'room' }, user, text: 'hello' });
  const signature = new Webhook(SECRET).sign(id, new Date(AT * 1_000), body);
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(AT), 'webhook-signature': signature };
  return { method: 'POST', path: '', query: {}, headers, body: Buffer.from(body), receivedAt: AT * 1_000 };
}

adapterContract(webhook, {
  account: (url) => ({ url, secrets: [SECRET] }),
  secrets: [SECRET, SECRET.slice(6)],
  elsewhere: 'another room',
  platform: ({ headers }) => ({ status: 202, json: { id: `message of ${headers['webhook-id']}` } }),
  changes: true,
  history: [],
  without: {
    connect: 'a sender of webhooks keeps no connection',
    history: 'what a sender could not deliver it delivers again: there is no history to ask for',
  },
  good: () => delivery('msg_1'),
  own: () => delivery('msg_5', { id: 'bot', self: true }),
  several: () => [delivery('msg_4'), delivery('msg_2'), delivery('msg_3')],
  order: ['msg_4', 'msg_2', 'msg_3'],
});
