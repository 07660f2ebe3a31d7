// The suite that every adapter runs, for xmpp: over its connection to Prosody, with what the accounts before have said in the archive.
import { after, before, it } from 'node:test';
import { xmpp } from '../../worker/adapters/xmpp/index.ts';
import { adapterContract } from '../../worker/sdk/testing/index.ts';
import { type Prosody, passwordOf, prosody, prosodyMissing } from '../support/prosody.ts';

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
  adapterContract(xmpp, {
    account: () => ({
      jid: 'bot@localhost',
      password: passwordOf('bot'),
      host: '127.0.0.1',
      port: server.port,
      tls: 'none',
    }),
    conversation: 'ann@localhost',
    history: [],
    secrets: [passwordOf('bot')],
  });
}
