// Signatures of LINE: the worked example of its documentation, the check of its own client, and everything that is not quite one.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { accountFault } from '../../../../worker/adapters/line/config.ts';
import { verify } from '../../../../worker/adapters/line/verify.ts';
import { secret } from '../../../../worker/sdk/secret.ts';
import { SIGNED } from '../../../support/accounts/line-examples.ts';

const kind = (
  signature: string | undefined,
  {
    body = SIGNED.body,
    secrets = [SIGNED.secret],
  }: { readonly body?: string; readonly secrets?: readonly string[] } = {},
): string =>
  verify(
    {
      method: 'POST',
      path: '',
      query: {},
      headers: { 'x-line-signature': signature },
      body: Buffer.from(body),
      receivedAt: 0,
    },
    { channelSecrets: secrets.map(secret) },
  ).kind;

describe('a signature of LINE', () => {
  it('verifies as printed, with any of the secrets', () => {
    assert.equal(kind(SIGNED.signature), 'ok');
    assert.equal(kind(SIGNED.signature, { secrets: ['older', SIGNED.secret] }), 'ok');
    assert.equal(kind(SIGNED.signature, { secrets: [SIGNED.secret, 'newer'] }), 'ok');
  });

  it('is refused without secrets, with others, and with an empty one', () => {
    const empty = createHmac('sha256', '').update(SIGNED.body).digest('base64');
    assert.equal(kind(SIGNED.signature, { secrets: [] }), 'refused');
    assert.equal(kind(SIGNED.signature, { secrets: ['other', ''] }), 'refused');
    assert.equal(kind(empty, { secrets: [''] }), 'refused');
  });

  it('is refused for any other bytes', () => {
    for (const body of [`${SIGNED.body}\n`, SIGNED.body.slice(0, -1), SIGNED.body.replace('[]', '[ ]'), ''])
      assert.equal(kind(SIGNED.signature, { body }), 'refused', body.slice(-20));
  });

  it('is refused when it is not the one way to write it', () => {
    const bytes = Buffer.from(SIGNED.signature, 'base64');
    const { signature } = SIGNED;
    const others = [
      undefined,
      '',
      signature.slice(0, -1),
      `${signature}=`,
      `${signature}AAAA`,
      ` ${signature}`,
      `${signature}\n`,
      // The same bytes for a lenient decoder.
      signature.replace('s=', 't='),
      signature.replaceAll('+', '-'),
      bytes.toString('hex'),
      `sha256=${signature}`,
    ];
    for (const other of others) assert.equal(kind(other), 'refused', String(other));
  });
});

describe('an account of LINE', () => {
  it('is told what is wrong with it, without its secrets', () => {
    const of = (token: string, ...secrets: string[]) =>
      accountFault({
        channelAccessToken: secret(token),
        channelSecrets: secrets.map(secret),
        apiUrl: '',
        dataApiUrl: '',
      })?.reason;

    assert.equal(of('token', SIGNED.secret), undefined);
    assert.match(of('', SIGNED.secret) ?? '', /empty/);
    assert.match(of('to ken', SIGNED.secret) ?? '', /blanks/);
    assert.match(of('token', SIGNED.secret, '') ?? '', /under 8/);
  });
});
