// The suite that every adapter runs, for webhook; what is signed here is signed by another implementation of Standard Webhooks.
import { Webhook } from 'standardwebhooks';
import { webhook } from '../../worker/adapters/webhook/index.ts';
import { adapterContract } from '../../worker/sdk/testing/index.ts';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const AT = 1_767_225_600;

adapterContract(webhook, {
  account: (url) => ({ url, secrets: [SECRET] }),
  secrets: [SECRET, SECRET.slice(6)],
  platform: () => ({ status: 202, json: { id: 'm-1' } }),
  good() {
    const body = JSON.stringify({ conversation: { id: 'room' }, user: { id: 'ann' }, text: 'hello' });
    const signature = new Webhook(SECRET).sign('msg_1', new Date(AT * 1_000), body);
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(AT), 'webhook-signature': signature };
    return { method: 'POST', path: '', query: {}, headers, body: Buffer.from(body), receivedAt: AT * 1_000 };
  },
});
