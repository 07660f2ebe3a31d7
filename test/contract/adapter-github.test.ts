// The suite that every adapter runs, for github.
import { createHmac } from 'node:crypto';
import { github } from '../../worker/adapters/github/index.ts';
import { adapterContract } from '../../worker/sdk/testing/index.ts';

const SECRET = 'a secret of the webhook, 32 chars';
const TOKEN = 'ghp_TokenOfTheBot0123456789';
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

adapterContract(github, {
  account: (url) => ({ login: 'helper-bot', token: TOKEN, secrets: [SECRET], apiUrl: url }),
  secrets: [SECRET, TOKEN],
  conversation: 'octo/hello#7',
  // GitHub signs no time: a repeat is known by X-GitHub-Delivery.
  unsigned: ['time'],
  platform: () => ({ status: 201, json: { id: 99 }, headers: JSON_TYPE }),
  good() {
    const body = JSON.stringify({
      action: 'created',
      repository: { full_name: 'octo/hello' },
      issue: { number: 7, title: 'Spelling' },
      comment: { id: 12, body: '@helper-bot hello', user: { login: 'ann' }, created_at: '2026-01-01T00:00:00Z' },
      sender: { login: 'ann' },
    });
    const signature = createHmac('sha256', SECRET).update(body).digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'issue_comment',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      'x-hub-signature-256': `sha256=${signature}`,
    };
    return { method: 'POST', path: '', query: {}, headers, body: Buffer.from(body), receivedAt: 1_767_225_600_000 };
  },
});
