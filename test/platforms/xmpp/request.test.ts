// Requests of the adapter xmpp that a server does not answer.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { xmpp } from '../../../worker/adapters/xmpp/index.ts';
import { adapterBench } from '../../../worker/testing/index.ts';
import { xmppAccount } from '../../support/accounts/xmpp-account.ts';
import { fakeXmpp } from '../../support/fake-platforms/xmpp-server.ts';
import { until } from '../../support/until.ts';

it('ends a request with the connection that it waits on', async (t) => {
  const isArchive = (text: string): boolean => text.includes('urn:xmpp:mam:2');
  const server = await fakeXmpp(t, { answer: (stanza) => (isArchive(String(stanza)) ? '' : undefined) });
  const before = timers();
  const bench = adapterBench(xmpp, { ...xmppAccount(server.port), password: 'pw-bot' });
  const connection = bench.connect();
  await connection.online;

  const caughtUp = bench.catchUp().catch(() => {});
  await until(() => server.stanzas.some((stanza) => isArchive(String(stanza))), { what: 'the request' });
  await connection.close();

  await new Promise((resolve) => setImmediate(resolve));
  const left = timers();
  await caughtUp;

  assert.ok(left <= before, `${left - before} timers are left`);
});

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
