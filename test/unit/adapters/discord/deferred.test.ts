// Commands of Discord that show "thinking…": kept in the order in which they came, a thousand of an account at most.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Deferred } from '../../../../worker/adapters/discord/interactions/deferred.ts';

const MOST = 1_000;

describe('deferred commands of Discord', () => {
  it('gives the one that has waited longest in its conversation, each once', () => {
    const deferred = new Deferred();
    for (const [token, conversation] of [
      ['t1', 'a'],
      ['t2', 'b'],
      ['t3', 'a'],
    ] as const)
      assert.equal(deferred.add({ token, conversation }), true);
    assert.equal(deferred.add({ token: 't1', conversation: 'a' }), false, 'told again');
    assert.equal(deferred.first('a')?.token, 't1');
    assert.equal(deferred.end('t1'), true);
    assert.equal(deferred.end('t1'), false);
    assert.equal(deferred.first('a')?.token, 't3');
    assert.equal(deferred.end('t3'), true);
    assert.equal(deferred.first('a'), undefined);
    assert.equal(deferred.first('b')?.token, 't2');
  });

  it('forgets the oldest beyond its limit, whichever conversation it is of', () => {
    const deferred = new Deferred();
    for (let n = 0; n <= MOST; n += 1) deferred.add({ token: `t${n}`, conversation: n === 0 ? 'a' : `c${n % 7}` });
    assert.equal(deferred.has('t0'), false);
    assert.equal(deferred.first('a'), undefined);
    assert.equal(deferred.has('t1'), true);
    assert.equal(deferred.has(`t${MOST}`), true);
    for (let n = 1; n <= MOST; n += 1) deferred.end(`t${n}`);
  });
});
