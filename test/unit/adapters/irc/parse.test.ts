import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { arrivalOf, type Line } from '../../../../worker/adapters/irc/parse.ts';

const context = {
  nick: 'Bot',
  id: 'e-1',
  now: 5,
  channelTypes: ['#', '&'],
  lower: (text: string) => text.toLowerCase(),
};
const line = (command: string, params: readonly string[], more: Partial<Line> = {}): Line => ({
  command,
  params,
  nick: 'Ann',
  tags: {},
  ...more,
});
const said = (target: string, text: string, more: Partial<Line> = {}) =>
  arrivalOf(line('PRIVMSG', [target, text], more), context);

describe('arrivalOf (IRC)', () => {
  it('reads a message of a channel', () => {
    assert.deepEqual(said('#Room', 'hello'), {
      id: 'e-1',
      conversation: { id: '#room', kind: 'group', name: '#Room' },
      user: { id: 'ann', name: 'Ann', admin: false },
      sentAt: 5,
      kind: 'message',
      message: 'e-1',
      text: 'hello',
      addressed: false,
    });
  });

  it('answers a private message to its sender', () => {
    const arrival = said('bot', 'hello');

    assert.deepEqual(
      [arrival?.conversation, arrival?.kind === 'message' && arrival.addressed],
      [{ id: 'ann', kind: 'private', name: 'Ann' }, true],
    );
  });

  it("takes the server's id and time where it gives them", () => {
    const arrival = said('#room', 'x', { tags: { msgid: 'abc', time: '2026-01-01T00:00:00.000Z' } });

    assert.deepEqual([arrival?.id, arrival?.sentAt], ['abc', Date.UTC(2026, 0, 1)]);
  });

  it('knows in which ways one speaks to it, and takes the address away (IRC-PARSE-2)', () => {
    const texts = ['bot: hi', 'BOT, hi', '@Bot hi', '@bot: hi', 'bot:', 'bot hi', 'robot: hi', 'hi bot:', 'bots: hi'];

    const read = texts
      .map((text) => said('#room', text))
      .map((arrival) => (arrival?.kind === 'message' ? [arrival.text, arrival.addressed] : undefined));

    assert.deepEqual(read, [
      ['hi', true],
      ['hi', true],
      ['hi', true],
      ['hi', true],
      ['', true],
      ['bot hi', false],
      ['robot: hi', false],
      ['hi bot:', false],
      ['bots: hi', false],
    ]);
  });

  it('ignores itself, notices, servers and CTCP (IRC-PARSE-1)', () => {
    const ignored = [
      said('#room', 'x', { nick: 'bot' }),
      said('bot', '\u0001VERSION\u0001'),
      said('bot', 'x', { nick: '' }),
      arrivalOf(line('NOTICE', ['bot', 'x']), context),
      arrivalOf(line('JOIN', ['#room'], { nick: 'bot' }), context),
    ];

    assert.deepEqual(ignored, Array(5).fill(undefined));
  });

  it('reads an action as emphasised text, so that it is never a command', () => {
    const arrival = said('#room', '\u0001ACTION /ping\u0001');

    assert.deepEqual(arrival?.kind === 'message' && arrival.text, [{ kind: 'text', text: '/ping', marks: ['italic'] }]);
  });

  it('reads marks, and takes an address away that is set off itself', () => {
    const texts = [
      '\u0002bot\u0002: \u0002/ping\u0002 me',
      '\u000304bot:\u0003 /ping',
      'bot: hi',
      '\u0001ACTION \u0002waves\u0001',
    ];

    const read = texts
      .map((text) => said('#room', text))
      .map((arrival) => (arrival?.kind === 'message' ? [arrival.text, arrival.addressed] : undefined));

    const marked = (text: string, ...marks: readonly string[]) => ({
      kind: 'text',
      text,
      ...(marks.length === 0 ? {} : { marks }),
    });
    assert.deepEqual(read, [
      [[marked('/ping', 'bold'), marked(' me')], true],
      ['/ping', true],
      ['hi', true],
      [[marked('waves', 'bold', 'italic')], false],
    ]);
  });

  it('reads who comes and goes', () => {
    const lines = [
      line('JOIN', ['#room']),
      line('PART', ['#room', 'bye']),
      line('KICK', ['#room', 'Bob', 'out']),
      line('KICK', ['#room', 'bot', 'out']),
    ];

    const read = lines
      .map((one) => arrivalOf(one, context))
      .map((arrival) => (arrival?.kind === 'member' ? [arrival.who, arrival.change] : undefined));

    assert.deepEqual(read, [['ann', 'joined'], ['ann', 'left'], ['bob', 'left'], undefined]);
  });

  it('reads a message to the operators of a channel as one of the channel', () => {
    assert.equal(said('@#room', 'x')?.conversation.id, '#room');
  });
});
