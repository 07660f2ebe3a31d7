// The suite that every adapter runs, for xmpp: over its connection to a server of the test, which has no HTTP.
import { after, before } from 'node:test';
import type { XmlElement } from '@xmpp/client';
import { xmpp } from '../../worker/adapters/xmpp/index.ts';
import { adapterContract } from '../../worker/testing/index.ts';
import { xmppAccount } from '../support/accounts/xmpp-account.ts';
import { type FakeXmpp, fakeXmpp } from '../support/fake-platforms/xmpp-server.ts';

const PASSWORD = 'password-of-the-account';
const said = (id: string, from: string): string =>
  `<message from='${from}/x' to='bot@localhost' type='chat' id='o-${id}'><body>hi</body><stanza-id xmlns='urn:xmpp:sid:0' by='bot@localhost' id='${id}'/></message>`;

let server: FakeXmpp;
/** What becomes of messages: put off, refused once, or nothing. */
let isBusy = false;
let isUnwelcome = false;
const faultOf = ({ attrs: { id = '', to = '' } }: XmlElement, type: 'wait' | 'cancel', condition: string): string =>
  `<message type='error' id='${id}' from='${to}'><error type='${type}'><${condition} xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>`;
function refusal(stanza: XmlElement): string | undefined {
  if (stanza.name !== 'message' || !(isBusy || isUnwelcome)) return undefined;
  if (isBusy) return faultOf(stanza, 'wait', 'resource-constraint');
  isUnwelcome = false;
  return faultOf(stanza, 'cancel', 'service-unavailable');
}
const ends: (() => void | Promise<void>)[] = [];
before(async () => {
  server = await fakeXmpp(
    { after: (end) => void ends.push(end) },
    // The second one is its own, from another client of the account.
    {
      password: PASSWORD,
      answer: refusal,
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
  slows: (afterMs) => void (isBusy = afterMs !== undefined),
  refuses: () => void (isUnwelcome = true),
  elsewhere: 'bob@localhost',
  without: {
    webhook: 'XMPP says everything over the connection',
    idempotent: 'XMPP knows no keys by which a server could drop a repeat',
    finds: 'this server keeps no archive (xmpp-contract.test.ts runs at one that does)',
  },
});
