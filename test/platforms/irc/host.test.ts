// The whole host as a process, real IRC servers, and people on plain sockets: a question in, an answer out, over losses of either side.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { ircPerson } from '../../support/irc/irc-person.ts';
import { type Ngircd, ngircd, ngircdMissing } from '../../support/irc/ngircd.ts';
import { until } from '../../support/until.ts';

/** Speaks when the test says so. */
const TELLER = `import { definePlugin } from 'svc';

export default definePlugin({
  name: 'teller',
  setup(p) {
    let to;
    p.command('ask', { summary: 'Answers later' }, (ctx) => {
      to = ctx.conversation;
      return 'I will tell you.';
    });
    p.route('POST /tell', { scope: 'full' }, (ctx) => ctx.send(to, 'drink tea'));
  },
});
`;

describe('the host on IRC', { skip: ngircdMissing(), timeout: 600_000, concurrency: 3 }, () => {
  it('answers questions, in channels and in private, through two accounts on two servers', async (t) => {
    const [one, two] = [await ngircd(t, 'one.test.local'), await ngircd(t, 'two.test.local')];
    await botAt(t, [one, two]);
    const [ann, bob] = [await ircPerson(t, one.port, 'ann'), await ircPerson(t, two.port, 'bob')];
    await Promise.all([ann.join('#room'), bob.join('#room')]);

    ann.says('#room', 'svcbot: /echo hello from one');
    bob.says('svcbot', '/echo hello from two');
    await until(() => ann.heard('svcbot', '#room').length > 0 && bob.heard('svcbot').length > 0, {
      what: 'both answers',
    });

    assert.deepEqual([ann.heard('svcbot', '#room'), ann.heard('svcbot')], [['hello from one'], []]);
    assert.deepEqual([bob.heard('svcbot'), bob.heard('svcbot', '#room')], [['hello from two'], []]);
  });

  it('keeps one server when the other is killed, says so, and sends there what waited once it is back', async (t) => {
    const [one, two] = [await ngircd(t, 'one.test.local'), await ngircd(t, 'two.test.local')];
    const host = await botAt(t, [one, two]);
    const [ann, bob] = [await ircPerson(t, one.port, 'ann'), await ircPerson(t, two.port, 'bob')];

    bob.says('svcbot', '/ask');
    await until(() => bob.heard('svcbot').length === 1, { what: 'the promise' });
    await until(async () => (await pending(host)) === 0, { what: 'the promise to be confirmed' });
    await two.kill();
    await until(async () => (await stateOf(host, 'irc~two')) !== 'online', { what: 'the loss to show' });
    ann.says('svcbot', '/ping');
    await until(() => ann.heard('svcbot').length === 1, { what: 'the other server to go on' });
    assert.equal(await stateOf(host, 'irc~one'), 'online');
    const headers = { authorization: `Bearer ${host.project.token}` };
    assert.ok((await fetch(`${host.url}plugins/teller/tell`, { method: 'POST', headers })).ok);
    await until(async () => (await pending(host)) === 1, { what: 'what was told to wait' });
    await two.start();
    const again = await ircPerson(t, two.port, 'bob');
    await until(() => again.heard('svcbot').length > 0, { what: 'what waited' });

    assert.deepEqual(again.heard('svcbot'), ['drink tea']);
    assert.equal(await stateOf(host, 'irc~two'), 'online');
  });

  it('forgets nothing when it is killed: what was promised before is done after', async (t) => {
    const server = await ngircd(t);
    const host = await botAt(t, [server]);
    const ann = await ircPerson(t, server.port, 'ann');

    ann.says('svcbot', '/remind 4s water the plants');
    await until(() => ann.heard('svcbot').length > 0, { what: 'the promise' });
    // IRC has no key by which a repeat could be recognised: a kill before the PONG is stored may say the promise twice.
    await until(async () => (await pending(host)) === 0, { what: 'the promise to be confirmed' });
    await host.stop('SIGKILL');
    await host.start();
    await until(() => ann.heard('svcbot').length + ann.heard('svcbot_').length === 2, {
      what: 'the reminder',
    });

    assert.deepEqual(
      [...ann.heard('svcbot'), ...ann.heard('svcbot_')],
      ['I will remind you in 4s.', '@ann reminder: water the plants'],
    );
  });
});

function botAt(t: TestContext, servers: readonly Ngircd[]): Promise<RunningHost> {
  const account = {
    server: '127.0.0.1',
    tls: false,
    nick: 'svcbot',
    channels: ['#room'],
    burstLines: 50,
    linesPerSecond: 20,
  };
  const endpoints = servers.map(({ port }, i) => ({ ...account, id: i === 0 ? 'one' : 'two', port }));
  const plugins = { irc: { endpoints }, echo: {}, ping: {}, remind: {}, teller: { use: './plugins/teller.js' } };
  return runningHost(t, { plugins, sources: { 'teller.js': TELLER } }).then(async (host) => {
    for (const { id } of endpoints)
      await until(async () => (await stateOf(host, `irc~${id}`)) === 'online', {
        what: `${id} to be online`,
      });
    return host;
  });
}

async function stateOf(host: RunningHost, name: string): Promise<unknown> {
  const { endpoints } = (await host.get('api/endpoints')) as { endpoints: readonly { name: string; state: string }[] };
  return endpoints.find((endpoint) => endpoint.name === name)?.state;
}

async function pending(host: RunningHost): Promise<number> {
  const { items } = (await host.get('api/outbox')) as { items: readonly { state: string }[] };
  return items.filter(({ state }) => state !== 'sent').length;
}
