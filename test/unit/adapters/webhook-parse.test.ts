import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from '../../../worker/adapters/webhook/parse.ts';
import type { Arrival } from '../../../worker/sdk/index.ts';
import { safeJson } from '../../../worker/sdk/safe-json.ts';

const AT = 1_767_225_600;
function arrivalOf(body: string | object): Arrival {
  const headers = { 'webhook-id': 'd1', 'webhook-timestamp': String(AT) };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const [arrival] = parse({
    method: 'POST',
    path: '',
    query: {},
    headers,
    body: Buffer.from(text),
    receivedAt: AT * 1_000,
  });
  assert.ok(arrival);
  return arrival;
}
const place = { conversation: { id: 'room-1' }, user: { id: 'ann' } };
const base = {
  id: 'd1',
  conversation: { id: 'room-1', kind: 'private' },
  user: { id: 'ann', name: 'ann', admin: false },
  sentAt: AT * 1_000,
  message: 'd1',
};

describe('parse (webhook)', () => {
  it('reads a message with as little as conversation, user and text', () => {
    assert.deepEqual(arrivalOf({ ...place, text: 'hello' }), {
      ...base,
      kind: 'message',
      text: 'hello',
      addressed: true,
    });
  });

  it('reads every field of a message', () => {
    const conversation = { id: 'room-1', kind: 'group', name: 'Room', thread: 't1' };
    const user = { id: 'ann', name: 'Ann', admin: true };

    const arrival = arrivalOf({
      type: 'edited',
      conversation,
      user,
      text: 'hi',
      message: 'm1',
      replyTo: 'm0',
      addressed: true,
      sentAt: 5,
      extra: 1,
    });

    assert.deepEqual(arrival, {
      id: 'd1',
      conversation,
      user,
      sentAt: 5,
      message: 'm1',
      kind: 'edited',
      text: 'hi',
      addressed: true,
      replyTo: 'm0',
    });
  });

  it('reads a removal, a press and a reaction', () => {
    assert.deepEqual(arrivalOf({ ...place, type: 'deleted', message: 'm1' }), {
      ...base,
      message: 'm1',
      kind: 'deleted',
    });
    assert.deepEqual(arrivalOf({ ...place, type: 'pressed', message: 'm1', token: 'tok' }), {
      ...base,
      message: 'm1',
      kind: 'pressed',
      token: 'tok',
    });
    assert.deepEqual(arrivalOf({ ...place, type: 'reaction', message: 'm1', emoji: '+1', on: false }), {
      ...base,
      message: 'm1',
      kind: 'reaction',
      emoji: '+1',
      on: false,
    });
  });

  it('keeps whole what is signed but of another form', () => {
    const bodies = [
      { type: 'order.paid', data: { id: 7 } },
      { ...place, type: 'pressed' },
      { ...place },
      { ...place, text: 7 },
      [1, 2],
      'null',
      'not json',
    ];

    const kept = bodies
      .map((body) => arrivalOf(body))
      .map((arrival) => (arrival.kind === 'other' ? [arrival.type, arrival.raw] : arrival.kind));

    assert.deepEqual(kept, [
      ['order.paid', { type: 'order.paid', data: { id: 7 } }],
      ['pressed', { ...place, type: 'pressed' }],
      ['unknown', place],
      ['unknown', { ...place, text: 7 }],
      ['unknown', [1, 2]],
      ['unknown', null],
      ['unknown', 'not json'],
    ]);
  });

  it('takes a body with keys of prototypes at every level, without them (row 28)', () => {
    const poison =
      '{"__proto__":{"polluted":1},"conversation":{"id":"r","__proto__":{"polluted":1}},"user":{"id":"ann"},"text":"hi","constructor":{"prototype":{"polluted":1}}}';
    const nested =
      '{"type":"x","data":[{"a":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"b":1}}]}';

    const [known, kept] = [arrivalOf(poison), arrivalOf(nested)];

    assert.equal(known.kind, 'message');
    assert.deepEqual(kept.kind === 'other' && kept.raw, { type: 'x', data: [{ a: { b: 1 } }] });
    assert.equal(Object.getPrototypeOf(known.conversation), Object.prototype);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  it('takes a body of any depth in bounded time, as text', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;

    const arrival = arrivalOf(deep);

    assert.equal(arrival.kind === 'other' && arrival.raw, deep);
  });
});

describe('safeJson', () => {
  it('keeps a constructor that is no more than a word', () => {
    assert.deepEqual(safeJson('{"constructor":"Ferrari","prototype":1}'), { constructor: 'Ferrari', prototype: 1 });
  });
});
