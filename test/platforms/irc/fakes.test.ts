// The IRC servers of the tests, driven by two clients that nobody here wrote (irc-framework by its own events, and ircv3) and by a plain socket:
// each sees at the fakes what it sees at ngircd and InspIRCd.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { FakeIrcServer } from '../../support/fake-platforms/irc-server.ts';
import { inspircd, inspircdMissing } from '../../support/irc/inspircd.ts';
import { OTHERS } from '../../support/irc/irc-clients.ts';
import { HistoryServer } from '../../support/irc/irc-history-server.ts';
import { ircPerson } from '../../support/irc/irc-person.ts';
import { ngircd, ngircdMissing } from '../../support/irc/ngircd.ts';
import { scriptedIrc } from '../../support/irc/scripted-irc.ts';

interface Place {
  readonly port: number;
  /** Somebody says this to the client in private. */
  says(text: string): void;
}

const PLACES: Readonly<
  Record<string, { readonly missing?: string | false; start(t: TestContext, to: string): Promise<Place> }>
> = {
  ngircd: { missing: ngircdMissing(), start: async (t, to) => withAnn(t, (await ngircd(t)).port, to) },
  inspircd: { missing: inspircdMissing(), start: async (t, to) => withAnn(t, (await inspircd(t)).port, to) },
  'the server for load': {
    async start(t) {
      const server = new FakeIrcServer();
      await server.listen(t);
      return { port: server.port, says: (text) => void server.say('ann', text, 'm1') };
    },
  },
  'the server with a history': {
    async start(t) {
      const server = await HistoryServer.start(t);
      return { port: server.port, says: (text) => server.says('ann', 'ann', text) };
    },
  },
  'the server that does what a test says': {
    async start(t, to) {
      const server = await scriptedIrc(t);
      return { port: server.port, says: (text) => server.send(`:ann!u@h PRIVMSG ${to} :${text}\r\n`) };
    },
  },
};

async function withAnn(t: TestContext, port: number, to: string): Promise<Place> {
  const ann = await ircPerson(t, port, 'ann');
  return { port, says: (text) => ann.says(to, text) };
}

describe('IRC servers of the tests', { timeout: 900_000 }, () => {
  for (const [place, { missing = false, start }] of Object.entries(PLACES))
    for (const [name, open] of Object.entries(OTHERS))
      it(`${place} and ${name} understand each other`, { skip: missing }, async (t) => {
        const { port, says } = await start(t, 'other');
        const client = open(t, { port, nick: 'other' });

        await client.sees('registered other');
        client.raw('JOIN #room');
        await client.sees('other joined #room');
        says('hello');
        await client.sees('ann to other: hello');
        client.raw('NICK another');
        await client.sees('other is another');

        const all = ['registered other', 'other joined #room', 'ann to other: hello', 'other is another'];
        assert.deepEqual(client.seen, all);
      });
});
