// Signatures, and what an answer of a platform means.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { type RawRequest, readJson, sendResult, t, verifyHmac } from 'svc';
import { secret } from '../../../worker/sdk/secret.ts';

const NOW = 1_767_000_000_000;
const request: RawRequest = {
  method: 'POST',
  path: '/',
  query: {},
  headers: {},
  body: Buffer.from('{"a":1}'),
  receivedAt: NOW,
};
const sign = (text: string, key: string): string => createHmac('sha256', key).update(text).digest('hex');

describe('verifyHmac', () => {
  it('takes a signature by any of the secrets, in either case (SIGNATURE-2)', () => {
    const signature = sign('{"a":1}', 'new');

    for (const secrets of [
      [secret('old'), secret('new')],
      [secret('new'), secret('old')],
    ]) {
      assert.deepEqual(verifyHmac(request, { signature, secrets }), { kind: 'ok' });
    }
    assert.deepEqual(verifyHmac(request, { signature: signature.toUpperCase(), secrets: [secret('new')] }), {
      kind: 'ok',
    });
  });

  it('refuses everything else', () => {
    const signature = sign('{"a":1}', 'key');
    const reason = (more: object): unknown => {
      const verdict = verifyHmac(request, { signature, secrets: [secret('key')], ...more });
      return verdict.kind === 'refused' ? verdict.reason : verdict.kind;
    };

    assert.equal(reason({ signature: undefined }), 'no signature');
    assert.equal(reason({ signature: sign('{"a":2}', 'key') }), 'wrong signature');
    assert.equal(reason({ secrets: [] }), 'wrong signature');
    assert.equal(reason({ signature: sign('{"a":1}', ''), secrets: [secret('')] }), 'wrong signature');
  });

  it('reads hexadecimal digits strictly (SIGNATURE-1)', () => {
    const signature = sign('{"a":1}', 'key');

    for (const bad of [
      '',
      signature.slice(1),
      `${signature}00`,
      `${signature.slice(0, -1)}g`,
      ` ${signature}`,
      `${signature}zz`,
    ]) {
      assert.deepEqual(verifyHmac(request, { signature: bad, secrets: [secret('key')] }), {
        kind: 'refused',
        reason: 'malformed signature',
      });
    }
  });

  it('takes a time within five minutes, and no other (SIGNATURE-3)', () => {
    const kinds = [0, 300_000, -300_000, 300_001, -300_001, Number.NaN].map(
      (off) => verifyHmac(request, { signature: sign('{"a":1}', 'key'), secrets: [secret('key')], at: NOW + off }).kind,
    );

    assert.deepEqual(kinds, ['ok', 'ok', 'ok', 'refused', 'refused', 'refused']);
  });
});

describe('sendResult', () => {
  const answer = (status: number, headers: Record<string, string> = {}): Response =>
    Response.json({ id: 'm1' }, { status, headers });

  it('is sent, with the id, or refused', async () => {
    assert.deepEqual(await sendResult(answer(201), (json) => (json as { id: string }).id), {
      kind: 'sent',
      message: 'm1',
    });
    assert.deepEqual(await sendResult(answer(200)), { kind: 'sent' });
    assert.deepEqual(await sendResult(answer(400)), { kind: 'refused', reason: 'the platform answered 400' });
  });

  it('is sent without an id when the answer cannot be read: sending again would double it', async () => {
    assert.deepEqual(await sendResult(new Response('<html>'), () => 'never'), { kind: 'sent' });
  });

  it('waits as Retry-After says, in seconds or as a date, else 5 s', async () => {
    const wait = async (headers: Record<string, string>): Promise<number> => {
      const result = await sendResult(answer(503, headers));
      return result.kind === 'later' ? result.afterMs : -1;
    };

    assert.equal(await wait({ 'retry-after': '7' }), 7_000);
    assert.equal(await wait({ 'retry-after': 'soon' }), 5_000);
    assert.equal(await wait({}), 5_000);
    const [date, at] = ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sun, 06 Nov 1994 08:50:07 GMT'];
    assert.equal(await wait({ 'retry-after': at, date }), 30_000, "by the platform's clock");
    const dated = await wait({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
    assert.ok(dated > 50_000 && dated <= 60_000, String(dated));
  });

  it('ends the account at 401 and 403', async () => {
    for (const status of [401, 403])
      await assert.rejects(sendResult(answer(status)), { code: 'account_failed', remedy: /renew/ });
    await assert.rejects(readJson(answer(403), t.object({ id: t.string() })), { code: 'account_failed' });
  });
});

describe('readJson', () => {
  it('gives the checked body, or an error with the status', async () => {
    assert.deepEqual(await readJson(Response.json({ id: 'a', more: 1 }), t.object({ id: t.string() })), { id: 'a' });
    await assert.rejects(readJson(Response.json({}), t.object({ id: t.string() })), { code: 'schema_mismatch' });
    await assert.rejects(readJson(new Response('', { status: 500 }), t.object({})), { code: 'http_500' });
  });
});
