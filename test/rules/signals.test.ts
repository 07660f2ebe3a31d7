// AbortSignal.any on Node 20 keeps something of every call with its sources, and one that is listened to for as long as the process lives.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sourceFiles } from './source-tree.ts';

/** Once a connection, or in a process that ends soon. */
const FEW = [
  'worker/adapters/discord/gateway/shards.ts',
  'worker/adapters/irc/check.ts',
  'worker/endpoints/account-check.ts',
];

it('signals that are made for each call are made without AbortSignal.any', () => {
  const users = sourceFiles(['shared', 'worker'])
    .filter(({ path, text }) => !path.startsWith('worker/testing/') && /AbortSignal\.any\(/.test(text))
    .map(({ path }) => path);

  assert.deepEqual(users.toSorted(), FEW);
});
