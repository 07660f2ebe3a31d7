// The XMPP adapter against a real server and people on plain sockets. The host is a stub here.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { prosody, prosodyMissing } from '../support/prosody.ts';
import { until } from '../support/until.ts';
import { xmppAccount, xmppBot } from '../support/xmpp-account.ts';
import { xmppPerson } from '../support/xmpp-person.ts';

const skip = prosodyMissing();
const ROOM = 'team@rooms.localhost';

describe('XMPP adapter at Prosody', { skip, timeout: 300_000, concurrency: 3 }, () => {
  it('takes what people say, in private and in a room, and knows when it is spoken to', async (t) => {
    const server = await prosody(t);
    const bot = await xmppBot(t, xmppAccount(server.port, { rooms: [{ jid: ROOM }] }));
    const ann = await xmppPerson(t, server.port, 'ann');
    await ann.join(ROOM, 'Ann');

    ann.says('bot@localhost', 'in <private> & "more"');
    ann.saysIn(ROOM, 'hello all');
    ann.saysIn(ROOM, 'bot: /ping');
    await until(() => bot.messages.length === 3, { what: 'three messages' });

    assert.deepEqual(
      bot.messages.map(({ conversation, user, text, addressed }) => [
        conversation.id,
        conversation.kind,
        user.name,
        text,
        addressed,
      ]),
      [
        ['ann@localhost', 'private', 'ann', 'in <private> & "more"', true],
        [ROOM, 'group', 'Ann', 'hello all', false],
        [ROOM, 'group', 'Ann', '/ping', true],
      ],
    );
    assert.equal(bot.messages[0]?.user.id, 'ann@localhost');
  });

  it('is sent when the server has it, in a room when the room has said it', async (t) => {
    const server = await prosody(t);
    const bot = await xmppBot(t, xmppAccount(server.port, { rooms: [{ jid: ROOM }] }));
    const ann = await xmppPerson(t, server.port, 'ann');
    await ann.join(ROOM);

    const results = [
      await bot.post('k1', 'ann@localhost', 'just <you> & me \u0000\u0007'),
      await bot.post('k2', ROOM, 'all of you'),
      await bot.post('k3', 'nobody@localhost', 'hello?'),
      await bot.post('k4', 'not an address', 'hello?'),
    ];
    await until(() => ann.heard(`${ROOM}/bot`).length > 0 && ann.heard('bot@localhost').length > 0, { what: 'both' });

    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'sent', 'refused', 'refused'],
    );
    assert.deepEqual(ann.heard('bot@localhost'), ['just <you> & me ']);
    assert.deepEqual(ann.heard(`${ROOM}/bot`), ['all of you']);
  });
});
