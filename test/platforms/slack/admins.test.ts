// Who administers a workspace of slack: asked of it where somebody wants something of the bot, over HTTP and over Socket Mode.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { askFor } from '../../../worker/adapters/slack/admins.ts';
import { TIMING } from '../../../worker/adapters/slack/arrivals/socket.ts';
import { catchUp } from '../../../worker/adapters/slack/catch-up.ts';
import { type Account, account as properties } from '../../../worker/adapters/slack/config.ts';
import { createSlack } from '../../../worker/adapters/slack/index.ts';
import type { Arrival, Logger } from '../../../worker/sdk/index.ts';
import { adapterLink, definitionOf } from '../../support/accounts/adapter-link.ts';
import { BLOCK_ACTIONS } from '../../support/accounts/slack-examples.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import { runningHost } from '../../support/hosts/running-host.ts';
import { until } from '../../support/until.ts';

const slack = definitionOf(createSlack({ ...TIMING, retryMs: 10 }), properties);
const secret = (text: string) => ({ reveal: () => text });

const OPS = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'ops', setup(p) {
  p.command('close', { summary: 'Closes', who: 'admin' }, () => 'closed');
} });
`;

async function connected(t: TestContext, mode: Account['mode']) {
  const platform = await FakeSlack.start(t);
  const { people } = platform.workspace;
  people.set('UADMIN', { is_admin: true });
  people.set('UOWNER', { is_owner: true });
  people.set('UFIRST', { is_primary_owner: true });
  people.set('UNOBODY', {});
  people.set('UGUEST', { is_admin: true, team_id: 'T0OTHER00' });
  const account: Account = {
    token: secret(platform.botToken),
    appToken: secret(platform.appToken),
    mode,
    secrets: [secret(platform.signingSecret)],
    bots: false,
    apiUrl: platform.apiUrl,
  };
  const warnings: string[] = [];
  const warn: Logger['warn'] = (fields: object | string, message = ''): void =>
    void warnings.push(`${message} ${JSON.stringify(fields)}`);
  const link = adapterLink(account, { log: { debug() {}, info() {}, warn, error() {} } });
  t.after(() => link.stop());
  const connection = slack.connect?.(link) ?? Promise.reject(new Error('no connect'));
  connection.catch(() => {});
  await until(() => link.isOnline, { what: 'the account to be online' });
  const asked = (): readonly unknown[] =>
    platform.calls.filter(({ method }) => method === 'users.info').map(({ args }) => args['user']);
  /** As over HTTP: what comes of one delivery. */
  const parsed = (body: object | URLSearchParams): readonly Arrival[] => {
    const isForm = body instanceof URLSearchParams;
    const request = {
      method: 'POST',
      path: '/webhooks/slack/work',
      query: {},
      headers: { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' },
      body: Buffer.from(isForm ? body.toString() : JSON.stringify(body)),
      receivedAt: Date.now(),
    };
    return slack.webhook?.parse(request, account) ?? [];
  };
  return { platform, link, account, warnings, asked, parsed, connection };
}

const said = (platform: FakeSlack, user: string, text = '/close'): object => platform.line(text, { user });
const typed = ({ workspace }: FakeSlack, user: string, trigger: string) => ({
  command: '/close',
  text: '',
  team_id: workspace.team,
  user_id: user,
  channel_id: 'C123ABC456',
  trigger_id: trigger,
});
const pressed = ({ workspace }: FakeSlack, user: string): object => ({
  ...(BLOCK_ACTIONS as object),
  team: { id: workspace.team },
  user: { id: user },
});
const admins = (arrivals: readonly Arrival[]): readonly string[] =>
  arrivals.map(({ user }) => `${user.id} ${user.admin}`);
const isStored = (platform: FakeSlack, id: string): Promise<unknown> =>
  until(() => platform.acknowledged.includes(id), { what: 'the acknowledgement' });

describe('administrators on slack', { timeout: 900_000 }, () => {
  it('are known by the first thing that they want over Socket Mode: messages, commands, presses', async (t) => {
    const { platform, link, asked } = await connected(t, 'socket');

    for (const user of ['UADMIN', 'UOWNER', 'UFIRST', 'UNOBODY', 'UGUEST', 'UUNKNOWN'])
      platform.push('events_api', said(platform, user));
    platform.push('events_api', said(platform, 'UADMIN', 'a word among people'));
    platform.push('slash_commands', typed(platform, 'UADMIN', '1.1'));
    await isStored(platform, platform.push('interactive', pressed(platform, 'UADMIN')));

    assert.deepEqual(admins(link.arrivals), [
      'UADMIN true',
      'UOWNER true',
      'UFIRST true',
      'UNOBODY false',
      'UGUEST false',
      'UUNKNOWN false',
      'UADMIN false',
      'UADMIN true',
      'UADMIN true',
    ]);
    assert.equal(asked().length, 6, 'once each');
    assert.equal(new Set(asked()).size, 6);
  });

  it('are asked for where somebody wants something alone', async (t) => {
    const { platform, link, asked } = await connected(t, 'socket');
    const { bot } = platform.workspace;

    platform.push('events_api', said(platform, 'UADMIN', 'a word among people'));
    platform.push('events_api', said(platform, bot, '/close'));
    await isStored(platform, platform.push('events_api', said(platform, 'UOWNER', `please <@${bot}>`)));

    assert.equal(link.arrivals.length, 3);
    assert.deepEqual(asked(), ['UOWNER']);
  });

  it('are known over HTTP from the second thing on: a delivery is read without a question', async (t) => {
    const { platform, asked, parsed } = await connected(t, 'http');

    const first = parsed(said(platform, 'UADMIN'));
    await until(() => asked().length === 1, { what: 'the question' });
    const second = await until(
      () => {
        const arrivals = parsed(said(platform, 'UADMIN'));
        return arrivals[0]?.user.admin === true ? arrivals : undefined;
      },
      { what: 'the answer' },
    );
    const others = [
      ...parsed(new URLSearchParams(typed(platform, 'UADMIN', '1.2'))),
      ...parsed(new URLSearchParams({ payload: JSON.stringify(pressed(platform, 'UADMIN')) })),
    ];

    assert.deepEqual(admins([...first, ...second, ...others]), [
      'UADMIN false',
      'UADMIN true',
      'UADMIN true',
      'UADMIN true',
    ]);
    assert.deepEqual(asked(), ['UADMIN']);
  });

  it('are known in what was missed', async (t) => {
    const { platform, link } = await connected(t, 'http');
    const ts = ((Date.now() - 60_000) / 1_000).toFixed(6);
    platform.workspace.said.push({ type: 'message', user: 'UADMIN', text: '/close', ts, channel: 'C123ABC456' });
    const cursor = JSON.stringify({ workspace: platform.workspace.team, at: Date.now() - 3_600_000, seen: [] });

    await catchUp(Object.assign(Object.create(link) as typeof link, { cursor }));

    assert.deepEqual(admins(link.arrivals), ['UADMIN true']);
  });

  it('are nobody without the scope, which is said once', async (t) => {
    const { platform, link, asked, warnings } = await connected(t, 'socket');
    platform.scopes = platform.scopes.replace(',users:read', '');

    await isStored(platform, platform.push('events_api', said(platform, 'UADMIN')));
    await isStored(platform, platform.push('events_api', said(platform, 'UOWNER')));

    assert.deepEqual(admins(link.arrivals), ['UADMIN false', 'UOWNER false']);
    assert.deepEqual(asked(), ['UADMIN'], 'it is not asked again for some minutes');
    await askFor(link, platform.workspace.team)('UADMIN'); // as the next connection does
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /administrator.*users:read/);
  });

  it('keep nothing up where Slack does not answer, asks to wait, or is in trouble', async (t) => {
    for (const trouble of ['silent', 'slow down', 'refuses the token'] as const) {
      const { platform, link } = await connected(t, 'socket');
      if (trouble === 'silent') platform.mute.add('users.info');
      if (trouble === 'slow down') platform.left.set('users.info', 0);
      if (trouble === 'refuses the token')
        platform.next('users.info', { status: 200, body: '{"ok":false,"error":"token_revoked"}' });

      await isStored(platform, platform.push('events_api', said(platform, 'UADMIN')));
      await isStored(platform, platform.push('events_api', said(platform, 'UOWNER')));

      assert.deepEqual(admins(link.arrivals), ['UADMIN false', 'UOWNER false'], trouble);
      assert.equal(link.isOnline && !link.signal.aborted, true, trouble);
      link.stop();
    }
  });

  it('may use a command that is for them, and others are refused', async (t) => {
    const platform = await FakeSlack.start(t);
    platform.workspace.people.set('UADMIN', { is_owner: true });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
    const keys = { token: '${SLACK_TOKEN}', appToken: '${SLACK_APP_TOKEN}' };
    await runningHost(t, {
      plugins: {
        slack: { endpoints: [{ id: 'work', mode: 'socket', apiUrl: platform.apiUrl, ...keys }] },
        ops: { use: './plugins/ops.js' },
      },
      env: { SLACK_TOKEN: platform.botToken, SLACK_APP_TOKEN: platform.appToken },
      sources: { 'ops.js': OPS },
    });
    await until(() => platform.connections === 1, { what: 'the socket' });
    const texts = (): readonly string[] => platform.workspace.messages.map(({ text }) => text);

    platform.push('events_api', said(platform, 'UNOBODY'));
    await until(() => texts().length === 1, { what: 'the refusal' });
    platform.push('events_api', said(platform, 'UADMIN'));
    await until(() => texts().length === 2, { what: 'the answer' });

    assert.deepEqual(texts(), ['Only admins may do that.', 'closed']);
  });
});
