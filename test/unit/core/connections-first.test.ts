// Work waits for connections that come a turn after the other, and never for good.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { afterConnections, tookConnection } from '../../../shared/process/connections-first.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('connections', () => {
  it('come before work, which begins in order once a turn took none', async () => {
    assert.equal(afterConnections(), undefined);
    const begun: number[] = [];
    tookConnection();
    for (const n of [1, 2, 3]) void afterConnections()?.then(() => begun.push(n));
    for (let n = 0; n < 5; n += 1) {
      await turn();
      tookConnection();
      assert.deepEqual(begun, []);
    }
    await turn();
    await turn();

    assert.deepEqual(begun, [1, 2, 3]);
    assert.equal(afterConnections(), undefined);
  });

  it('that never end hold work up for a while alone', async (t) => {
    tookConnection();
    const begun = afterConnections();
    const eachTurn = (): void => {
      tookConnection();
      immediate = setImmediate(eachTurn);
    };
    let immediate = setImmediate(eachTurn);
    t.after(() => clearImmediate(immediate));

    await begun;
    assert.equal(afterConnections(), undefined, 'work has its time, though connections come');
  });
});
