// Signatures of GitHub: the published example, what another implementation signs, and everything that is not quite it.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { Webhooks } from '@octokit/webhooks';
import { Secret } from '../../../../shared/secret.ts';
import { verify } from '../../../../worker/adapters/github/verify.ts';
import type { HeaderMap, RawRequest } from '../../../../worker/sdk/index.ts';

// From GitHub's page "Validating webhook deliveries".
const SECRET = "It's a Secret to Everybody";
const PAYLOAD = 'Hello, World!';
const SIGNATURE = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
const HEADERS = { 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958', 'x-github-event': 'push' };

const secrets = (...texts: string[]) => ({ secrets: texts.map((text) => new Secret(text)) });
const request = (headers: HeaderMap, body = PAYLOAD): RawRequest => ({
  method: 'POST',
  path: '',
  query: {},
  headers: { ...HEADERS, ...headers },
  body: Buffer.from(body),
  receivedAt: 0,
});
const signed = (signature: string): HeaderMap => ({ 'x-hub-signature-256': signature });

describe('verify of github', () => {
  it('takes the published example', () => {
    assert.deepEqual(verify(request(signed(`sha256=${SIGNATURE}`)), secrets(SECRET)), { kind: 'ok' });
  });

  it("takes what GitHub's own library signs, by any of the secrets", async () => {
    const body = JSON.stringify({ text: 'Grüße, 🌍' });
    const signature = await new Webhooks({ secret: 'the new one' }).sign(body);

    assert.deepEqual(verify(request(signed(signature), body), secrets('the old one', 'the new one')), { kind: 'ok' });
    assert.equal(verify(request(signed(signature), body), secrets('the old one')).kind, 'refused');
  });

  it('refuses every other form of the header, and the SHA-1 header alone', () => {
    const sha1 = `sha1=${createHmac('sha1', SECRET).update(PAYLOAD).digest('hex')}`;
    const bad: readonly HeaderMap[] = [
      {},
      { 'x-hub-signature': sha1 },
      signed(sha1),
      signed(SIGNATURE),
      signed(`sha256=${SIGNATURE}0`),
      signed(`sha256=${SIGNATURE.slice(1)}`),
      signed(`sha256=${SIGNATURE.slice(0, -1)}g`),
      signed(`sha256= ${SIGNATURE}`),
      signed(`SHA256=${SIGNATURE}`),
      signed(`sha256=${SIGNATURE}, sha256=${SIGNATURE}`),
    ];

    for (const headers of bad)
      assert.equal(verify(request(headers), secrets(SECRET)).kind, 'refused', JSON.stringify(headers));
    for (const body of [`${PAYLOAD}\n`, 'hello, World!', ''])
      assert.equal(verify(request(signed(`sha256=${SIGNATURE}`), body), secrets(SECRET)).kind, 'refused');
  });

  it('never takes an empty secret', () => {
    const signature = createHmac('sha256', '').update(PAYLOAD).digest('hex');

    assert.equal(verify(request(signed(`sha256=${signature}`)), secrets('')).kind, 'refused');
  });

  it('refuses a delivery without its id or its event, by which a repeat is known', () => {
    const good = signed(`sha256=${SIGNATURE}`);

    assert.equal(verify(request({ ...good, 'x-github-delivery': undefined }), secrets(SECRET)).kind, 'refused');
    assert.equal(verify(request({ ...good, 'x-github-event': 'a b' }), secrets(SECRET)).kind, 'refused');
  });

  it('answers a signed ping, and no other', () => {
    const ping = { 'x-github-event': 'ping' };

    assert.deepEqual(verify(request({ ...signed(`sha256=${SIGNATURE}`), ...ping }), secrets(SECRET)), {
      kind: 'handshake',
      answer: { json: { pong: true } },
    });
    assert.equal(verify(request({ ...signed('sha256=00'), ...ping }), secrets(SECRET)).kind, 'refused');
  });
});
