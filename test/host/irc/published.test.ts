// The examples of the specifications of IRCv3, line by line: through the adapter, and as the server with a history says them.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type Account, account as properties } from '../../../worker/adapters/irc/config.ts';
import { TIMING } from '../../../worker/adapters/irc/connection/timing.ts';
import { createIrc } from '../../../worker/adapters/irc/index.ts';
import { adapterLink, definitionOf, type TestLink } from '../../support/accounts/adapter-link.ts';
import { ircAccount } from '../../support/irc/irc-account.ts';
import * as example from '../../support/irc/irc-examples.ts';
import { HistoryServer } from '../../support/irc/irc-history-server.ts';
import { ircPerson } from '../../support/irc/irc-person.ts';
import { type ScriptedIrc, scriptedIrc } from '../../support/irc/scripted-irc.ts';
import { until } from '../../support/until.ts';

const irc = definitionOf(createIrc(TIMING), properties);
const LAST = ':end!u@h PRIVMSG #end :all is said';

/** A bot to which a server has said these lines, and what arrived of them. */
async function told(
  t: TestContext,
  lines: readonly string[],
  account: Partial<Account> = {},
): Promise<TestLink<Account>> {
  const server = await scriptedIrc(t, { registration: { capabilities: ['batch', 'message-tags', 'server-time'] } });
  const link = run(t, server.port, { account });
  await until(() => link.isOnline, { what: 'the bot' });
  server.send(`${[...lines, LAST].join('\r\n')}\r\n`);
  await until(() => link.arrivals.some(({ conversation }) => conversation.id === '#end'), { what: 'all lines' });
  return link;
}

function run(
  t: TestContext,
  port: number,
  { account = {}, cursor }: { readonly account?: Partial<Account>; readonly cursor?: string } = {},
): TestLink<Account> {
  const link = Object.assign(adapterLink(ircAccount(port, account)), { cursor }) as TestLink<Account>;
  const ended = Promise.resolve(irc.connect?.(link)).catch(() => {});
  t.after(async () => {
    link.stop();
    await ended;
  });
  return link;
}

/** What people said, and where. */
const said = ({ arrivals }: TestLink<Account>): readonly unknown[] =>
  arrivals.flatMap((one) =>
    one.kind === 'message' && one.conversation.id !== '#end' ? [[one.conversation.id, one.user.name, one.text]] : [],
  );

/** A server that answers questions about #channel and bob with the examples, or refuses them. */
function asExamples(t: TestContext, refusal?: string): Promise<ScriptedIrc> {
  const targets = [
    ':irc.host BATCH +T draft/chathistory-targets',
    '@batch=T :irc.host CHATHISTORY TARGETS bob 2019-01-04T14:34:16.123Z',
    ':irc.host BATCH -T',
  ];
  return scriptedIrc(t, {
    registration: {
      capabilities: ['batch', 'message-tags', 'server-time', 'draft/chathistory'],
      supports: 'CHATHISTORY=50 MSGREFTYPES=msgid,timestamp',
    },
    answer(line) {
      if (!line.startsWith('CHATHISTORY ')) return undefined;
      const [, kind, target] = line.split(' ');
      if (kind === 'TARGETS') return targets;
      if (target === 'bob') return example.PRIVATE_HISTORY;
      return refusal === undefined ? example.CHANNEL_HISTORY : [refusal];
    },
  });
}

describe('IRCv3, published examples', () => {
  it('of draft/chathistory are what was missed: with their ids and times, without notices and what the bot said', async (t) => {
    const server = await asExamples(t);
    const account = { nick: 'alice', channels: ['#channel'] };
    const link = run(t, server.port, { account, cursor: new Date(Date.now() - 60_000).toISOString() });
    await until(() => said(link).length === 4, { what: 'the examples' });

    assert.deepEqual(said(link), [
      ['#channel', 'nick', 'message'],
      ['#channel', 'nick', [{ kind: 'text', text: 'message', marks: ['italic'] }]],
      ['bob', 'bob', 'hello'],
      ['bob', 'bob', "I'm good, thank you!"],
    ]);
    assert.deepEqual(
      link.arrivals.map(({ id, sentAt }) => [id, new Date(sentAt).toISOString()]),
      [
        ['1234', '2019-01-04T14:33:26.123Z'],
        ['1238', '2019-01-04T14:34:17.123Z'],
        ['1234', '2019-01-04T14:34:09.123Z'],
        ['1238', '2019-01-04T14:34:16.123Z'],
      ],
    );
  });

  for (const refusal of example.REFUSALS)
    it(`of a refusal are no end of the questions: ${refusal}`, async (t) => {
      const server = await asExamples(t, refusal);
      const account = { nick: 'alice', channels: ['#channel'] };
      const link = run(t, server.port, { account, cursor: new Date(Date.now() - 60_000).toISOString() });
      await until(() => said(link).length === 2, { what: 'the private conversation' });

      assert.deepEqual(said(link), [
        ['bob', 'bob', 'hello'],
        ['bob', 'bob', "I'm good, thank you!"],
      ]);
    });

  it('of batches that interleave and nest are taken in their order, each line once', async (t) => {
    const link = await told(t, example.BATCHES);

    const texts = [
      'This is not in batch, so processed immediately',
      ...[1, 2, 4, 3, 5].map((i) => `Message ${i}`),
      'Hi',
    ];
    assert.deepEqual(
      said(link),
      texts.map((text) => ['#channel', 'nick', text]),
    );
  });

  it('of server-time are when it was said; a leap second is now', async (t) => {
    const began = Date.now();
    const link = await told(t, example.TIMES, { nick: 'Wiz' });

    const [hello, john] = link.arrivals;
    assert.equal(new Date(hello?.sentAt ?? 0).toISOString(), '2011-10-19T16:40:51.620Z');
    assert.deepEqual([john?.kind, john?.conversation.id], ['member', '#chan']);
    assert.ok((john?.sentAt ?? 0) >= began);
  });

  it('of echo-message and labeled-response are nothing that somebody said', async (t) => {
    const echoes = await told(t, example.ECHOES, { nick: 'example' });
    const labeled = await told(t, [example.LABELED_ECHO, ...example.LABELED], { nick: 'nick' });

    assert.deepEqual([...said(echoes), ...said(labeled)], []);
    assert.deepEqual([echoes.isOnline, labeled.isOnline], [true, true]);
  });

  it('of draft/chathistory are what the server with a history says', async (t) => {
    const server = await HistoryServer.start(t);
    for (const time of ['2019-01-04T14:33:20.000Z', '2019-01-04T14:33:26.123Z', '2019-01-04T14:34:17.123Z'])
      server.keep('#channel', 'nick', 'message', { at: Date.parse(time) });
    const alice = await ircPerson(t, server.port, 'alice');
    alice.raw('CHATHISTORY AFTER #channel timestamp=2019-01-04T14:33:20.000Z 50');
    alice.raw('CHATHISTORY TARGETS timestamp=2019-01-04T14:00:00.000Z timestamp=2019-01-04T15:00:00.000Z 50');
    await until(() => alice.lines.filter((line) => line.startsWith(':s BATCH -')).length === 2, { what: 'both' });

    const [first, notice, second] = example.CHANNEL_HISTORY.slice(1, 4);
    assert.match(notice ?? '', / NOTICE /);
    const asHere = (line = ''): string =>
      line
        .replace(/;\+client-tag=val|ACTION |\u0001/g, '')
        .replace('ident@host', 'u@h')
        .replace('irc.host', 's')
        .replace(/\bID\b/, 'b1')
        .replace(/msgid=\d+/, 'msgid=…');
    const lines = alice.lines.map((line) => line.replace(/msgid=m\d/, 'msgid=…'));
    assert.deepEqual(lines.slice(lines.findIndex((line) => line.includes('BATCH'))), [
      ...[example.CHANNEL_HISTORY[0], first, second, example.CHANNEL_HISTORY.at(-1)].map(asHere),
      ':s BATCH +b2 draft/chathistory-targets',
      '@batch=b2 :s CHATHISTORY TARGETS #channel 2019-01-04T14:34:17.123Z',
      ':s BATCH -b2',
    ]);
  });
});
