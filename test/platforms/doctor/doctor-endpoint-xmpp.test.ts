// `svc doctor --endpoint` of XMPP, at Prosody: beside the host's own connection, and without taking what waits for it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { passwordOf, prosody, prosodyMissing } from '../../support/accounts/prosody.ts';
import { xmppAccount, xmppBot } from '../../support/accounts/xmpp-account.ts';
import { xmppPerson } from '../../support/accounts/xmpp-person.ts';
import { ask, told } from '../../support/commands/doctor-endpoint.ts';
import { until } from '../../support/until.ts';

const ROOM = 'team@rooms.localhost';
const rooms = [{ jid: ROOM }, { jid: 'ann@localhost' }];
const accountAt = (port: number, more: object = {}) => ({
  plugins: {
    xmpp: {
      endpoints: [
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        { id: 'main', jid: 'bot@localhost', password: '${PASSWORD}', host: '127.0.0.1', port, tls: 'none', ...more },
      ],
    },
  },
  env: { PASSWORD: passwordOf('bot') },
});

describe('svc doctor --endpoint xmpp', { skip: prosodyMissing(), timeout: 590_000 }, () => {
  it('logs in beside the host, tells what server and rooms can, and disturbs nobody', async (t) => {
    const server = await prosody(t);
    const bot = await xmppBot(t, xmppAccount(server.port, { rooms: rooms.slice(0, 1) }));
    const ann = await xmppPerson(t, server.port, 'ann');
    await ann.join(ROOM, 'Ann');
    const seen = ann.presences.length;

    const ended = await ask(t, accountAt(server.port, { rooms }), '--endpoint', 'xmpp', '--json');
    ann.saysIn(ROOM, 'still here?');
    await until(() => bot.messages.length === 1, { what: 'the bot to hear' });

    assert.equal(ended.code, 0, ended.stdout + ended.stderr);
    assert.deepEqual(told(ended).list, [
      'ok login',
      'warn tls',
      'ok archive',
      'ok acknowledgements',
      'ok room',
      'skip room',
    ]);
    assert.equal(told(ended).of('room').detail, `${ROOM} is there, with an archive`);
    assert.equal(ann.presences.length, seen);
  });

  it('leaves what waits for the account to the host', async (t) => {
    const server = await prosody(t, { modules: ['smacks'] }); // without an archive, so that it can come once only
    const ann = await xmppPerson(t, server.port, 'ann');
    ann.says('bot@localhost', 'for later');

    const ended = await ask(t, accountAt(server.port), '--endpoint', 'xmpp', '--json');
    const bot = await xmppBot(t, xmppAccount(server.port));
    await until(() => bot.messages.length === 1, { what: 'what waited' });

    assert.equal(told(ended).of('archive').status, 'warn');
    assert.equal(bot.messages[0]?.text, 'for later');
  });

  it('encrypts as the account asks, and says what mends a password that is refused', async (t) => {
    const server = await prosody(t);
    const encrypted = accountAt(server.port, { tls: 'starttls', verifyCertificate: false });
    const [good, refused] = [
      await ask(t, encrypted, '--endpoint', 'xmpp', '--json'),
      await ask(t, { ...encrypted, env: { PASSWORD: 'not-the-password' } }, '--endpoint', 'xmpp', '--json'),
    ];

    assert.equal(good.code, 0, good.stdout + good.stderr);
    assert.match(told(good).of('tls').detail, /any certificate is taken/);
    assert.equal(refused.code, 1);
    assert.match(told(refused).of('account').remedy ?? '', /password/);
  });
});
