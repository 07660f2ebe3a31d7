// The whole host, away while people speak in Slack: what was missed is found in the history and answered once, what came already is not.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Sqlite } from '../../../shared/sqlite.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { until } from '../../support/until.ts';

const ROOM = 'C123ABC456';

describe('slack at a host that was away', { timeout: 590_000 }, () => {
  for (const mode of ['http', 'socket'] as const)
    it(`finds what was said meanwhile, and takes it once (mode ${mode})`, async (t) => {
      const { host, slack, deliver } = await hostAt(t, mode);
      await until(() => typeof cursorOf(host) === 'string', { what: 'the time of the first start' });

      await deliver(says(slack, '/echo before'));
      await until(() => textsOf(slack).includes('before'), { what: 'the first answer' });
      await isSent(host);
      await host.stop('SIGKILL');
      const missed = says(slack, '/echo missed');
      const root = says(slack, 'who answers here?');
      says(slack, '/echo in the thread', { thread_ts: root.ts });
      await host.start();
      await until(() => textsOf(slack).length === 3, { what: 'the answers to what was missed' });
      await deliver(missed);
      await deliver(says(slack, '/echo after'));
      await until(() => textsOf(slack).includes('after'), { what: 'the last answer' });
      await host.stop('SIGTERM');
      await host.start();
      await deliver(says(slack, '/echo at last'));
      await until(() => textsOf(slack).includes('at last'), { what: 'an answer after another start' });

      assert.deepEqual(textsOf(slack).toSorted(), ['after', 'at last', 'before', 'in the thread', 'missed']);
      const inThread = slack.workspace.messages.find(({ text }) => text === 'in the thread');
      assert.equal(inThread?.thread, root.ts);
    });
});

const textsOf = (slack: FakeSlack): readonly string[] => slack.workspace.messages.map(({ text }) => text);

let lines = 0;
/** What a person says now: the history has it, whether its event comes or not. */
function says(slack: FakeSlack, text: string, more: { readonly thread_ts?: string } = {}) {
  lines += 1;
  const ts = `${Math.floor(Date.now() / 1_000)}.${String(lines).padStart(6, '0')}`;
  const said = { type: 'message' as const, user: 'U061F7AUR', text, ts, channel: ROOM, ...more };
  slack.workspace.said.push(said);
  return said;
}

/** The answer is on its way for good: a kill from here on repeats nothing. */
const isSent = (host: RunningHost): Promise<unknown> =>
  until(
    async () => {
      const { items } = (await host.get('api/outbox')) as { readonly items: readonly { readonly state: string }[] };
      return items.some(({ state }) => state === 'sent');
    },
    { what: 'the answer to be sent' },
  );

function cursorOf({ project }: RunningHost): unknown {
  const database = new Sqlite(project.paths.database, { readonly: true });
  try {
    return (database.prepare('SELECT cursor FROM endpoints').get() as { readonly cursor?: unknown } | undefined)
      ?.cursor;
  } finally {
    database.close();
  }
}

async function hostAt(t: TestContext, mode: 'http' | 'socket') {
  const slack = await FakeSlack.start(t);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
  const secrets = { token: '${SLACK_TOKEN}', secrets: ['${SLACK_SIGNING_SECRET}'], appToken: '${SLACK_APP_TOKEN}' };
  const host = await runningHost(t, {
    plugins: { slack: { endpoints: [{ id: 'work', mode, apiUrl: slack.apiUrl, ...secrets }] }, echo: {} },
    env: {
      SLACK_TOKEN: slack.botToken,
      SLACK_SIGNING_SECRET: slack.signingSecret,
      SLACK_APP_TOKEN: slack.appToken,
    },
  });
  const deliver = async (said: object): Promise<void> => {
    const event = slack.event({ channel_type: 'channel', ...said });
    if (mode === 'http') {
      assert.equal((await slack.deliver(`${host.url}webhooks/slack/work`, event)).status, 200);
      return;
    }
    const id = slack.push('events_api', event);
    await until(() => slack.acknowledged.includes(id), { what: 'an acknowledgement' });
  };
  return { host, slack, deliver };
}
