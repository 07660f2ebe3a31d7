import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { accountFault, keyOf, strictBase64 } from '../../../../worker/adapters/webhook/config.ts';
import { verify } from '../../../../worker/adapters/webhook/verify.ts';
import type { RawRequest, Secret } from '../../../../worker/sdk/index.ts';

const secretOf = (text: string): Secret => ({ reveal: () => text });
const GOOD = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const AT = 1_767_225_600;
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const BODY = '{"test": 2432232314, "text": "Grüße\\r\\n"}';

interface Change {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  readonly offsetSeconds?: number;
  readonly secret?: string;
}
/** A request that an independent implementation has signed, then changed. */
function request({ headers = {}, body = BODY, offsetSeconds = 0, secret = GOOD }: Change = {}): RawRequest {
  const timestamp = AT + offsetSeconds;
  const signature = new Webhook(secret).sign(ID, new Date(timestamp * 1_000), BODY);
  return {
    method: 'POST',
    path: 'webhook/shop',
    query: {},
    headers: { 'webhook-id': ID, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature, ...headers },
    body: Buffer.from(body),
    receivedAt: AT * 1_000 + 999,
  };
}
const kindOf = (raw: RawRequest, ...secrets: readonly string[]): string =>
  verify(raw, { secrets: (secrets.length === 0 ? [GOOD] : secrets).map(secretOf) }).kind;

describe('verify (Standard Webhooks)', () => {
  it('takes the vector of the specification', () => {
    const raw: RawRequest = {
      ...request({ body: '{"test": 2432232314}' }),
      headers: {
        'webhook-id': ID,
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
      receivedAt: 1_614_265_330_000,
    };

    assert.equal(kindOf(raw), 'ok');
  });

  it('takes what another implementation signed', () => {
    assert.equal(kindOf(request()), 'ok');
  });

  it('takes any of several secrets and any of several signatures, and skips versions that it does not know', () => {
    const ours = request().headers['webhook-signature'] ?? '';
    const theirs = request({ secret: OTHER }).headers['webhook-signature'] ?? '';

    assert.equal(kindOf(request({ secret: OTHER }), GOOD, OTHER), 'ok');
    assert.equal(kindOf(request({ headers: { 'webhook-signature': `v1a,AAAA v2,x ${theirs} ${ours}` } })), 'ok');
  });

  it('refuses a body that is not byte for byte what was signed', () => {
    const changed = [
      BODY.replace('"test": ', '"test":'),
      BODY.replace('4', '5'),
      `${BODY}\n`,
      BODY.replace('\\r\\n', '\\n'),
      '',
    ];

    assert.deepEqual(
      changed.map((body) => kindOf(request({ body }))),
      changed.map(() => 'refused'),
    );
  });

  it('refuses a time more than five minutes off, before and after', () => {
    assert.deepEqual(
      [-301, -300, 300, 301].map((offsetSeconds) => kindOf(request({ offsetSeconds }))),
      ['refused', 'ok', 'ok', 'refused'],
    );
  });

  it('refuses a timestamp that is not plain decimal digits, though it means the same number', () => {
    const texts = [
      '1.767225600e9',
      '1e9',
      `0x${AT.toString(16)}`,
      ` ${AT}`,
      `${AT} `,
      `+${AT}`,
      `0${AT}`,
      `${AT}.0`,
      `${AT},${AT}`,
      '',
      '-1',
      'NaN',
      undefined,
    ];
    const sign = (text: string): string =>
      `v1,${createHmac('sha256', Buffer.from(GOOD.slice(6), 'base64'))
        .update(`${ID}.${text}.${BODY}`)
        .digest('base64')}`;

    const kinds = texts.map((text) =>
      kindOf(request({ headers: { 'webhook-timestamp': text, 'webhook-signature': sign(String(text)) } })),
    );

    assert.deepEqual(
      kinds,
      texts.map(() => 'refused'),
    );
  });

  it('refuses a signature by the secret of another endpoint', () => {
    assert.equal(kindOf(request({ secret: OTHER })), 'refused');
  });

  it('refuses a missing or foreign id', () => {
    assert.deepEqual(
      [undefined, '', 'other', 'a b', 'x'.repeat(257)].map((id) => kindOf(request({ headers: { 'webhook-id': id } }))),
      Array(5).fill('refused'),
    );
  });

  it('refuses every form of a signature that is not canonical base64 of 32 bytes', () => {
    const good = (request().headers['webhook-signature'] ?? '').slice(3);
    const forms = [
      undefined,
      '',
      good,
      `v1,${good}=`,
      `v1,${good.slice(0, -1)}`,
      `v1,${good}junk`,
      `v1,${good.replaceAll('+', '-').replaceAll('/', '_')}-`,
      `v1,\n${good}`,
      `V1,${good}`,
      `v1, ${good}`,
      `v1,${good},v1,${good}`,
      'v1,',
    ];

    assert.deepEqual(
      forms.map((form) => kindOf(request({ headers: { 'webhook-signature': form } }))),
      forms.map(() => 'refused'),
    );
  });

  it('takes nothing by a secret that is empty or malformed', () => {
    const empty = `v1,${createHmac('sha256', '').update(`${ID}.${AT}.${BODY}`).digest('base64')}`;

    assert.deepEqual(
      ['whsec_', '', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_c2hvcnQ='].map((secret) =>
        kindOf(request({ headers: { 'webhook-signature': empty } }), secret),
      ),
      Array(4).fill('refused'),
    );
  });

  it('reads at most sixteen signatures', () => {
    const ours = request().headers['webhook-signature'] ?? '';

    assert.equal(kindOf(request({ headers: { 'webhook-signature': `${'v2,x '.repeat(16)}${ours}` } })), 'refused');
  });
});

describe('webhook account', () => {
  it('says what is wrong with secrets and url, with a remedy, and never shows a secret', () => {
    const secrets = [secretOf(GOOD)];

    assert.equal(accountFault({ secrets, url: 'https://shop.example/bot' }), undefined);
    for (const account of [
      { secrets: [secretOf('hunter2hunter2')] },
      { secrets, outgoingSecrets: [secretOf('hunter2hunter2')] },
    ]) {
      assert.match(accountFault(account)?.reason ?? '', /whsec_/);
      assert.doesNotMatch(JSON.stringify(accountFault(account)), /hunter2/);
    }
    for (const url of ['ftp://x', 'nonsense', 'https://user:pass@shop.example'])
      assert.match(accountFault({ secrets, url })?.reason ?? '', /url/);
  });

  it('decodes base64 strictly', () => {
    assert.deepEqual(
      ['AAAA', 'AA==', 'AB==', 'AA=', 'A A=', 'AAA-', ''].map((text) => strictBase64(text)?.length),
      [3, 1, undefined, undefined, undefined, undefined, 0],
    );
    assert.equal(keyOf(secretOf(GOOD))?.length, 24);
  });
});
