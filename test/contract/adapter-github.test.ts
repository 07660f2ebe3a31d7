// The suite that every adapter runs, for github.
import { createHmac } from 'node:crypto';
import { github } from '../../worker/adapters/github/index.ts';
import type { HttpAnswer, RawRequest } from '../../worker/sdk/index.ts';
import { adapterContract } from '../../worker/sdk/testing/index.ts';

const SECRET = 'a secret of the webhook, 32 chars';
const TOKEN = 'ghp_TokenOfTheBot0123456789';
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** A comment, as GitHub delivers it. */
function delivery(id: number, login = 'ann'): RawRequest {
  const body = JSON.stringify({
    action: 'created',
    repository: { full_name: 'octo/hello' },
    issue: { number: 7, title: 'Spelling' },
    comment: { id, body: '@helper-bot hello', user: { login }, created_at: '2026-01-01T00:00:00Z' },
    sender: { login },
  });
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'issue_comment',
    'x-github-delivery': `72d3162e-cc78-11e3-81ab-4c9367dc09${id}`,
    'x-hub-signature-256': `sha256=${signature}`,
  };
  return { method: 'POST', path: '', query: {}, headers, body: Buffer.from(body), receivedAt: 1_767_225_600_000 };
}

let comments = 98;
function commented({ body }: RawRequest): HttpAnswer {
  const { body: text } = JSON.parse(Buffer.from(body).toString()) as { body: string };
  if (text.length > 65_536)
    return {
      status: 422,
      json: { message: 'Validation Failed', errors: [{ message: 'Body is too long' }] },
      headers: JSON_TYPE,
    };
  return { status: 201, json: { id: (comments += 1) }, headers: JSON_TYPE };
}

adapterContract(github, {
  account: (url) => ({ login: 'helper-bot', token: TOKEN, secrets: [SECRET], apiUrl: url }),
  secrets: [SECRET, TOKEN],
  conversation: 'octo/hello#7',
  // GitHub signs no time: a repeat is known by X-GitHub-Delivery.
  unsigned: ['time'],
  platform: (request) =>
    request.method === 'POST'
      ? commented(request)
      : { status: 404, json: { message: 'Not Found' }, headers: JSON_TYPE },
  good: () => delivery(12),
  own: () => delivery(13, 'Helper-Bot'),
  several: () => [delivery(16), delivery(14), delivery(15)],
  order: [16, 14, 15].map((id) => `72d3162e-cc78-11e3-81ab-4c9367dc09${id}`),
});
