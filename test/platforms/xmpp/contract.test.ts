// The suite that every adapter runs, for xmpp: over its connection to Prosody, with what the accounts before have said in the archive.
import { after, before, it } from 'node:test';
import { xmpp } from '../../../worker/adapters/xmpp/index.ts';
import { adapterContract } from '../../../worker/testing/index.ts';
import { type Prosody, passwordOf, prosody, prosodyMissing } from '../../support/accounts/prosody.ts';

const missing = prosodyMissing();
let server: Prosody;
const ends: (() => void | Promise<void>)[] = [];

if (missing !== false) it('runs at Prosody', { skip: missing }, () => {});
else {
  before(async () => {
    server = await prosody({ after: (end) => void ends.push(end) });
  });
  after(async () => {
    for (const end of ends) await end();
  });
  const accountOf = (name: string, password = passwordOf(name)): Record<string, unknown> => ({
    jid: `${name}@localhost`,
    password,
    host: '127.0.0.1',
    port: server.port,
    tls: 'none',
  });
  adapterContract(xmpp, {
    account: () => accountOf('bot'),
    // A second connection of one account takes the first one's place.
    other: () => accountOf('bob'),
    refused: () => accountOf('bot', 'another one'),
    conversation: 'ann@localhost',
    history: [],
    without: {
      webhook: 'XMPP says everything over the connection',
      history: 'what Prosody keeps differs from run to run (adapter-xmpp.test.ts has a server whose archive does not)',
      idempotent: 'XMPP knows no keys by which a server could drop a repeat: it is looked for',
      changes: 'Prosody shows nobody what another one was sent (adapter-xmpp.test.ts runs at a server that does)',
      slows: 'Prosody is not asked for too much by one client',
      refuses: 'Prosody takes what one of its people says to another',
      cut: 'Prosody ends no connection by itself',
    },
    finds: true,
    secrets: [passwordOf('bot')],
  });
}
