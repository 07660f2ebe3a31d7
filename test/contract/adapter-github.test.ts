// The suite that every adapter runs, for github.
import { createHmac } from 'node:crypto';
import { WAITS } from '../../worker/adapters/github/connect.ts';
import { createGithub } from '../../worker/adapters/github/index.ts';
import type { HttpAnswer, RawRequest } from '../../worker/sdk/index.ts';
import { adapterContract } from '../../worker/testing/index.ts';

const SECRET = 'a secret of the webhook, 32 chars';
const TOKEN = 'ghp_TokenOfTheBot0123456789';
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

const guidOf = (id: number): string => `72d3162e-cc78-11e3-81ab-4c9367dc09${id}`;

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
    'x-github-delivery': guidOf(id),
    'x-hub-signature-256': `sha256=${signature}`,
  };
  return { method: 'POST', path: '', query: {}, headers, body: Buffer.from(body), receivedAt: 1_767_225_600_000 };
}

let comments = 98;
function commented({ path, body }: RawRequest): HttpAnswer {
  const { body: text } = JSON.parse(Buffer.from(body).toString()) as { body: string };
  if (text.length > 65_536)
    return {
      status: 422,
      json: { message: 'Validation Failed', errors: [{ message: 'Body is too long' }] },
      headers: JSON_TYPE,
    };
  const id = (comments += 1);
  const [issue = ''] = /^\/repos\/octo\/hello\/issues\/\d+/.exec(path) ?? [];
  shown.unshift({ id, body: text, user: { login: 'helper-bot' }, issue_url: `https://api.github.com${issue}` });
  return { status: 201, json: { id }, headers: JSON_TYPE };
}
/** The newest first. */
const shown: object[] = [];
const listed = ({ method, path }: RawRequest): HttpAnswer | undefined =>
  method === 'GET' && path === '/repos/octo/hello/issues/comments' ? { json: shown, headers: JSON_TYPE } : undefined;

const whoseToken = ({ path }: RawRequest): HttpAnswer | undefined =>
  path === '/user' ? { status: 200, json: { login: 'helper-bot' }, headers: JSON_TYPE } : undefined;

/** A webhook of the repository whose deliveries all failed while the host was away. */
const MISSED = [21, 22, 23] as const;
const HOOK = '/repos/octo/hello/hooks';
function webhooks({ method, path }: RawRequest): HttpAnswer | undefined {
  const json = (value: unknown, status = 200): HttpAnswer => ({ status, json: value, headers: JSON_TYPE });
  // For either account of the suite, at whatever platform: `isOurs` takes the own one.
  if (path === HOOK)
    return json(['bench', 'another'].map((id) => ({ id: 5, config: { url: `https://bot.example/webhooks/${id}` } })));
  if (path === `${HOOK}/5/deliveries`) return json(MISSED.toReversed().map(failed));
  return method === 'POST' && path.startsWith(`${HOOK}/5/deliveries/`) ? json({}, 202) : undefined;
}

/** Edits and removals of a comment, and who has reacted to it. */
function changed({ method, path }: RawRequest): HttpAnswer | undefined {
  const [, id, reactions] = /^\/repos\/octo\/hello\/issues\/comments\/(\d+)(\/reactions)?/.exec(path) ?? [];
  if (id === undefined) return undefined;
  if (method === 'DELETE') return { status: 204 };
  const ours = { id: 1, content: '+1', user: { login: 'helper-bot' } };
  if (method === 'POST') return { status: 201, json: ours, headers: JSON_TYPE };
  return { status: 200, json: reactions === undefined ? { id: Number(id) } : [ours], headers: JSON_TYPE };
}
const failed = (id: number): object => ({
  id,
  guid: guidOf(id),
  delivered_at: new Date(Date.now() - 3_600_000).toISOString(),
  status_code: 503,
});

adapterContract(createGithub({ ...WAITS, betweenMs: 0 }), {
  account: (url) => ({
    login: 'helper-bot',
    token: TOKEN,
    secrets: [SECRET],
    repositories: ['octo/hello'],
    apiUrl: url,
  }),
  secrets: [SECRET, TOKEN],
  conversation: 'octo/hello#7',
  elsewhere: 'octo/hello#8',
  // GitHub signs no time: a repeat is known by X-GitHub-Delivery.
  unsigned: ['time'],
  platform: (request) =>
    whoseToken(request) ??
    webhooks(request) ??
    listed(request) ??
    changed(request) ??
    (request.method === 'POST'
      ? commented(request)
      : { status: 404, json: { message: 'Not Found' }, headers: JSON_TYPE }),
  changes: true,
  finds: true,
  without: { idempotent: 'GitHub knows no keys by which it could drop a repeat: it is looked for' },
  // Of the three, one is our own.
  history: [21, 23].map(guidOf),
  redelivers({ path }) {
    const id = Number(/\/5\/deliveries\/(\d+)\/attempts$/.exec(path)?.[1]);
    return Number.isNaN(id) ? undefined : delivery(id, id === 22 ? 'Helper-Bot' : 'ann');
  },
  good: () => delivery(12),
  own: () => delivery(13, 'Helper-Bot'),
  several: () => [delivery(16), delivery(14), delivery(15)],
  order: [16, 14, 15].map(guidOf),
});
