// What adapters hand in: the shapes that are taken, and how each other one is told.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkArrivals, checkCursor } from '../../../worker/endpoints/arrival-shapes.ts';

const base = {
  id: 'd1',
  sentAt: 1,
  conversation: { id: 'c', kind: 'group', name: 'Room', thread: 't' },
  user: { id: 'u', name: '', admin: false, self: false },
};
const message = { ...base, kind: 'message', message: 'm', text: 'private words' };

describe('checkArrivals', () => {
  it('takes every kind of arrival', () => {
    const all = [
      message,
      { ...message, kind: 'edited', text: [{ kind: 'text', text: 'x' }], replyTo: 'm0', addressed: true, files: [] },
      { ...base, kind: 'deleted', message: 'm' },
      { ...base, kind: 'command', name: 'echo', args: {}, line: 'x' },
      { ...base, kind: 'pressed', message: 'm', token: 'k' },
      { ...base, kind: 'reaction', message: 'm', emoji: '+1', on: false },
      { ...base, kind: 'member', who: 'u2', change: 'left' },
      { ...base, kind: 'other', type: 'poll', raw: null },
      {
        ...base,
        user: { id: 'u', name: 'n', admin: true },
        conversation: { id: 'c', kind: 'private' },
        kind: 'other',
        type: '',
      },
    ];

    assert.equal(checkArrivals('wire', all), all);
  });

  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [{ ...message, id: 7 }, /message: id has to be a text that is not empty$/],
    [{ ...message, id: '' }, /id has to be/],
    [{ ...message, sentAt: Number.NaN }, /sentAt has to be a number of milliseconds$/],
    [{ ...message, sentAt: '2026-01-01' }, /sentAt/],
    [{ ...message, user: undefined }, /user has to be \{ id: text, name: text, admin: flag, self\?: flag \}$/],
    [{ ...message, user: { id: 1, name: 'n', admin: false } }, /user has to be/],
    [{ ...message, conversation: undefined }, /conversation has to be \{ id: text, kind: 'private' or 'group'/],
    [{ ...message, conversation: { id: 'c', kind: 'channel' } }, /conversation has to be/],
    [{ ...message, kind: 'massage' }, /kind has to be one of message, edited, deleted/],
    [{ ...message, kind: undefined }, /kind has to be one of/],
    [{ ...message, text: 7 }, /text has to be a text or a list of segments$/],
    [{ ...message, text: ['x'] }, /text has to be/],
    [{ ...message, message: 7 }, /message: message has to be a text$/],
    [{ ...message, replyTo: 7 }, /replyTo/],
    [{ ...message, addressed: 'yes' }, /addressed/],
    [{ ...message, files: {} }, /files/],
    [{ ...base, kind: 'command', name: 'x' }, /args has to be an object$/],
    [{ ...base, kind: 'command', name: 'x', args: {}, line: 1 }, /line/],
    [{ ...base, kind: 'command', args: {} }, /name has to be a text$/],
    [{ ...base, kind: 'pressed', message: 'm' }, /pressed: token has to be a text$/],
    [{ ...base, kind: 'reaction', message: 'm', emoji: 'x' }, /on has to be true or false$/],
    [{ ...base, kind: 'reaction', message: 'm', on: true }, /emoji/],
    [{ ...base, kind: 'member', who: 'u', change: 'gone' }, /change has to be 'joined' or 'left'$/],
    [{ ...base, kind: 'member', change: 'left' }, /who/],
    [{ ...base, kind: 'deleted' }, /message/],
    [{ ...base, kind: 'other' }, /type/],
    ['x', /an arrival has to be an object$/],
  ];
  for (const [arrival, told] of wrong) {
    it(`tells ${String(told)}`, () => {
      assert.throws(
        () => checkArrivals('wire', [message, arrival]),
        (error: Error & { code?: string }) =>
          error.code === 'plugin_failed' &&
          error.message.startsWith('adapter wire: ') &&
          told.test(error.message) &&
          !error.message.includes('private words'),
      );
    });
  }

  it('tells what is no list', () => {
    assert.throws(() => checkArrivals('wire', undefined), /adapter wire: .* a list of arrivals$/);
  });
});

describe('checkCursor', () => {
  it('takes a text, and none', () => {
    assert.deepEqual(
      [checkCursor('wire', 'c1'), checkCursor('wire', ''), checkCursor('wire', undefined)],
      ['c1', '', undefined],
    );
  });

  for (const cursor of [5, null, Promise.resolve('c1'), ['c1'], { at: 'private words' }])
    it(`refuses ${JSON.stringify(cursor)}`, () => {
      assert.throws(() => checkCursor('wire', cursor), {
        code: 'plugin_failed',
        message: 'adapter wire: the cursor of what it hands in has to be a text',
      });
    });
});
