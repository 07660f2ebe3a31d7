// The suite that every adapter runs, for slack in Socket Mode: at a fake Slack, which sends an envelope again until it is acknowledged.
import { afterEach, beforeEach } from 'node:test';
import { TIMING } from '../../../worker/adapters/slack/arrivals/socket.ts';
import { createSlack } from '../../../worker/adapters/slack/index.ts';
import { adapterContract } from '../../../worker/testing/index.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';

let slack: FakeSlack;
/** Two workspaces: of two connections of one app, each would hear a part. */
let another: FakeSlack;
let ends: (() => void | Promise<void>)[] = [];

beforeEach(async () => {
  const owner = { after: (end: () => void | Promise<void>) => void ends.push(end) };
  [slack, another] = [await FakeSlack.start(owner), await FakeSlack.start(owner)];
  slack.workspace.channels.set('C123ABC457', 'open');
  for (const { workspace, line, push } of [bound(slack), bound(another)]) {
    push(line('one'));
    push(line('our own', { bot_id: 'B1', app_id: workspace.app, subtype: 'bot_message' }));
    push(line('two'));
    push(line('three'));
  }
});
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
});

const bound = (of: FakeSlack) => ({
  workspace: of.workspace,
  line: (text: string, more?: object) => of.line(text, more),
  push: (payload: object) => void of.push('events_api', payload),
});
const accountOf = (of: FakeSlack, token = of.botToken): Record<string, unknown> => ({
  token,
  appToken: of.appToken,
  mode: 'socket',
  apiUrl: of.apiUrl,
});

const CALLS = ['chat.postMessage', 'chat.update', 'chat.delete', 'reactions.add', 'reactions.remove'];

adapterContract(createSlack({ ...TIMING, retryMs: 10 }), {
  account: () => accountOf(slack),
  other: () => accountOf(another),
  refused: () => accountOf(slack, 'xoxb-refused-0123456789'),
  conversation: 'C123ABC456',
  finds: true,
  secrets: ['xoxb-refused-0123456789', 'xoxb-1-2-botbotbotbot', 'xapp-1-A123ABC456-3-appappapp'],
  // An event takes a number of its own, too.
  history: [1, 5, 7].map((n) => `T123ABC456/C123ABC456/1700000001.00000${n}`),
  changes: true,
  taken: () =>
    slack.calls
      .filter(({ method }) => /^(chat|reactions)\./.test(method))
      .map(({ method, args }) => `${method} ${args['text'] ?? ''}`),
  cut: () => slack.cut(),
  slows(afterMs) {
    for (const method of CALLS) {
      if (afterMs === undefined) slack.left.delete(method);
      else slack.left.set(method, 0);
    }
  },
  refuses: () => slack.next('chat.postMessage', { status: 200, body: '{"ok":false,"error":"channel_not_found"}' }),
  elsewhere: 'C123ABC457',
  without: {
    good: 'over Socket Mode Slack delivers nothing over HTTP',
    idempotent: 'Slack knows no keys by which it could drop a repeat: it is looked for',
  },
});
