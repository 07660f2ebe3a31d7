// The suite that every adapter runs, for slack. The delivery is the example of a `message` event in Slack's documentation.
import { createHmac } from 'node:crypto';
import { slack } from '../../worker/adapters/slack/index.ts';
import type { HttpAnswer, RawRequest } from '../../worker/sdk/index.ts';
import { adapterContract } from '../../worker/testing/index.ts';
import { MESSAGE } from '../support/accounts/slack-examples.ts';

const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
const TOKEN = 'xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy';
const AT = 1_355_517_524;

function delivery(payload: unknown): RawRequest {
  const body = JSON.stringify(payload);
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
}

const said = (n: number): RawRequest =>
  delivery({
    ...MESSAGE,
    event_id: `Ev${n}`,
    event: { ...MESSAGE.event, ts: `1355517523.00000${n}`, text: `line ${n}` },
  });
/** What an app says itself comes back to it with its own id. */
const OURS = {
  ...MESSAGE,
  event: { ...MESSAGE.event, subtype: 'bot_message', bot_id: 'B123ABC456', app_id: MESSAGE.api_app_id },
};

let count = 246;
/** The newest first, with the metadata that nobody sees. */
const shown: object[] = [];
function posted({ body }: RawRequest): HttpAnswer {
  const form = new URLSearchParams(Buffer.from(body).toString());
  const text = form.get('text') ?? '';
  if (text.length > 4_000) return { json: { ok: false, error: 'msg_too_long' } };
  const ts = `1503435956.000${(count += 1)}`;
  shown.unshift({ ...OURS.event, text, ts, metadata: JSON.parse(form.get('metadata') ?? '{}') as object });
  return { json: { ok: true, channel: 'C123ABC456', ts, message: { text } } };
}

/** Said while the host was away, the newest first, as the history tells it: Slack itself delivers over HTTP for some minutes alone. */
const now = Math.floor(Date.now() / 1_000);
const missed = [3, 2, 1].map((n) => ({
  type: 'message',
  user: 'U123ABC456',
  text: `missed ${n}`,
  ts: `${now - 3_600}.00000${n}`,
  ...(n === 2 ? { bot_id: 'B123ABC456', app_id: MESSAGE.api_app_id, subtype: 'bot_message' } : {}),
}));
const ANSWERS: Readonly<Record<string, object>> = {
  'auth.test': { team_id: 'T123ABC456', user_id: 'U0BOT', bot_id: 'B123ABC456' },
  'users.conversations': { channels: [{ id: 'C123ABC456' }] },
  'conversations.history': { messages: missed },
  'chat.update': {},
  'chat.delete': {},
  'reactions.add': {},
  'reactions.remove': {},
};
const answered = ({ path, body }: RawRequest): HttpAnswer => {
  if (path === '/api/conversations.history' && Buffer.from(body).includes('include_all_metadata'))
    return { json: { ok: true, messages: shown } };
  const answer = ANSWERS[path.replace('/api/', '')];
  return { json: answer === undefined ? { ok: false, error: 'unknown_method' } : { ok: true, ...answer } };
};

adapterContract(slack, {
  account: (url) => ({ token: TOKEN, secrets: ['an older secret', SECRET], apiUrl: `${url}/api/` }),
  conversation: 'C123ABC456',
  elsewhere: 'C123ABC457',
  secrets: [SECRET, TOKEN, 'an older secret'],
  platform: (request) => (request.path === '/api/chat.postMessage' ? posted(request) : answered(request)),
  changes: true,
  finds: true,
  without: { idempotent: 'Slack knows no keys by which it could drop a repeat: it is looked for' },
  // An account that is new has missed nothing.
  cursor: JSON.stringify({ workspace: 'T123ABC456', at: (now - 7_200) * 1_000, seen: [] }),
  history: [1, 3].map((n) => `T123ABC456/C123ABC456/${now - 3_600}.00000${n}`),
  good: () => delivery(MESSAGE),
  own: () => delivery(OURS),
  several: () => [said(9), said(7), said(8)],
  order: [9, 7, 8].map((n) => `T123ABC456/C123ABC456/1355517523.00000${n}`),
});
