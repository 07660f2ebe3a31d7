// Signatures of interactions, beside what discord-interactions says of the same bytes, and by vectors of RFC 8032.
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, it } from 'node:test';
import { verifyKey } from 'discord-interactions';
import { isSigned, verify } from '../../../../worker/adapters/discord/verify.ts';
import type { RawRequest } from '../../../../worker/sdk/index.ts';
import { RFC_8032, SLASH_COMMAND } from '../../../support/accounts/discord-examples.ts';

const AT = 1_700_000_000;
const pair = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const hexOf = ({ publicKey }: typeof pair): string =>
  publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
const account = { publicKeys: [hexOf(other), hexOf(pair)] };

function request(
  body: string,
  more: { readonly at?: string; readonly signature?: string; readonly receivedAt?: number } = {},
): RawRequest {
  const { at = String(AT), receivedAt = AT * 1_000 } = more;
  const signature = more.signature ?? sign(null, Buffer.from(at + body), pair.privateKey).toString('hex');
  const headers = { 'x-signature-ed25519': signature, 'x-signature-timestamp': at };
  return { method: 'POST', path: '/webhooks/discord/main', query: {}, headers, body: Buffer.from(body), receivedAt };
}
const kindOf = (given: RawRequest): string => verify(given, account).kind;

describe('verify', () => {
  it('takes a signature of RFC 8032, and none that differs in a bit', () => {
    const { publicKey, message, signature } = RFC_8032;
    const [signed, made] = [Buffer.from(message, 'hex'), Buffer.from(signature, 'hex')];

    const changed = Buffer.from(signed.map((byte, i) => (i === 0 ? byte ^ 1 : byte)));

    assert.deepEqual([isSigned(signed, made, [publicKey]), isSigned(changed, made, [publicKey])], [true, false]);
  });

  it('says the same as discord-interactions, of good and of changed bytes', async () => {
    const body = JSON.stringify(SLASH_COMMAND);
    const signature = sign(null, Buffer.from(`${AT}${body}`), pair.privateKey).toString('hex');
    const bodies = [body, `${body}\n`, body.replace('Gitrog', 'gitrog'), ''];

    const theirs = await Promise.all(bodies.map((text) => verifyKey(text, signature, String(AT), hexOf(pair))));
    const ours = bodies.map((text) => kindOf(request(text, { signature })) === 'ok');

    assert.deepEqual(ours, theirs);
    assert.deepEqual(ours, [true, false, false, false]);
  });

  it('tries every key (DISCORD-VERIFY-1)', () => {
    const of = (publicKeys: readonly string[]) => verify(request('{}'), { publicKeys: [...publicKeys] }).kind;

    const kinds = [of([hexOf(pair)]), of([hexOf(other), hexOf(pair)]), of([hexOf(other)]), of([])];

    assert.deepEqual(kinds, ['ok', 'ok', 'refused', 'refused']);
  });

  it('reads signature and timestamp strictly (DISCORD-VERIFY-1)', () => {
    const good = sign(null, Buffer.from(`${AT}{}`), pair.privateKey).toString('hex');
    const kinds = [
      ...[`${good} `, good.slice(2), `${good}00`, good.replace(/^../, 'zz'), ''].map((signature) =>
        kindOf(request('{}', { signature })),
      ),
      ...['1e9', '0x10', '-5', '', ` ${AT}`, `${AT}.0`, `${AT},${AT}`].map((at) => kindOf(request('{}', { at }))),
    ];

    assert.deepEqual(new Set(kinds), new Set(['refused']));
    assert.equal(kindOf(request('{}', { signature: good.toUpperCase() })), 'ok');
  });

  it('refuses what is older or newer than five minutes (DISCORD-VERIFY-2)', () => {
    const kinds = [-301, -300, 300, 301].map((seconds) =>
      kindOf(request('{}', { receivedAt: (AT + seconds) * 1_000 })),
    );

    assert.deepEqual(kinds, ['refused', 'ok', 'ok', 'refused']);
  });

  it('answers a PING that is signed, and no other (DISCORD-VERIFY-3)', () => {
    const ping = JSON.stringify({ id: '1', type: 1, application_id: '2', token: 't', version: 1 });

    const good = verify(request(ping), account);
    const bad = verify(request(ping, { signature: 'a'.repeat(128) }), account);

    assert.deepEqual([good, bad.kind], [{ kind: 'handshake', answer: { json: { type: 1 } } }, 'refused']);
  });
});
