// Socket Mode: acknowledged when stored, over sockets that Slack takes away, that break, or that fall silent.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { TIMING } from '../../../worker/adapters/slack/arrivals/socket.ts';
import { type Account, account as properties } from '../../../worker/adapters/slack/config.ts';
import { createSlack } from '../../../worker/adapters/slack/index.ts';
import type { Arrival } from '../../../worker/sdk/index.ts';
import { adapterLink, definitionOf, type TestLink } from '../../support/accounts/adapter-link.ts';
import { BLOCK_ACTIONS } from '../../support/accounts/slack-examples.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import { until } from '../../support/until.ts';

const slack = definitionOf(createSlack({ ...TIMING, retryMs: 10 }), properties);
const impatient = definitionOf(createSlack({ ...TIMING, pingMs: 20, silentMs: 200 }), properties);
const secret = (text: string) => ({ reveal: () => text });

const accountOf = (platform: FakeSlack, more: Partial<Account> = {}): Account => ({
  token: secret(platform.botToken),
  appToken: secret(platform.appToken),
  mode: 'socket',
  secrets: [],
  bots: false,
  apiUrl: platform.apiUrl,
  ...more,
});

interface Connected {
  readonly platform: FakeSlack;
  readonly link: TestLink<Account>;
  /** Settles as the connection ends. */
  readonly connection: Promise<void>;
}

type Opened = Omit<Connected, 'platform'>;

/** Opens an account of the workspace of a platform, and waits for nothing. */
const opener =
  (t: TestContext, adapter = slack) =>
  (at: FakeSlack, more: Parameters<typeof adapterLink<Account>>[1] = {}): Opened => {
    const link = adapterLink(accountOf(at, { team: at.workspace.team }), more);
    t.after(() => link.stop());
    const connection = adapter.connect?.(link) ?? Promise.reject(new Error('no connect'));
    connection.catch(() => {});
    return { link, connection };
  };

async function connected(
  t: TestContext,
  {
    store,
    adapter = slack,
  }: { readonly store?: (arrivals: readonly Arrival[]) => Promise<void>; readonly adapter?: typeof slack } = {},
): Promise<Connected> {
  const platform = await FakeSlack.start(t);
  const link = adapterLink(accountOf(platform), store === undefined ? {} : { store });
  t.after(() => link.stop());
  const connection = adapter.connect?.(link) ?? Promise.reject(new Error('no connect'));
  connection.catch(() => {});
  await until(() => link.isOnline, { what: 'the account to be online' });
  return { platform, link, connection };
}

const textsOf = ({ arrivals }: { readonly arrivals: readonly Arrival[] }): readonly unknown[] =>
  arrivals.map((one) => ('text' in one ? one.text : one.kind));
const isAcknowledged = (platform: FakeSlack, ...ids: readonly string[]): Promise<unknown> =>
  until(() => ids.every((id) => platform.acknowledged.includes(id)), { what: 'the acknowledgements' });

/** What comes for the account of `elsewhere` waits at Slack until that one is there, and nothing of ours behind it. */
async function keptFor(
  elsewhere: FakeSlack,
  { platform, link, open }: Omit<Connected, 'connection'> & { readonly open: ReturnType<typeof opener> },
): Promise<void> {
  const press = { ...(BLOCK_ACTIONS as object), team: { id: elsewhere.workspace.team }, user: { id: 'U1' } };
  const theirs = [platform.push('events_api', elsewhere.line('for them')), platform.push('interactive', press)];
  await isAcknowledged(platform, platform.push('events_api', platform.line('for us')));
  const before = [...platform.acknowledged];
  const late = open(elsewhere).link;
  await isAcknowledged(platform, ...theirs);

  assert.equal(before.length, 1, 'nobody has stored theirs');
  assert.deepEqual([textsOf(link), textsOf(late)], [['for us'], ['for them', 'pressed']]);
}

describe('Socket Mode', () => {
  it('hands what is for another workspace to the account of that workspace: Slack sends to any socket of the app', async (t) => {
    const [platform, elsewhere] = [await FakeSlack.start(t), await FakeSlack.start(t)];
    Object.assign(elsewhere.workspace, { team: 'T0OTHER00' });
    const open = opener(t);
    const [{ link: ours }, { link: theirs }] = [open(platform), open(elsewhere)];
    await until(() => ours.isOnline && theirs.isOnline, { what: 'both accounts to be online' });

    const ids = [
      elsewhere.push('events_api', platform.line('for us')),
      elsewhere.push('events_api', elsewhere.line('for them')),
      elsewhere.push('events_api', { ...platform.line('for nobody'), team_id: 'T0NOBODY0', authorizations: [] }),
    ];
    await isAcknowledged(elsewhere, ...ids);

    assert.deepEqual([textsOf(ours), textsOf(theirs)], [['for us'], ['for them']]);
  });

  it('keeps what is for an account that is not connected until that account has stored it', async (t) => {
    const [platform, elsewhere] = [await FakeSlack.start(t), await FakeSlack.start(t)];
    Object.assign(elsewhere.workspace, { team: 'T0AWAY000' });
    const open = opener(t);
    const ours = open(platform);
    await until(() => ours.link.isOnline, { what: 'our account to be online' });
    // Theirs is tried, and Slack is in trouble: the host comes back later.
    elsewhere.next('auth.test', { status: 503 });
    await assert.rejects(open(elsewhere).connection);

    await keptFor(elsewhere, { platform, link: ours.link, open });
  });

  for (const call of ['connect', 'send'] as const)
    it(`leaves to Slack, however long, what is for an account that a ${call} found refused, until it stands again`, async (t) => {
      const [platform, elsewhere] = [await FakeSlack.start(t), await FakeSlack.start(t)];
      Object.assign(elsewhere.workspace, { team: call === 'connect' ? 'T0REFUSED' : 'T0REVOKED' });
      const adapter = definitionOf(createSlack({ ...TIMING, awayMs: 0 }), properties);
      const open = opener(t, adapter);
      const revoked = { status: 200, body: JSON.stringify({ ok: false, error: 'token_revoked' }) };
      const ours = open(platform);
      await until(() => ours.link.isOnline, { what: 'our account to be online' });
      if (call === 'connect') {
        elsewhere.next('auth.test', revoked);
        await assert.rejects(open(elsewhere).connection, { code: 'account_failed' });
      } else {
        const { link, connection } = open(elsewhere);
        await until(() => link.isOnline, { what: 'their account to be online' });
        elsewhere.next('chat.update', revoked);
        const edit = {
          kind: 'edit',
          key: 'k',
          conversation: 'C1',
          message: '1.1',
          text: 'x',
          buttons: [],
          files: [],
        } as const;
        await assert.rejects(adapter.send(edit, link), { code: 'account_failed' });
        link.stop(); // as the host does
        await connection;
      }

      await keptFor(elsewhere, { platform, link: ours.link, open });
    });

  it('drops what is for an account that was refused so long ago that nobody will mend it', async (t) => {
    const [platform, elsewhere] = [await FakeSlack.start(t), await FakeSlack.start(t)];
    Object.assign(elsewhere.workspace, { team: 'T0FORGOT0' });
    const adapter = definitionOf(createSlack({ ...TIMING, awayMs: 0, refusedMs: 0 }), properties);
    const open = opener(t, adapter);
    const ours = open(platform);
    await until(() => ours.link.isOnline, { what: 'our account to be online' });
    elsewhere.next('auth.test', { status: 200, body: JSON.stringify({ ok: false, error: 'token_revoked' }) });
    await assert.rejects(open(elsewhere).connection, { code: 'account_failed' });

    const theirs = platform.push('events_api', elsewhere.line('for them'));
    await isAcknowledged(platform, theirs, platform.push('events_api', platform.line('for us')));

    assert.deepEqual(textsOf(ours.link), ['for us']);
  });

  it('keeps what the account of another workspace could not store when it went, and goes on with the rest', async (t) => {
    const [platform, elsewhere] = [await FakeSlack.start(t), await FakeSlack.start(t)];
    Object.assign(elsewhere.workspace, { team: 'T0GOES000' });
    let asked = 0;
    const store = (): Promise<void> => {
      asked += 1;
      return Promise.reject(new Error('disk full'));
    };
    const connect = opener(t);
    const open = async (...given: Parameters<typeof connect>): Promise<TestLink<Account>> => {
      const { link } = connect(...given);
      await until(() => link.isOnline, { what: 'the account to be online' });
      return link;
    };
    const ours = await open(platform);
    const former = await open(elsewhere, { store });

    const theirs = platform.push('events_api', elsewhere.line('for them'));
    await until(() => asked > 0, { what: 'the store to be asked' });
    const mine = platform.push('events_api', platform.line('for us'));
    former.stop();
    await isAcknowledged(platform, mine);
    const before = platform.acknowledged.includes(theirs);
    const later = await open(elsewhere);
    await isAcknowledged(platform, theirs);

    assert.equal(before, false);
    assert.deepEqual([textsOf(ours), textsOf(later)], [['for us'], ['for them']]);
  });

  it('acknowledges an envelope when it is stored, and not before', async (t) => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let asked = 0;
    const store = (): Promise<void> => {
      asked += 1;
      return gate;
    };
    const { platform, link } = await connected(t, { store });

    const ids = [platform.push('events_api', platform.line('one')), platform.push('interactive', BLOCK_ACTIONS)];
    await until(() => asked > 0, { what: 'the store to be asked' });
    const before = [...platform.acknowledged];
    release();
    await isAcknowledged(platform, ...ids);

    assert.deepEqual(before, []);
    assert.deepEqual(textsOf(link), ['one', 'pressed']);
  });

  it('takes commands, and keeps what it cannot read', async (t) => {
    const { platform, link } = await connected(t);

    const command = {
      command: '/remind',
      text: '10m tea',
      user_id: 'U1',
      channel_id: 'C1',
      team_id: 'T1',
      trigger_id: '1.2.a',
    };
    await isAcknowledged(
      platform,
      platform.push('slash_commands', command),
      platform.push('events_api', { type: 'event_callback' }),
    );

    assert.deepEqual(
      link.arrivals.map((one) => (one.kind === 'command' ? [one.name, one.line] : one.kind === 'other' && one.type)),
      [['remind', '10m tea'], 'unreadable'],
    );
  });

  it('stores again what could not be stored, in order, and then acknowledges it', async (t) => {
    let failures = 3;
    const store = (): Promise<void> => (failures-- > 0 ? Promise.reject(new Error('disk full')) : Promise.resolve());
    const { platform, link } = await connected(t, { store });

    const ids = ['one', 'two', 'three'].map((text) => platform.push('events_api', platform.line(text)));
    await isAcknowledged(platform, ...ids);

    assert.deepEqual(textsOf(link), ['one', 'two', 'three']);
    assert.deepEqual(platform.acknowledged, ids);
  });

  it('goes over to another socket when Slack asks for it, stays online, and loses nothing', async (t) => {
    const { platform, link, connection } = await connected(t);
    let isOver = false;
    void connection.finally(() => {
      isOver = true;
    });

    for (const [round, reason] of ['warning', 'refresh_requested', 'refresh_requested'].entries()) {
      const { opened } = platform;
      const ids = [platform.push('events_api', platform.line(`${round} before`))];
      platform.disconnect(reason);
      ids.push(platform.push('events_api', platform.line(`${round} meanwhile`)));
      // The old one alone is one socket, too; and asked to go once more it asks for no other.
      await until(() => platform.opened > opened && platform.connections === 1, {
        what: 'another socket, and the old one to go',
      });
      ids.push(platform.push('events_api', platform.line(`${round} after`)));
      await isAcknowledged(platform, ...ids);
    }

    const said = new Set(textsOf(link));
    assert.deepEqual(said, new Set([0, 1, 2].flatMap((n) => [`${n} before`, `${n} meanwhile`, `${n} after`])));
    assert.equal(isOver, false);
  });

  it('throws when a socket breaks; what was not acknowledged comes on the next one, under the same id', async (t) => {
    let isBroken = true;
    const seen: string[] = [];
    const store = (arrivals: readonly Arrival[]): Promise<void> => {
      seen.push(...arrivals.map(({ id }) => id));
      return isBroken ? Promise.reject(new Error('disk full')) : Promise.resolve();
    };
    const { platform, connection } = await connected(t, { store });

    const id = platform.push('events_api', platform.line('hello'));
    await until(() => seen.length > 0, { what: 'the event' });
    platform.cut();
    await assert.rejects(connection, /connection was lost|closed the connection/);
    isBroken = false;
    const again = adapterLink(accountOf(platform), { store });
    t.after(() => again.stop());
    slack.connect?.(again).catch(() => {});
    await isAcknowledged(platform, id);

    assert.deepEqual(textsOf(again), ['hello']);
    assert.equal(new Set(seen).size, 1);
  });

  it('throws when nothing is heard any more, not even the answer to a ping', async (t) => {
    const { platform, connection } = await connected(t, { adapter: impatient });

    platform.freeze();

    await assert.rejects(connection, /connection was lost/);
  });

  it('ends with its signal, and Slack sees the socket close', async (t) => {
    const { platform, link, connection } = await connected(t);

    link.stop();
    await connection;

    await until(() => platform.connections === 0, { what: 'the socket to be closed' });
  });
});

describe('an account of Slack', () => {
  const connectWith = (t: TestContext, platform: FakeSlack, more: Partial<Account>): Promise<void> => {
    const link = adapterLink({ ...accountOf(platform), ...more });
    t.after(() => link.stop());
    return slack.connect?.(link) ?? Promise.resolve();
  };

  it('fails with a remedy when it can never work', async (t) => {
    const platform = await FakeSlack.start(t);
    const { appToken: _none, ...without } = accountOf(platform);
    const link = adapterLink<Account>(without);
    const failed = (remedy: RegExp) => ({ code: 'account_failed', remedy });

    await assert.rejects(slack.connect?.(link) ?? Promise.resolve(), failed(/connections:write/));
    await assert.rejects(connectWith(t, platform, { mode: 'http' }), failed(/Signing Secret/));
    await assert.rejects(connectWith(t, platform, { token: secret('xoxb-revoked') }), failed(/token/));
    await assert.rejects(connectWith(t, platform, { appToken: secret(platform.botToken) }), failed(/token/));
    await assert.rejects(connectWith(t, platform, { team: 'T000OTHER' }), failed(/team/));
  });

  it('fails when Socket Mode is turned off, and is only lost when Slack is in trouble', async (t) => {
    const { platform, connection } = await connected(t);
    platform.disconnect('link_disabled');
    await assert.rejects(connection, { code: 'account_failed', remedy: /turn it on/ });

    platform.next('auth.test', { status: 503 });
    await assert.rejects(
      connectWith(t, platform, {}),
      (error: { readonly code?: unknown }) => error.code !== 'account_failed',
    );
  });

  it('over HTTP is online when its token is good, until its end', async (t) => {
    const platform = await FakeSlack.start(t);
    const link = adapterLink(accountOf(platform, { mode: 'http', secrets: [secret('s')] }));
    const connection = slack.connect?.(link);
    await until(() => link.isOnline, { what: 'the account to be online' });

    link.stop();
    await connection;

    assert.equal(platform.connections, 0);
  });
});
