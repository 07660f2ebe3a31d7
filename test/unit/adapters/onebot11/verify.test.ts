// Who may deliver to an account of OneBot, and what the implementation's answers mean.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { readAnswer, readStatus } from '../../../../worker/adapters/onebot11/calls/answer.ts';
import { placeInLine, putOff } from '../../../../worker/adapters/onebot11/calls/pace.ts';
import { Seen } from '../../../../worker/adapters/onebot11/seen.ts';
import { verify, verifySocket } from '../../../../worker/adapters/onebot11/verify.ts';
import type { Arrival } from '../../../../worker/sdk/index.ts';
import { secret } from '../../../../worker/sdk/secret.ts';
import { ANSWERED, NO_ACTION, POSTED } from '../../../support/accounts/onebot11-examples.ts';

const sign = (key: string, body = POSTED): string => `sha1=${createHmac('sha1', key).update(body).digest('hex')}`;
const request = (headers: Readonly<Record<string, string>>, more: object = {}) => ({
  method: 'POST',
  path: '/',
  query: {},
  headers,
  body: Buffer.from(POSTED),
  receivedAt: 0,
  ...more,
});

describe('the signature of a delivery', () => {
  const http = { mode: 'http' as const, secrets: [secret('old'), secret('some-secret')] };
  const kindOf = (header: string | undefined, account: Parameters<typeof verify>[1] = http): string =>
    verify(request(header === undefined ? {} : { 'x-signature': header }), account).kind;

  it('is HMAC-SHA1 over the raw body, by any of the secrets', () => {
    // Made by the Node.js example of the specification: crypto.createHmac('sha1', secret), update(rawBody), digest('hex').
    assert.deepEqual(
      [kindOf(sign('some-secret')), kindOf(sign('old')), kindOf(sign('OLD').toUpperCase())],
      ['ok', 'ok', 'refused'],
    );
  });

  it('is refused in any other form, with an empty secret, and for accounts of another mode', () => {
    const good = sign('old');
    for (const bad of [
      undefined,
      '',
      good.slice(5),
      `sha256=${good.slice(5)}`,
      `${good}0`,
      good.slice(0, -1),
      `${good} `,
    ])
      assert.equal(kindOf(bad), 'refused', bad);
    assert.equal(kindOf(sign(''), { mode: 'http', secrets: [secret('')] }), 'refused');
    assert.equal(kindOf(good, { ...http, mode: 'reverse' }), 'refused');
  });
});

describe('the token of a WebSocket', () => {
  const account = { accessTokens: [secret('new'), secret('old')], selfId: '42' };
  const verdict = (headers: Readonly<Record<string, string>>, query: Readonly<Record<string, string>> = {}) => {
    const given = verifySocket(request(headers, { query }), account);
    return given.kind === 'refused' ? (given.status ?? 401) : given.kind;
  };

  it('is taken from the header and from the query, each of them, and by the older word', () => {
    assert.deepEqual(
      [
        verdict({ authorization: 'Bearer new' }),
        verdict({ authorization: 'bearer old', 'x-self-id': '42', 'x-client-role': 'Event' }),
        verdict({ authorization: 'Token old', 'x-client-role': 'Universal' }),
        verdict({}, { access_token: 'new' }),
        verdict({ authorization: 'Bearer new' }, { access_token: 'old' }),
      ],
      Array(5).fill('ok'),
    );
  });

  it('is refused when it is missing, wrong, doubtful or empty; a stranger and an unknown role are 403', () => {
    assert.deepEqual(
      [
        verdict({}),
        verdict({ authorization: 'Bearer wrong' }),
        verdict({ authorization: 'Basic new' }),
        verdict({ authorization: 'Bearer wrong' }, { access_token: 'new' }),
        verdict({}, { access_token: '' }),
        verdict({ authorization: 'Bearer new', 'x-self-id': '43' }),
        verdict({ authorization: 'Bearer new', 'x-client-role': 'Admin' }),
      ],
      [401, 401, 401, 401, 401, 403, 403],
    );
    assert.equal(verifySocket(request({ authorization: 'Bearer x' }), { accessTokens: [secret('')] }).kind, 'refused');
  });
});

describe('answers of an implementation', () => {
  const failed = (retcode: number, message = 'no') => ({ status: 'failed', retcode, data: null, message });

  it('are read by their retcode', () => {
    assert.deepEqual(readAnswer('a', ANSWERED), { kind: 'ok', data: ANSWERED.data });
    assert.deepEqual(readAnswer('a', { status: 'async', retcode: 1, data: { message_id: 1 } }), {
      kind: 'ok',
      data: null,
    });
    assert.deepEqual(readAnswer('a', NO_ACTION), {
      kind: 'refused',
      reason: 'the implementation has no a',
      isMissing: true,
    });
    assert.deepEqual(readAnswer('a', failed(1400)), { kind: 'refused', reason: 'a: no' });
    assert.deepEqual(readAnswer('a', { status: 'failed', retcode: 100 }), {
      kind: 'refused',
      reason: 'a: failed with 100',
    });
    for (const retcode of [1401, 1403])
      assert.throws(() => readAnswer('a', failed(retcode)), { code: 'account_failed', remedy: /access token/ });
  });

  it('throw where nobody knows whether it was done', () => {
    for (const words of ['Timeout: NTEvent sendMsg', '发送超时'])
      assert.throws(() => readAnswer('a', failed(1200, words)));
    for (const answer of [undefined, 'ok', []]) assert.throws(() => readAnswer('a', answer));
    for (const status of [500, 502, 408]) assert.throws(() => readStatus('a', status, null));
  });

  it('are read by their status over HTTP', () => {
    assert.deepEqual(readStatus('a', 429, '7'), { kind: 'later', afterMs: 7_000 });
    assert.deepEqual(readStatus('a', 429, 'soon'), { kind: 'later', afterMs: 5_000 });
    assert.equal(readStatus('a', 404, null).kind, 'refused');
    for (const status of [400, 406, 302]) assert.equal(readStatus('a', status, null).kind, 'refused');
    for (const status of [401, 403]) assert.throws(() => readStatus('a', status, null), { code: 'account_failed' });
  });
});

describe('the pace of an account', () => {
  it('lets a few go at once, then one after the other, and puts off what would wait too long', () => {
    const account = { perSecond: 2 } as Parameters<typeof placeInLine>[0];
    const places = Array.from({ length: 6 }, (_, n) => placeInLine(account, `${n}`, 10_000));

    assert.deepEqual(
      places,
      [0, 0, 0, 500, 1_000, 1_500].map((waitMs) => ({ waitMs })),
    );
    assert.deepEqual(placeInLine(account, 'later', 60_000), { waitMs: 0 }, 'a rest gives it back');
  });

  it('puts each of a backlog off once, and keeps its place', () => {
    const slow = { perSecond: 0.1 } as Parameters<typeof placeInLine>[0];
    const keys = Array.from({ length: 50 }, (_, n) => `k${n}`);
    const puts = new Map<string, number>();
    const gone: number[] = [];
    let waiting = keys.map((key) => ({ key, at: 0 }));
    while (waiting.length > 0) {
      const [first, ...others] = waiting.toSorted((a, b) => a.at - b.at);
      assert.ok(first);
      waiting = others;
      const place = placeInLine(slow, first.key, first.at);
      if ('waitMs' in place) gone.push(first.at + place.waitMs);
      else {
        puts.set(first.key, (puts.get(first.key) ?? 0) + 1);
        waiting.push({ key: first.key, at: first.at + place.afterMs });
      }
    }

    assert.equal(Math.max(...puts.values()), 1);
    assert.deepEqual(
      gone.toSorted((a, b) => a - b),
      keys.map((_, n) => Math.max(0, n - 2) * 10_000),
    );
  });

  it('keeps no place over a quiet that the implementation asks for, nor one that is long past', () => {
    const slow = { perSecond: 0.1 } as Parameters<typeof placeInLine>[0];
    const come = (now: number) => ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => placeInLine(slow, key, now));
    assert.deepEqual(come(0).slice(-2), [{ waitMs: 20_000 }, { afterMs: 30_000 }]);
    putOff(slow, 100_000);
    assert.deepEqual(placeInLine(slow, 'f', 30_000), { afterMs: 70_000 });
    assert.deepEqual(placeInLine(slow, 'f', 500_000), { waitMs: 0 });
    assert.deepEqual(
      ['g', 'h', 'i'].map((key) => placeInLine(slow, key, 500_000)),
      [{ waitMs: 0 }, { waitMs: 0 }, { waitMs: 10_000 }],
    );
  });
});

describe('where an account was up to', () => {
  const said = (id: string, sentAt: number) =>
    ({ kind: 'message', conversation: { id, kind: 'group' }, sentAt }) as Arrival;

  it('is the last second of each conversation, of the hundred that were heard of last', () => {
    const seen = new Seen(JSON.stringify({ 'group:1': 5, 'group:2': 9, broken: 'x' }));
    const cursor = seen.after([said('group:1', 7_900), said('group:1', 6_000)]);

    assert.deepEqual(
      [...new Seen(cursor).places()],
      [
        ['group:2', 9],
        ['group:1', 7],
      ],
    );
    const many = seen.after(Array.from({ length: 150 }, (_, n) => said(`group:${n + 10}`, 1_000)));
    assert.deepEqual([...new Seen(many).places().keys()].slice(0, 1), ['group:60']);
    assert.equal(new Seen(many).places().size, 100);
    assert.deepEqual([...new Seen('[').places()], []);
  });
});
