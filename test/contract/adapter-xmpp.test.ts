// The suite that every adapter runs, for xmpp: over its connection to a server of the test, which has no HTTP.
import { after, before } from 'node:test';
import { xmpp } from '../../worker/adapters/xmpp/index.ts';
import { adapterContract } from '../../worker/sdk/testing/index.ts';
import { type FakeXmpp, fakeXmpp } from '../support/fake-platforms/xmpp-server.ts';
import { xmppAccount } from '../support/xmpp-account.ts';

const PASSWORD = 'password-of-the-account';
const said = (id: string, from: string): string =>
  `<message from='${from}/x' to='bot@localhost' type='chat' id='o-${id}'><body>hi</body><stanza-id xmlns='urn:xmpp:sid:0' by='bot@localhost' id='${id}'/></message>`;

let server: FakeXmpp;
const ends: (() => void | Promise<void>)[] = [];
before(async () => {
  server = await fakeXmpp(
    { after: (end) => void ends.push(end) },
    // The second one is its own, from another client of the account.
    {
      password: PASSWORD,
      waiting: [said('1', 'ann@localhost'), said('2', 'bot@localhost'), said('3', 'bob@localhost')],
    },
  );
});
after(async () => {
  for (const end of ends) await end();
});

adapterContract(xmpp, {
  account: () => ({ ...xmppAccount(server.port), password: PASSWORD }),
  conversation: 'ann@localhost',
  history: ['a:1', 'a:3'],
  secrets: [PASSWORD],
  refused: () => ({ ...xmppAccount(server.port), password: 'another one' }),
  changes: true,
  taken: () => server.stanzas.filter(({ name }) => name === 'message').map(String),
  cut: () => server.cut(),
});
