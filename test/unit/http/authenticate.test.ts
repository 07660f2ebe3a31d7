// How a token is compared: nothing of it, nor of how many there are, may be told by the time that it takes.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Secret } from '../../../shared/secret.ts';
import { Authenticator } from '../../../worker/http/request/authenticate.ts';
import { FailureBudget } from '../../../worker/http/request/failure-budget.ts';
import { comparisons } from '../../support/comparisons.ts';

const TOKENS = ['first', 'second', 'third'].map((name) => ({
  name,
  scope: 'full' as const,
  token: new Secret(`${name}-token-0123456789`),
}));

it('tokens are compared by digests under a key of the process, all of them, whichever fits (AUTH-1)', async (t) => {
  const seen = comparisons(t);
  const budget = new FailureBudget();
  t.after(() => budget.close());
  const [one, another] = [new Authenticator(budget), new Authenticator(budget)];
  const ask = (of: Authenticator, token: string): Promise<{ readonly actor: string }> =>
    of.authenticate({ kind: 'token', token }, '127.0.0.1', TOKENS);

  const actors = [await ask(one, 'first-token-0123456789'), await ask(one, 'third-token-0123456789')];
  const ofOne = seen.splice(0);
  await assert.rejects(ask(one, 'x'), { code: 'invalid_token' });
  const ofWrong = seen.splice(0);
  await ask(another, 'first-token-0123456789');

  assert.deepEqual(
    actors.map(({ actor }) => actor),
    ['token:first', 'token:third'],
  );
  assert.deepEqual([ofOne.length, ofWrong.length, seen.length], [6, 3, 3]);
  const lengths = new Set([...ofOne, ...ofWrong].flat().map((digest) => digest.length));
  assert.deepEqual(lengths, new Set([64]), 'digests of one length, whatever is sent');
  assert.notEqual(ofOne[0]?.[0], seen[0]?.[0], 'another key in another process');
});
