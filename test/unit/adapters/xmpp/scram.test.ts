// The login by SCRAM-SHA-1, with the example of RFC 5802, section 5.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { makeClient } from '../../../../worker/adapters/xmpp/connection/client.ts';
import { secret } from '../../../../worker/sdk/secret.ts';
import { xmppAccount } from '../../../support/accounts/xmpp-account.ts';

const NONCE = 'fyko+d2lbbFgONRv9qkxdawL';
const SALT = 'QSXCR+Q6sek8bf92';
const challenge = ({ nonce = `${NONCE}3rfcNHYJY1ZVvWVs7j`, iterations = '4096' } = {}): string =>
  `r=${nonce},s=${SALT},i=${iterations}`;

async function mechanism() {
  const { entity } = await makeClient(xmppAccount(1, { password: secret('pencil') }), 0, undefined);
  const made = entity.saslFactory.create(['SCRAM-SHA-1']);
  assert.ok(made !== null);
  made._genNonce = () => NONCE;
  const credentials = { username: 'user', password: 'pencil' };
  assert.equal(await made.response(credentials), `n,,n=user,r=${NONCE}`);
  return { made, answer: async (to: string) => (await made.challenge(to), made.response(credentials)) };
}

function signings(t: TestContext): () => number {
  const { subtle } = globalThis.crypto;
  const sign = t.mock.method(subtle, 'sign');
  return () => sign.mock.callCount();
}

describe('SCRAM-SHA-1', () => {
  it('proves the password as the RFC has it, without a turn of the event loop for each round', async (t) => {
    const count = signings(t);
    const { answer } = await mechanism();

    assert.equal(await answer(challenge()), `c=biws,r=${NONCE}3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=`);
    assert.ok(count() < 10, `${count()} signatures`);
  });

  for (const [what, change, said] of [
    ['a nonce that is not ours and more', { nonce: 'another' }, /nonce/],
    ['no more than our nonce', { nonce: NONCE }, /nonce/],
    ['more rounds than a server has', { iterations: '4000000000' }, /4000000000 rounds/],
    ['no rounds', { iterations: 'x' }, /NaN rounds/],
  ] as const)
    it(`ends at ${what}`, async () => {
      const { answer } = await mechanism();

      await assert.rejects(answer(challenge(change)), said);
    });
});
