import assert from 'node:assert/strict';
import { it } from 'node:test';
import { connectionsOf } from '../../../worker/http/server/descriptors.ts';

it('connections leave descriptors for the database, the log and what the host opens itself', () => {
  assert.equal(connectionsOf(20_000), 19_744);
  assert.equal(connectionsOf(1_024), 768);
  assert.equal(connectionsOf(256), 128);
  assert.equal(connectionsOf(1), 1);
  assert.equal(connectionsOf(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY);
});
