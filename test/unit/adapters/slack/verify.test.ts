// Signatures of Slack: the worked example of its documentation, and everything that is not quite one.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { verify } from '../../../../worker/adapters/slack/verify.ts';
import { CHALLENGE, SIGNED } from '../../../support/accounts/slack-examples.ts';

const secrets = (...texts: string[]) => ({ secrets: texts.map((text) => ({ reveal: () => text })) });
const request = (
  body: string | Uint8Array,
  headers: Readonly<Record<string, string | undefined>>,
  receivedAt = Number(SIGNED.timestamp) * 1_000,
) => ({ method: 'POST', path: '', query: {}, headers, body: Buffer.from(body), receivedAt });
const example = (more: Readonly<Record<string, string | undefined>> = {}, body: string | Uint8Array = SIGNED.body) =>
  request(body, { 'x-slack-request-timestamp': SIGNED.timestamp, 'x-slack-signature': SIGNED.signature, ...more });
const signed = (body: string, type = 'application/json') => {
  const signature = createHmac('sha256', SIGNED.secret).update(`v0:${SIGNED.timestamp}:${body}`).digest('hex');
  return example({ 'x-slack-signature': `v0=${signature}`, 'content-type': type }, body);
};
const kind = (given: ReturnType<typeof request>, ...texts: string[]): string =>
  verify(given, secrets(...(texts.length === 0 ? [SIGNED.secret] : texts))).kind;

describe('a signature of Slack', () => {
  it('verifies as printed, with any of the secrets', () => {
    assert.equal(kind(example()), 'ok');
    assert.equal(kind(example(), 'older', SIGNED.secret), 'ok');
    assert.equal(kind(example(), SIGNED.secret, 'newer'), 'ok');
  });

  it('is refused without secrets, with others, and with an empty one', () => {
    assert.equal(verify(example(), { secrets: [] }).kind, 'refused');
    assert.equal(kind(example(), 'other', ''), 'refused');
  });

  it('is refused for any other bytes', () => {
    for (const body of [`${SIGNED.body}\n`, SIGNED.body.slice(0, -1), SIGNED.body.replace('text=', 'text=x'), ''])
      assert.equal(kind(example({}, body)), 'refused', body.slice(-20));
  });

  it('is refused over five minutes away, and with a time that is not plain digits', () => {
    const at = (seconds: number) =>
      request(SIGNED.body, example().headers, (Number(SIGNED.timestamp) + seconds) * 1_000);
    assert.deepEqual(
      [at(300), at(-300)].map((one) => kind(one)),
      ['ok', 'ok'],
    );
    assert.deepEqual(
      [at(301), at(-301)].map((one) => kind(one)),
      ['refused', 'refused'],
    );
    for (const time of [
      undefined,
      '',
      '1e9',
      '0x5b478aca',
      ' 1531420618',
      '1531420618,1531420618',
      '-1531420618',
      '1531420618.0',
    ])
      assert.equal(kind(example({ 'x-slack-request-timestamp': time })), 'refused', String(time));
  });

  it('is refused when it is not v0= and 64 digits, whatever a lenient reader would make of it', () => {
    const hex = SIGNED.signature.slice(3);
    for (const signature of [
      undefined,
      '',
      hex,
      `v1=${hex}`,
      `v0=${hex}0`,
      `v0=${hex.slice(1)}`,
      `v0=${hex} `,
      `v0=${hex},v0=${hex}`,
      `v0=z${hex.slice(1)}`,
    ])
      assert.equal(kind(example({ 'x-slack-signature': signature })), 'refused', String(signature));
  });
});

describe("Slack's questions", () => {
  it('are answered with the challenge, when they are signed', () => {
    const body = JSON.stringify(CHALLENGE);
    const verdict = verify(signed(body), secrets(SIGNED.secret));

    assert.deepEqual(verdict.kind === 'handshake' && verdict.answer.text, CHALLENGE.challenge);
    assert.equal(kind(signed(body), 'other'), 'refused');
    assert.equal(kind(request(body, {})), 'refused');
  });

  it('are no way to have anything else answered', () => {
    assert.equal(kind(signed('{"type":"url_verification","challenge":{"a":1}}')), 'ok');
    assert.equal(kind(signed(`{"type":"url_verification","challenge":"${'x'.repeat(2_000)}"}`)), 'ok');
    assert.equal(kind(signed('{"type":"event_callback","text":"url_verification","challenge":"x"}')), 'ok');
  });

  it('are answered for the check of a certificate, which Slack does not sign', () => {
    const form = 'application/x-www-form-urlencoded';
    const plain = (body: string, more: Readonly<Record<string, string>> = {}) =>
      request(body, { 'content-type': form, ...more });
    const answered = { kind: 'handshake', answer: { text: '' } };

    assert.deepEqual(verify(signed('ssl_check=1&token=x', form), secrets(SIGNED.secret)), answered);
    assert.deepEqual(verify(plain('ssl_check=1&token=x'), secrets(SIGNED.secret)), answered);
    for (const body of ['ssl_check=0', 'command=%2Fping', 'payload=%7B%7D', `ssl_check=1&x=${'x'.repeat(2_000)}`])
      assert.equal(kind(plain(body)), 'refused', body.slice(0, 20));
    assert.equal(kind(plain('ssl_check=1', { 'x-slack-signature': `v0=${'0'.repeat(64)}` })), 'refused');
    assert.equal(kind(request('ssl_check=1', {})), 'refused');
  });
});
