// What was said while an account of slack was away: found in the history, under the ids that its events have, and taken once.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { catchUp } from '../../../worker/adapters/slack/catch-up.ts';
import type { Account } from '../../../worker/adapters/slack/config.ts';
import { parse } from '../../../worker/adapters/slack/parse.ts';
import type { Arrival } from '../../../worker/sdk/index.ts';
import { adapterLink } from '../../support/accounts/adapter-link.ts';
import { FakeSlack } from '../../support/fake-platforms/slack.ts';
import { until } from '../../support/until.ts';

const HOUR_MS = 3_600_000;
const ROOM = 'C123ABC456';
const LONG_MS = 1_000_000_000;
const secret = (text: string) => ({ reveal: () => text });
const ts = (agoMs: number): string => ((Date.now() - agoMs) / 1_000).toFixed(6);

interface Stored {
  readonly arrivals: readonly Arrival[];
  readonly cursor: string | undefined;
}

async function start(t: TestContext, more: Partial<Account> = {}) {
  const platform = await FakeSlack.start(t);
  const account: Account = {
    token: secret(platform.botToken),
    mode: 'http',
    secrets: [],
    bots: false,
    apiUrl: platform.apiUrl,
    ...more,
  };
  const stored: Stored[] = [];
  const logs: string[] = [];
  /** One connection, from the cursor that was stored by the one before. */
  const open = (cursor = stored.findLast((one) => one.cursor !== undefined)?.cursor) => {
    const base = adapterLink(account);
    const line = (_fields: object | string, message = ''): void => void logs.push(message);
    const link = Object.assign(Object.create(base) as typeof base, {
      cursor,
      log: { debug: line, info: line, warn: line, error: line },
      receive: async (arrivals: readonly Arrival[], next?: string) => void stored.push({ arrivals, cursor: next }),
    });
    t.after(() => link.stop());
    return link;
  };
  const cursor = (agoMs: number, seen: readonly string[] = []): string =>
    JSON.stringify({ workspace: platform.workspace.team, at: Date.now() - agoMs, seen });
  /** As the history tells it, without an event. */
  const says = (
    text: string,
    { channel = ROOM, agoMs = 1_000, ...rest }: Record<string, unknown> & { agoMs?: number; channel?: string } = {},
  ) => {
    const said = { type: 'message' as const, user: 'U061F7AUR', text, ts: ts(agoMs), channel, ...rest };
    platform.workspace.said.push(said);
    return said;
  };
  const arrivals = (): readonly Arrival[] => stored.flatMap((one) => one.arrivals);
  const texts = (): readonly unknown[] =>
    arrivals()
      .filter(({ user }) => user.self !== true)
      .map((one) => 'text' in one && one.text);
  return { platform, account, stored, logs, open, cursor, says, arrivals, texts };
}

const historyCalls = ({ calls }: FakeSlack): number =>
  calls.filter(({ method }) => method.startsWith('conversations.') || method === 'users.conversations').length;

describe('slack catches up', () => {
  it('with nothing the first time, and notes when that was', async (t) => {
    const { platform, open, stored, says } = await start(t);
    says('before the bot was there');

    await catchUp(open(), LONG_MS);

    assert.deepEqual([stored.length, stored[0]?.arrivals.length, historyCalls(platform)], [1, 0, 0]);
    assert.match(stored[0]?.cursor ?? '', /"workspace":"T123ABC456","at":\d+/);
  });

  it('with what was said in channels, in threads and in private, under the ids of the events', async (t) => {
    const { platform, account, open, cursor, says, arrivals, texts } = await start(t);
    const plain = says('in the channel', { agoMs: 5_000 });
    const root = says('an old root', { agoMs: 5 * HOUR_MS });
    says('in its thread', { agoMs: 4_000, thread_ts: root.ts, parent_user_id: platform.workspace.bot });
    const fresh = says('a new root', { agoMs: 3_000 });
    says('answered', { agoMs: 2_000, thread_ts: fresh.ts });
    says('in private', { agoMs: 1_500, channel: 'D061F7AUR' });
    says('long before', { agoMs: 3 * HOUR_MS });
    says('not said', { agoMs: 1_000, subtype: 'channel_join' });
    says('ours', { agoMs: 900, user: platform.workspace.bot, bot_id: 'B123ABC456' });

    await catchUp(open(cursor(HOUR_MS, [`${ROOM}:${root.ts}`, 'D061F7AUR'])), LONG_MS);

    assert.deepEqual(
      new Set(texts()),
      new Set(['in the channel', 'in its thread', 'a new root', 'answered', 'in private']),
    );
    const inThread = arrivals().find((one) => 'text' in one && one.text === 'in its thread');
    assert.deepEqual(inThread?.kind === 'message' && [inThread.conversation.thread, inThread.addressed], [
      root.ts,
      true,
    ]);
    const { channel, ...message } = plain;
    const event = platform.event({ ...message, channel, channel_type: 'channel' });
    const body = Buffer.from(JSON.stringify(event));
    const request = { method: 'POST', path: '', query: {}, headers: {}, body, receivedAt: 1 };
    const [heard] = parse({ ...request, headers: { 'content-type': 'application/json' } }, account);
    const caught = arrivals().find((one) => 'text' in one && one.text === 'in the channel');
    assert.deepEqual(caught, heard);
  });

  it('with edits of what was heard, and roots of threads that were taken away, under the ids of the events', async (t) => {
    const { platform, account, open, cursor, says, arrivals } = await start(t);
    const edited = (agoMs: number) => ({ edited: { user: 'U061F7AUR', ts: ts(agoMs) } });
    const fixed = says('fixed', { agoMs: 3 * HOUR_MS, ...edited(5_000) });
    says('fixed long before', { agoMs: 4 * HOUR_MS, ...edited(2 * HOUR_MS) });
    says('said and fixed meanwhile', { agoMs: 4_000, ...edited(3_000) });
    const root = says('This message was deleted.', { agoMs: 2 * HOUR_MS, subtype: 'tombstone', user: 'USLACKBOT' });
    says('answered before', { agoMs: 1.5 * HOUR_MS, thread_ts: root.ts });

    await catchUp(open(cursor(HOUR_MS)), LONG_MS);

    const told = arrivals().map((one) => [one.kind, 'text' in one ? one.text : one.kind === 'deleted' && one.message]);
    assert.deepEqual(told, [
      ['edited', 'fixed'],
      ['deleted', root.ts],
      ['message', 'said and fixed meanwhile'],
    ]);
    const { channel, ...message } = fixed;
    const change = { subtype: 'message_changed', channel, message, previous_message: { ...message, text: 'fxied' } };
    const gone = { subtype: 'message_deleted', channel, deleted_ts: root.ts, previous_message: { ts: root.ts } };
    const ids = [change, gone].map((event) => {
      const body = Buffer.from(JSON.stringify(platform.event({ type: 'message', ...event })));
      const headers = { 'content-type': 'application/json' };
      return parse({ method: 'POST', path: '', query: {}, headers, body, receivedAt: 1 }, account)[0]?.id;
    });
    assert.deepEqual(
      arrivals()
        .slice(0, 2)
        .map(({ id }) => id),
      ids,
    );
  });

  it('over pages in their order, once the way is free, past channels that it may not read', async (t) => {
    const { platform, open, cursor, says, texts, logs } = await start(t);
    platform.workspace.mostHistory = 3;
    const said = Array.from({ length: 8 }, (_, n) => says(`line ${n}`, { agoMs: 10_000 - n * 1_000 }).text);
    says('elsewhere', { channel: 'C0LEFT' });
    platform.workspace.channels.set('C0LEFT', 'open');
    platform.next('conversations.history', { status: 429, headers: { 'retry-after': '0' } });
    platform.next('conversations.history', { status: 200, body: '{"ok":false,"error":"not_in_channel"}' });

    await catchUp(open(cursor(HOUR_MS, ['C0LEFT', ROOM])), LONG_MS);

    assert.deepEqual(texts(), said);
    assert.ok(logs.includes('looked through the history for what was missed'));
  });

  it('after a short absence only in twenty conversations, first where somebody spoke last', async (t) => {
    const { platform, account, open, cursor, says, texts } = await start(t);
    for (let n = 0; n < 30; n += 1) platform.workspace.channels.set(`C0QUIET${n}`, 'open');
    says('here', { channel: 'C0QUIET29' });
    says('there', { channel: 'C0QUIET28' });
    const body = Buffer.from(JSON.stringify(platform.line('heard', { channel: 'C0QUIET29' })));
    const headers = { 'content-type': 'application/json' };
    parse({ method: 'POST', path: '', query: {}, headers, body, receivedAt: 1 }, account);

    await catchUp(open(cursor(60_000)), LONG_MS);

    assert.deepEqual(texts(), ['here']);
    assert.equal(historyCalls(platform), 21);
  });

  it('two days at most, and not where the ids could be others', async (t) => {
    const { platform, open, cursor, says, texts } = await start(t);
    platform.workspace.channels.set('C0SHARED', 'shared');
    says('three days ago', { agoMs: 72 * HOUR_MS });
    says('a day ago', { agoMs: 24 * HOUR_MS });
    says('shared', { channel: 'C0SHARED' });

    await catchUp(open(cursor(100 * HOUR_MS, ['C0SHARED'])), LONG_MS);
    assert.deepEqual(texts(), ['a day ago']);

    const organisation = { ok: true, team_id: 'E123', user_id: platform.workspace.bot, is_enterprise_install: true };
    platform.next('auth.test', { status: 200, body: JSON.stringify(organisation) });
    const before = historyCalls(platform);
    await catchUp(open(cursor(HOUR_MS)), LONG_MS);
    assert.equal(historyCalls(platform), before);
  });

  it('in private alone, where it may not know which channels are shared', async (t) => {
    const { platform, open, cursor, says, texts, logs } = await start(t);
    says('in the channel');
    says('in private', { channel: 'D061F7AUR' });
    const missing = { ok: false, error: 'missing_scope', needed: 'groups:read' };
    platform.next('users.conversations', { status: 200, body: JSON.stringify(missing) });

    await catchUp(open(cursor(HOUR_MS, [ROOM, 'D061F7AUR'])), LONG_MS);

    assert.deepEqual(texts(), ['in private']);
    assert.ok(logs.includes('the channels are not told: what was missed there is not looked for'));
  });

  it('from the beginning again when it was cut off, and only then notes the time', async (t) => {
    const { platform, open, cursor, says, stored, texts } = await start(t);
    says('missed');
    platform.next('conversations.history', 'drop');

    await assert.rejects(catchUp(open(cursor(HOUR_MS)), LONG_MS), /conversations.history/);
    assert.equal(stored.length, 0);
    await catchUp(open(cursor(HOUR_MS)), LONG_MS);

    assert.deepEqual(texts(), ['missed']);
    assert.ok(stored.at(-1)?.cursor !== undefined);
  });

  it('with what came while the host took nothing in, once it does again, and asks Slack for nothing before', async (t) => {
    const { platform, open, says, stored, texts } = await start(t);
    let refusals = 0;
    let isPaused = false;
    const link = open();
    const { receive } = link;
    Object.assign(link, {
      receive: async (arrivals: readonly Arrival[], cursor?: string) => {
        if (!isPaused) return receive(arrivals, cursor);
        refusals += 1;
        throw new Error('an operator has paused ingress');
      },
    });
    await catchUp(link, 5);
    isPaused = true;
    says('refused, until Slack gave up');
    await until(() => refusals > 3, { what: 'some beats' });
    assert.equal(historyCalls(platform), 0);
    isPaused = false;

    await until(() => texts().length > 0, { what: 'what was refused' });
    assert.deepEqual(texts(), ['refused, until Slack gave up']);
    const calls = historyCalls(platform);
    const notes = stored.length;
    await until(() => stored.length > notes + 3, { what: 'more beats' });
    assert.equal(historyCalls(platform), calls, 'and then no more');
    link.stop();
  });

  it('with what Slack left out because there was too much, once it has said so', async (t) => {
    const { platform, account, open, says, texts } = await start(t);
    const link = open();
    await catchUp(link, 5);
    says('left out');
    await until(() => platform.calls.length > 0, { what: 'the first calls' });
    assert.equal(historyCalls(platform), 0);
    const limited = {
      token: 'x',
      type: 'app_rate_limited',
      team_id: platform.workspace.team,
      minute_rate_limited: Math.floor(Date.now() / 60_000) * 60,
      api_app_id: 'A1',
    };
    const headers = { 'content-type': 'application/json' };

    parse(
      {
        method: 'POST',
        path: '',
        query: {},
        headers,
        body: Buffer.from(JSON.stringify(limited)),
        receivedAt: Date.now(),
      },
      account,
    );

    await until(() => texts().length > 0, { what: 'what was left out' });
    assert.deepEqual(texts(), ['left out']);
    link.stop();
  });

  it('notes the time while it stands, with the places, and stops with its connection', async (t) => {
    const { platform, account, open, stored } = await start(t);
    const link = open();
    await catchUp(link, 5);
    const body = Buffer.from(JSON.stringify(platform.line('heard', { thread_ts: '1700000000.000001' })));
    const headers = { 'content-type': 'application/json' };
    parse({ method: 'POST', path: '', query: {}, headers, body, receivedAt: 1 }, account);

    await until(() => stored.at(-1)?.cursor?.includes(`"${ROOM}:1700000000.000001","${ROOM}"`), { what: 'the place' });
    const at = (cursor = '{}') => (JSON.parse(cursor) as { readonly at: number }).at;
    const first = at(stored[0]?.cursor);
    await until(() => at(stored.at(-1)?.cursor) > first, { what: 'a later time' });
    link.stop();

    for (const wrong of ['', '{}', '[]', '{"workspace":"T123ABC456","at":-1}', '{"workspace":"TOTHER","at":5}'])
      await catchUp(open(wrong), LONG_MS);
    assert.equal(historyCalls(platform), 0, 'what is no cursor of this workspace is a first time');
  });
});
