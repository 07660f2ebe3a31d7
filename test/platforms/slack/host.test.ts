// Slack at the whole host, over HTTP and over Socket Mode: taken once, over kills and restarts, from deliveries that come only once.
// The platform's side is the fake that Slack's own client was tried on.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { BLOCK_ACTIONS, CHALLENGE } from '../../support/accounts/slack-examples.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { deliverOverKills } from '../../support/process/kill-rounds.ts';
import { until } from '../../support/until.ts';

const POLL = `import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'poll', setup(p) {
  const vote = p.action('vote', { data: { for: t.string() } }, (ctx, data) => \`voted \${data.for}\`);
  p.command('poll', { summary: 'Asks' }, () => ({ text: 'Tea?', buttons: [vote.button('Yes', { for: 'tea' })] }));
} });
`;

/** Signs for the second account. */
const LAB = 'the signing secret of another app';

describe('slack at the whole host', { timeout: 590_000 }, () => {
  it('answers an event, and takes it once, also when it comes again after a kill', async (t) => {
    const { host, slack, url } = await hostAt(t);
    const event = slack.line('/echo hello');

    const first = await slack.deliver(url, event);
    await isSent(host);
    const retry = { 'x-slack-retry-num': '1', 'x-slack-retry-reason': 'http_timeout' };
    const again = await slack.deliver(url, event, retry);
    await host.stop('SIGKILL');
    await host.start();
    const afterKill = await slack.deliver(url, event, { ...retry, 'x-slack-retry-num': '2' });
    await slack.deliver(url, slack.line('/echo again'));
    await until(() => textsOf(slack).includes('again'), { what: 'the second answer' });

    assert.deepEqual(
      [first, again, afterKill].map(({ status }) => status),
      [200, 200, 200],
    );
    assert.deepEqual([await first.text(), await afterKill.text()], ['', ''], 'an acknowledgement is empty');
    assert.deepEqual(textsOf(slack), ['hello', 'again']);
  });

  it('takes the same id at each of two accounts, and nothing that the bot said itself', async (t) => {
    const { slack, url } = await hostAt(t);
    const lab = url.replace('/work', '/lab');
    const event = slack.line('/echo both');
    const body = JSON.stringify(event);

    const itself = await slack.deliver(url, slack.line('/echo itself', { user: slack.workspace.bot }));
    const foreign = await slack.deliver(lab, event);
    const taken = [
      await slack.deliver(url, event),
      await slack.deliver(lab, event, slack.signed(body, { secret: LAB })),
    ];
    await until(() => textsOf(slack).length === 2, { what: 'an answer of each account' });

    assert.deepEqual(
      [itself, foreign, ...taken].map(({ status }) => status),
      [200, 401, 200, 200],
    );
    assert.deepEqual(textsOf(slack), ['both', 'both']);
  });

  it('answers each event that was acknowledged before a kill, though none comes again', async (t) => {
    const { host, slack, url } = await hostAt(t);
    const acknowledged = await deliverOverKills(host, (text, n) => {
      const channel = `C${1_000 + n}`;
      slack.workspace.channels.set(channel, 'open');
      return slack.deliver(url, slack.line(`/echo ${text}`, { channel }));
    });
    await until(() => acknowledged.every((text) => textsOf(slack).includes(text)), { what: 'an answer to each' });

    assert.equal(mostTimes(slack), 1, 'what may have been taken before a kill is looked for before it is sent again');
  });

  it('answers 401 to what Slack has not signed, stores nothing of it, and answers the challenge when it is signed', async (t) => {
    const { host, slack, url } = await hostAt(t);
    const body = JSON.stringify(slack.line('/echo x'));
    const post = (headers: Record<string, string>, sent = body): Promise<Response> =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: sent });
    const now = Math.floor(Date.now() / 1_000);

    const refused = [
      await post({}),
      await post(slack.signed(body, { secret: 'another' })),
      await post(slack.signed(body), `${body}\n`),
      await post(slack.signed(body, { at: now - 400 })),
      await post({}, JSON.stringify(CHALLENGE)),
      await post({ authorization: `Bearer ${host.project.token}` }),
    ];
    const stored = ((await host.get('api/inbox')) as { readonly items: readonly unknown[] }).items;
    const answered = await slack.deliver(url, CHALLENGE);

    assert.deepEqual(
      refused.map(({ status }) => status),
      Array(6).fill(401),
    );
    assert.deepEqual(stored, []);
    assert.deepEqual([answered.status, await answered.text()], [200, CHALLENGE.challenge]);
  });

  it('takes commands and presses of its buttons, in the channel and in private', async (t) => {
    const { slack, url } = await hostAt(t);
    const command = (text: string, more: object): URLSearchParams =>
      new URLSearchParams({
        team_id: slack.workspace.team,
        user_id: 'U1',
        user_name: 'ann',
        command: text,
        text: '',
        ...more,
      });

    const typed = await slack.deliver(url, command('/poll', { channel_id: 'C123ABC456', trigger_id: '1.1' }));
    await slack.deliver(
      url,
      command('/echo', { channel_id: 'D77', channel_name: 'directmessage', text: 'a &lt; b', trigger_id: '1.2' }),
    );
    await until(() => slack.workspace.messages.length === 2, { what: 'the answers' });
    const asked = slack.workspace.messages.find(({ channel }) => channel === 'C123ABC456');
    const token = /"value":"([^"]+)"/.exec(JSON.stringify(asked?.blocks))?.[1];
    const press = {
      ...BLOCK_ACTIONS,
      team: { id: slack.workspace.team },
      container: { type: 'message', message_ts: asked?.ts, channel_id: 'C123ABC456' },
      channel: { id: 'C123ABC456' },
      message: { ts: asked?.ts },
      actions: [{ ...BLOCK_ACTIONS.actions[0], value: token }],
    };
    for (let n = 0; n < 2; n += 1) await slack.deliver(url, new URLSearchParams({ payload: JSON.stringify(press) }));
    await until(() => textsOf(slack).includes('voted tea'), { what: 'the vote' });

    assert.equal(await typed.text(), '');
    const shown = slack.workspace.messages.map(({ channel, text }) => `${channel} ${text}`);
    assert.deepEqual(new Set(shown), new Set(['C123ABC456 Tea?', 'C123ABC456 voted tea', 'D1 a &lt; b']));
    assert.equal(shown.length, 3);
  });

  it('takes envelopes of Socket Mode over a renewal and a kill, and answers each that it acknowledged', async (t) => {
    const { host, slack } = await hostAt(t, 'socket');
    await until(() => slack.connections === 1, { what: 'the socket' });

    const ids = [slack.push('events_api', slack.line('/echo one'))];
    slack.disconnect('refresh_requested');
    ids.push(slack.push('events_api', slack.line('/echo two', { channel: channel(slack, 'C2') })));
    await until(() => ids.every((id) => slack.acknowledged.includes(id)), { what: 'the acknowledgements' });
    const last = slack.push('events_api', slack.line('/echo three', { channel: channel(slack, 'C3') }));
    await until(() => slack.acknowledged.includes(last), { what: 'the last acknowledgement', everyMs: 1 });
    await host.stop('SIGKILL');
    await host.start();
    const after = slack.push('events_api', slack.line('/echo four', { channel: channel(slack, 'C4') }));
    await until(() => ['one', 'two', 'three', 'four'].every((text) => textsOf(slack).includes(text)), {
      what: 'all answers',
    });

    await until(() => slack.acknowledged.includes(after), { what: 'its acknowledgement' });

    assert.equal(mostTimes(slack), 1, 'no answer shows twice');
    assert.doesNotMatch(host.output(), /xoxb-|xapp-|ticket=/);
  });

  it('fails an account whose token is revoked, with its remedy, and does not try again', async (t) => {
    const { host, slack, url } = await hostAt(t);
    slack.next('chat.postMessage', { status: 200, body: '{"ok":false,"error":"token_revoked"}' });

    await slack.deliver(url, slack.line('/echo hello'));
    const failed = await until(
      async () => {
        const { endpoints } = (await host.get('api/endpoints')) as {
          readonly endpoints: readonly { readonly state: string }[];
        };
        return endpoints.find(({ state }) => state === 'failed');
      },
      { what: 'the account to fail' },
    );

    assert.match(JSON.stringify(failed), /token_revoked[^]*install the app/);
    assert.equal(slack.calls.filter(({ method }) => method === 'chat.postMessage').length, 1);
  });
});

const textsOf = (slack: FakeSlack): readonly string[] => slack.workspace.messages.map(({ text }) => text);

/** How often the answer that shows most often does. */
const mostTimes = (slack: FakeSlack): number =>
  Math.max(...textsOf(slack).map((text) => textsOf(slack).filter((other) => other === text).length));

/** The host knows that its answer was taken: a kill from here on repeats nothing. */
const isSent = (host: RunningHost): Promise<unknown> =>
  until(
    async () => {
      const { items } = (await host.get('api/outbox')) as { readonly items: readonly { readonly state: string }[] };
      return items.some(({ state }) => state === 'sent');
    },
    { what: 'the answer to be sent' },
  );

/** A channel that the bot is in. */
function channel(slack: FakeSlack, id: string): string {
  slack.workspace.channels.set(id, 'open');
  return id;
}

async function hostAt(
  t: TestContext,
  mode: 'http' | 'socket' = 'http',
): Promise<{ readonly host: RunningHost; readonly slack: FakeSlack; readonly url: string }> {
  const slack = await FakeSlack.start(t);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
  const secrets = { token: '${SLACK_TOKEN}', secrets: ['${SLACK_SIGNING_SECRET}'], appToken: '${SLACK_APP_TOKEN}' };
  const endpoints = [{ id: 'work', mode, apiUrl: slack.apiUrl, ...secrets }];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
  const lab = { id: 'lab', apiUrl: slack.apiUrl, token: '${SLACK_TOKEN}', secrets: ['${LAB_SIGNING_SECRET}'] };
  const host = await runningHost(t, {
    plugins: {
      slack: { endpoints: mode === 'http' ? [...endpoints, lab] : endpoints },
      echo: {},
      poll: { use: './plugins/poll.js' },
    },
    env: {
      SLACK_TOKEN: slack.botToken,
      LAB_SIGNING_SECRET: LAB,
      SLACK_SIGNING_SECRET: slack.signingSecret,
      SLACK_APP_TOKEN: slack.appToken,
    },
    sources: { 'poll.js': POLL },
  });
  return { host, slack, url: `${host.url}webhooks/slack/work` };
}
