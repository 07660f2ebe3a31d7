import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from '../../../../worker/adapters/webhook/parse.ts';
import type { Arrival } from '../../../../worker/sdk/index.ts';
import { safeJson } from '../../../../worker/sdk/text/safe-json.ts';

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

  it('reads mentions where they stand, and takes that of the bot away at the beginning', () => {
    const mentions = [
      { text: '@Ann', user: 'ann' },
      { text: '@Ann B', user: 'b' },
      { text: '@all', everyone: true },
      { text: '@svc', self: true },
    ];
    const group = { conversation: { id: 'room-1', kind: 'group' }, user: { id: 'ann' }, mentions };
    const read = (text: string) => {
      const arrival = arrivalOf({ ...group, text });
      return arrival.kind === 'message' ? [arrival.text, arrival.addressed] : arrival.kind;
    };
    const text = (of: string) => ({ kind: 'text', text: of });
    const who = (id: string) => ({ kind: 'mention', user: { endpoint: '', id } });

    assert.deepEqual(read('@svc: hi @Ann and @Ann B'), [[text('hi '), who('ann'), text(' and '), who('b')], true]);
    assert.deepEqual(read('hi @svc and @all'), [[text('hi @svc and '), { kind: 'mention', user: 'everyone' }], true]);
    assert.deepEqual(read('@svc /ping'), ['/ping', true]);
    assert.deepEqual(read('nobody. (a+)+'), ['nobody. (a+)+', false]);
  });

  it('keeps whole what names nobody, two at once or too many', () => {
    const wrong = [
      [{ text: '@a' }],
      [{ text: '@a', user: 'a', self: true }],
      Array.from({ length: 21 }, () => ({ text: '@a', user: 'a' })),
    ];

    for (const mentions of wrong) assert.equal(arrivalOf({ ...place, text: '@a', mentions }).kind, 'other');
  });

  it('takes a text of more than 32,000 characters as it is: to look for many names in it would take long', () => {
    const mentions = [{ text: '@a', user: 'a' }];
    const read = (text: string) => {
      const arrival = arrivalOf({ ...place, text, mentions });
      return arrival.kind === 'message' && typeof arrival.text;
    };

    assert.deepEqual([read(`@a${'x'.repeat(31_998)}`), read(`@a${'x'.repeat(31_999)}`)], ['object', 'string']);
  });

  it('takes a text in which mentions stand in more than 1,000 places as it is: each would be stored with its id', () => {
    const mentions = [{ text: 'a', user: 'u'.repeat(512) }];
    const read = (text: string) => arrivalOf({ ...place, text, mentions });

    assert.equal(JSON.stringify(read('a'.repeat(1_000))).split('mention').length - 1, 1_000);
    assert.ok(JSON.stringify(read('a'.repeat(32_000))).length < 40_000);
  });

  it('reads files by their addresses, with or without a text, and none that is no address of the web', () => {
    const read = (files: unknown, text?: string) => {
      const arrival = arrivalOf({ ...place, files, ...(text === undefined ? {} : { text }) });
      return arrival.kind === 'message' ? [arrival.text, arrival.files] : arrival.kind;
    };
    const url = 'https://shop.example/a/b.png?x';

    assert.deepEqual(read([{ url, name: '../c.png', mime: 'image/png', bytes: 7 }], 'look'), [
      'look',
      [{ id: url, name: '..c.png', mime: 'image/png', bytes: 7 }],
    ]);
    assert.deepEqual(read([{ url }]), ['', [{ id: url, name: 'b.png', mime: 'application/octet-stream', bytes: 0 }]]);
    for (const wrong of [[{ url: 'file:///etc/passwd' }], [{ name: 'a' }], Array.from({ length: 11 }, () => ({ url }))])
      assert.equal(read(wrong, 'look'), 'other');
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

  it('says what keeps a body from being a message, unless its type says that it is none', () => {
    const { conversation, user } = place;
    const bodies = [
      { text: 'hi' },
      { type: 'pressed', conversation },
      { user, text: 'hi' },
      { conversation, user, text: 7 },
      [1],
      'not json',
      { type: 'order.paid', text: 'hi' },
      { conversation, user, text: 'hi' },
    ];

    const faults = bodies.map((body) => (arrivalOf(body) as { readonly fault?: string }).fault);

    assert.deepEqual(faults, [
      'conversation and user are missing',
      'user is missing',
      'conversation is missing',
      'a field does not fit a body of type message',
      'the body is no JSON object',
      'the body is no JSON object',
      undefined,
      undefined,
    ]);
  });

  it('takes a body with keys of prototypes at every level, without them', () => {
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
