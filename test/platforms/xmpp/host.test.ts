// Accounts of XMPP at the whole host, with a real server: kills between storing and handling and during a send, and two accounts beside each other.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { prosody, prosodyMissing } from '../../support/accounts/prosody.ts';
import { xmppPerson } from '../../support/accounts/xmpp-person.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { tcpProxy } from '../../support/http/tcp-proxy.ts';
import { until } from '../../support/until.ts';

const skip = prosodyMissing();
const ROOM = 'team@rooms.localhost';

async function hostWithAccounts(t: TestContext) {
  const server = await prosody(t);
  const proxy = await tcpProxy(t, server.port);
  const common = { host: '127.0.0.1', port: proxy.port, tls: 'none' };
  const host = await runningHost(t, {
    plugins: {
      xmpp: {
        endpoints: [
          // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
          { id: 'main', jid: 'bot@localhost', password: '${MAIN_PASSWORD}', rooms: [{ jid: ROOM }], ...common },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: references of the configuration
          { id: 'other', jid: 'bob@localhost', password: '${OTHER_PASSWORD}', ...common },
        ],
      },
      echo: {},
    },
    env: { MAIN_PASSWORD: 'pw-bot', OTHER_PASSWORD: 'pw-bob' },
  });
  const ann = await xmppPerson(t, server.port, 'ann');
  await isOnline(host, 'xmpp~main');
  await isOnline(host, 'xmpp~other');
  return { server, proxy, host, ann };
}

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly lastError: { readonly remedy?: string } | null;
}
const endpoint = async (host: RunningHost, name: string): Promise<Shown | undefined> =>
  ((await host.get('api/endpoints')) as { readonly endpoints: readonly Shown[] }).endpoints.find(
    (one) => one.name === name,
  );
const isOnline = (host: RunningHost, name: string): Promise<unknown> =>
  until(async () => (await endpoint(host, name))?.state === 'online', {
    what: `${name} to be online`,
  });
const stored = async (host: RunningHost): Promise<readonly { readonly state: string }[]> =>
  ((await host.get('api/inbox')) as { readonly items: readonly { readonly state: string }[] }).items;

describe('xmpp at the whole host', { skip, timeout: 590_000 }, () => {
  it('handles and answers once, over kills: stored and not answered, answered and not noted, while it was down', async (t) => {
    const { proxy, host, ann } = await hostWithAccounts(t);
    await ann.join(ROOM);
    ann.says('bot@localhost', '/echo one');
    ann.says('bob@localhost', '/echo eins');
    await until(() => ann.heard('bot@localhost').length === 1 && ann.heard('bob@localhost').length === 1, {
      what: 'the first answers',
    });

    const before = (await stored(host)).length;
    // What the server says does not come through: nothing that is sent is confirmed before the kill.
    ann.says('bot@localhost', '/echo two');
    ann.saysIn(ROOM, 'bot: /echo here');
    await until(async () => (await stored(host)).length === before + 2, { what: 'both to be stored' });
    proxy.mute();
    await until(() => ann.heard('bot@localhost').includes('two') && ann.heard(`${ROOM}/bot`).includes('here'), {
      what: 'the answers to be out',
    });
    await host.stop('SIGKILL');
    ann.says('bot@localhost', '/echo three');
    ann.says('bob@localhost', '/echo drei');
    ann.saysIn(ROOM, 'bot: /echo there');
    await host.start();
    await until(
      () =>
        ann.heard('bot@localhost').includes('three') &&
        ann.heard('bob@localhost').includes('drei') &&
        ann.heard(`${ROOM}/bot`).includes('there'),
      { what: 'what was said while it was down' },
    );
    await host.stop();
    await host.start();
    ann.says('bot@localhost', '/echo four');
    await until(() => ann.heard('bot@localhost').includes('four'), {
      what: 'the answer after a restart',
    });

    assert.deepEqual(ann.heard('bot@localhost'), ['one', 'two', 'three', 'four']);
    assert.deepEqual(ann.heard('bob@localhost'), ['eins', 'drei']);
    assert.deepEqual(ann.heard(`${ROOM}/bot`), ['here', 'there']);
    for (const secret of ['pw-bot', 'pw-bob']) assert.ok(!host.output().includes(secret));
  });

  it('fails an account whose password is refused, with the remedy, and the other one works on', async (t) => {
    const { server, host, ann } = await hostWithAccounts(t);
    server.user('bot', 'another');
    await server.kill();
    await server.start();

    await until(async () => (await endpoint(host, 'xmpp~main'))?.state === 'failed', {
      what: 'main to fail',
    });
    await isOnline(host, 'xmpp~other');
    const again = await xmppPerson(t, server.port, 'ann');
    again.says('bob@localhost', '/echo still');
    await until(() => again.heard('bob@localhost').includes('still'), { what: 'the other account' });

    assert.match((await endpoint(host, 'xmpp~main'))?.lastError?.remedy ?? '', /password in \.env/);
    ann.close();
  });
});
