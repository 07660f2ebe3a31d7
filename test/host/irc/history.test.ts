// What was said while an IRC account was away, at a server that keeps it (draft/chathistory, by the specification of IRCv3).
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type Account, account as properties } from '../../../worker/adapters/irc/config.ts';
import { TIMING } from '../../../worker/adapters/irc/connection/timing.ts';
import { createIrc } from '../../../worker/adapters/irc/index.ts';
import type { Arrival } from '../../../worker/sdk/index.ts';
import { adapterLink, definitionOf } from '../../support/accounts/adapter-link.ts';
import { ircAccount } from '../../support/irc/irc-account.ts';
import { HistoryServer } from '../../support/irc/irc-history-server.ts';
import { until } from '../../support/until.ts';

const irc = definitionOf(createIrc(TIMING), properties);
/** To a slow machine any server may be one that does not answer. */
const impatient = definitionOf(createIrc({ ...TIMING, historyMs: 150 }), properties);
const texts = (arrivals: readonly Arrival[]): readonly unknown[] =>
  arrivals.flatMap((one) => (one.kind === 'message' ? [one.text] : []));
const MINUTE_MS = 60_000;

describe('IRC history', () => {
  it('notes a first time without asking, and then how far all has come', async (t) => {
    const server = await HistoryServer.start(t);
    server.keep('#room', 'ann', 'before the bot was there', { agoMs: MINUTE_MS });
    const bot = start(t, server);
    await until(() => bot.cursors.length > 0, { what: 'the first time' });

    server.says('#room', 'ann', 'now');
    await until(() => texts(bot.arrivals).length > 0, { what: 'the message' });

    assert.deepEqual(texts(bot.arrivals), ['now']);
    assert.ok(Date.parse(bot.cursors.at(-1) ?? '') > Date.parse(bot.cursors[0] ?? ''));
    assert.deepEqual(server.asked, []);
  });

  it('is asked for what was missed, in channels and in private, before what is said meanwhile', async (t) => {
    const server = await HistoryServer.start(t, { most: 2 });
    server.keep('#room', 'ann', 'long ago', { agoMs: 10 * MINUTE_MS });
    for (const text of ['one', 'two', 'three', 'four', 'five']) server.keep('#room', 'ann', text);
    server.keep('#room', 'svcbot', 'my own');
    server.keep('bob', 'bob', 'in private');
    server.keep('bob', 'svcbot', 'my own answer');
    server.onAsked = () => server.says('carl', 'carl', 'said meanwhile');
    const cursor = new Date(Date.now() - 5 * MINUTE_MS).toISOString();

    const bot = start(t, server, { cursor });
    await until(() => bot.cursors.length > 0, { what: 'all to be noted' });

    // It is in the history, too, under the same id.
    const once = bot.arrivals.filter(({ id }, i, all) => all.findIndex((one) => one.id === id) === i);
    assert.deepEqual(texts(once), ['one', 'two', 'three', 'four', 'five', 'in private', 'said meanwhile']);
    const inPrivate = bot.arrivals.find((one) => one.kind === 'message' && one.text === 'in private');
    assert.deepEqual(inPrivate?.conversation, { id: 'bob', kind: 'private', name: 'bob' });
    assert.equal(bot.arrivals[0]?.id, server.idOf('one'), 'the id that it had when it was said');
    assert.equal(bot.arrivals.filter((one) => one.kind === 'message' && one.text === 'said meanwhile').length, 2);
    assert.deepEqual(
      bot.cursors,
      [server.timeOf('said meanwhile')],
      'nothing is noted before all that was missed has come',
    );
  });

  it('is asked for more of who wrote in private than one answer names', async (t) => {
    const server = await HistoryServer.start(t, { most: 3 });
    const people = ['ann', 'bob', 'carl', 'dora', 'ed', 'fay', 'gus'];
    server.keep('#room', 'ann', 'in the room');
    for (const name of people) server.keep(name, name, `of ${name}`);

    const bot = start(t, server, { cursor: new Date(Date.now() - MINUTE_MS).toISOString() });
    await until(() => texts(bot.arrivals).includes('of gus'), { what: 'the last of them' });

    const once = [...new Set(texts(bot.arrivals))];
    assert.deepEqual(once, ['in the room', ...people.map((name) => `of ${name}`)]);
  });

  it('is asked once more, and no further, where more wrote at one moment than one answer names', async (t) => {
    const server = await HistoryServer.start(t, { most: 2 });
    const at = Date.now() - 30_000;
    for (const name of ['ann', 'bob', 'carl']) server.keep(name, name, `of ${name}`, { at });

    const bot = start(t, server, { cursor: new Date(Date.now() - MINUTE_MS).toISOString() });
    const pages = (): number => server.asked.filter((line) => line.includes(' TARGETS ')).length;
    await until(() => pages() === 2, { what: 'the questions' });
    server.says('#room', 'ann', 'now');
    await until(() => bot.cursors.length > 0, { what: 'all to be noted' });

    assert.deepEqual([...new Set(texts(bot.arrivals))], ['of ann', 'of bob', 'now']);
    assert.equal(pages(), 2);
  });

  it('is asked for by times where the server knows no ids, and leaves out none of one moment', async (t) => {
    const server = await HistoryServer.start(t, { most: 3, refs: 'timestamp' });
    const at = Date.now() - MINUTE_MS;
    const said = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    // Three and four in one moment, between two pages.
    for (const [i, text] of said.entries()) server.keep('#room', 'ann', text, { at: at + (i < 3 ? i : i - 1) });
    server.onAsked = () => server.says('carl', 'carl', 'said meanwhile');

    const bot = start(t, server, { cursor: new Date(Date.now() - 5 * MINUTE_MS).toISOString() });
    await until(() => bot.cursors.length > 0, { what: 'all to be noted' });

    assert.deepEqual([...new Set(texts(bot.arrivals))], [...said, 'said meanwhile']);
  });

  it('leaves out lines that the bot said under another nick, also where the server tells them unasked', async (t) => {
    const server = await HistoryServer.start(t, { taken: ['svcbot'], plays: true });
    server.keep('#room', 'svcbot', 'said before the connection was lost');
    server.keep('#room', 'svc-too', 'said under an alternate');
    server.keep('#room', 'ann', 'heard');

    const bot = start(t, server, { account: { alternateNicks: ['svc-too', 'svc-three'] } });
    await until(() => bot.isOnline(), { what: 'the bot' });
    server.says('#room', 'ann', 'now');
    await until(() => texts(bot.arrivals).includes('now'), { what: 'the message' });

    assert.deepEqual(texts(bot.arrivals), ['heard', 'now']);
  });

  it('without ids takes what is newer than the cursor, under ids that stay the same', async (t) => {
    const server = await HistoryServer.start(t, { ids: false });
    server.keep('#room', 'ann', 'heard', { agoMs: 5 * MINUTE_MS + 1_000 });
    server.keep('#room', 'ann', 'missed');
    const cursor = new Date(Date.now() - 5 * MINUTE_MS).toISOString();

    const first = start(t, server, { cursor });
    await until(() => texts(first.arrivals).length > 0, { what: 'what was missed' });
    first.stop();
    const again = start(t, server, { cursor });
    await until(() => texts(again.arrivals).length > 0, { what: 'what was missed' });

    assert.deepEqual([texts(first.arrivals), texts(again.arrivals)], [['missed'], ['missed']]);
    assert.equal(first.arrivals[0]?.id, again.arrivals[0]?.id);
  });

  it('that is refused, or never comes, holds nothing up for long, and is asked for the next time', async (t) => {
    for (const behaves of ['refuses', 'fails', 'is silent'] as const) {
      const server = await HistoryServer.start(t, { behaves });
      server.keep('#room', 'ann', 'missed');
      const cursor = new Date(Date.now() - MINUTE_MS).toISOString();
      const bot = start(t, server, { cursor, adapter: behaves === 'is silent' ? impatient : irc });
      await until(() => server.asked.length > 0, { what: 'the question' });
      server.says('#room', 'ann', 'now');

      await until(() => texts(bot.arrivals).includes('now'), { what: 'the message' });
      assert.deepEqual(texts(bot.arrivals), ['now']);
      // Who may not ask will not be told the next time either.
      assert.deepEqual(bot.cursors.length, behaves === 'refuses' ? 1 : 0);
    }
  });

  for (const [behaves, reason] of [
    ['fails', /could not read|did not answer/],
    ['is silent', /did not answer/],
  ] as const)
    it(`makes the account degraded while the server ${behaves}, until it has come`, async (t) => {
      const server = await HistoryServer.start(t, { behaves, failures: 2 });
      server.keep('#room', 'ann', 'missed');
      const bot = start(t, server, { cursor: new Date(Date.now() - MINUTE_MS).toISOString(), adapter: impatient });

      await until(() => bot.trouble() !== undefined, { what: 'the trouble' });
      const [trouble, before] = [bot.trouble(), texts(bot.arrivals)];
      await until(() => bot.trouble() === undefined, { what: 'the end of it' });

      assert.match(trouble ?? '', reason);
      assert.deepEqual([before, [...new Set(texts(bot.arrivals))]], [[], ['missed']]);
    });

  it('that is more than is asked for is told as a loss, and the account is well again', async (t) => {
    const server = await HistoryServer.start(t, { most: 1 });
    for (let n = 0; n < 12; n += 1) server.keep('#room', 'ann', `line ${n}`);
    const bot = start(t, server, { cursor: new Date(Date.now() - MINUTE_MS).toISOString() });

    await until(() => texts(bot.arrivals).includes('line 9'), { what: 'what is asked for' });
    await until(() => bot.troubles.length > 0 && bot.trouble() === undefined, { what: 'the end of the trouble' });

    assert.match(bot.troubles[0] ?? '', /#room/);
    assert.ok(!texts(bot.arrivals).includes('line 11'));
  });

  it('that comes while too much is said is let in beside it, to the end', async (t) => {
    const server = await HistoryServer.start(t, { most: 2 });
    for (const text of ['one', 'two', 'three']) server.keep('#room', 'ann', text);
    server.onAsked = () => {
      for (let n = 0; n < 600; n += 1) server.says('#other', 'carl', `now ${n}`);
    };
    const bot = start(t, server, { cursor: new Date(Date.now() - MINUTE_MS).toISOString() });

    const said = (): boolean => {
      server.says('#room', 'ann', 'now at last');
      return bot.cursors.length > 0;
    };
    await until(said, { what: 'all to be noted' });

    assert.deepEqual(
      texts(bot.arrivals)
        .filter((text) => !String(text).startsWith('now'))
        .slice(0, 3),
      ['one', 'two', 'three'],
    );
    assert.equal(bot.trouble(), undefined);
  });

  for (const late of ['INVALID_TARGET AFTER #room', 'MESSAGE_ERROR AFTER #room', 'INVALID_PARAMS AFTER msgid=m0'])
    it(`is asked to the end where a refusal of an earlier question comes late (${late})`, async (t) => {
      const server = await HistoryServer.start(t, {
        late: `:s FAIL CHATHISTORY ${late} :Messages could not be retrieved`,
      });
      server.keep('bob', 'bob', 'one in private');
      const bot = start(t, server, { cursor: new Date(Date.now() - MINUTE_MS).toISOString() });

      await until(() => server.asked.length > 1, { what: 'who wrote to be asked' });
      server.says('#room', 'ann', 'now');
      await until(() => bot.cursors.length > 0, { what: 'all to be noted' });

      assert.deepEqual(texts(bot.arrivals), ['one in private', 'now']);
    });

  it('takes a refusal that names its channel in other letters, or names nothing', async (t) => {
    for (const refusal of ['INVALID_TARGET AFTER #ROOM', 'INVALID_TARGET', 'NEED_MORE_PARAMS after']) {
      const server = await HistoryServer.start(t, { behaves: 'refuses', refusal });
      const bot = start(t, server, { cursor: new Date(Date.now() - MINUTE_MS).toISOString() });

      await until(() => server.asked.some((line) => line.includes(' TARGETS ')), { what: 'the next question' });

      assert.equal(bot.trouble(), undefined);
    }
  });
});

function start(
  t: TestContext,
  { port }: HistoryServer,
  {
    cursor,
    account,
    adapter = irc,
  }: { readonly cursor?: string; readonly account?: Partial<Account>; readonly adapter?: typeof irc } = {},
) {
  const cursors: string[] = [];
  const troubles: string[] = [];
  const base = adapterLink(ircAccount(port, account));
  const link = Object.assign(Object.create(base) as typeof base, {
    cursor,
    degraded: (reason: string) => {
      troubles.push(reason);
      base.degraded(reason);
    },
    receive: async (arrivals: readonly Arrival[], next?: string) => {
      await base.receive(arrivals);
      if (next !== undefined) cursors.push(next);
    },
  });
  const ended = Promise.resolve(adapter.connect?.(link)).catch(() => {});
  const stop = (): void => base.stop();
  t.after(async () => {
    stop();
    await ended;
  });
  const [isOnline, trouble] = [() => base.isOnline, () => base.trouble];
  return { arrivals: base.arrivals, cursors, troubles, stop, isOnline, trouble };
}
