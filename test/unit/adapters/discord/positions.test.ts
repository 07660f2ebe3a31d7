// The positions of several connections in one cursor.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Position } from '../../../../worker/adapters/discord/gateway/position.ts';
import { Positions } from '../../../../worker/adapters/discord/gateway/positions.ts';
import { snowflakeAt } from '../../../../worker/adapters/discord/place.ts';

const APP = '845027738276462632';
const NOW = 1_700_000_000_000;
const session = (id: string) => ({ id, url: 'wss://gateway.example', seq: 1 });

function begun(count: number, cursor?: string): Positions {
  const positions = new Positions(APP, cursor, count);
  for (const [shard, position] of positions.all.entries()) position.begin(session(`s${shard}`), NOW);
  return positions;
}

describe('Positions', () => {
  it('hold with what one stores what is stored of the others (DISCORD-POSITIONS-1)', () => {
    const positions = begun(2);
    const [first, second] = positions.all;
    second?.stored('s1', 7);

    const kept = new Positions(APP, positions.text(first, { session: 's0', seq: 9 }), 2);

    assert.deepEqual(
      kept.all.map(({ session: of }) => [of?.id, of?.seq]),
      [
        ['s0', 9],
        ['s1', 7],
      ],
    );
  });

  it('are those of before while their number is near what is advised (DISCORD-POSITIONS-2)', () => {
    const cursor = begun(4).text();
    const countFor = (advised: number): number => new Positions(APP, cursor, advised).all.length;

    assert.deepEqual([2, 4, 8].map(countFor), [4, 4, 4]);
    assert.deepEqual([1, 9].map(countFor), [1, 9]);
  });

  it('leave a gap from what was heard last, or was missing before, when there are others (DISCORD-POSITIONS-2)', () => {
    const positions = begun(2);
    positions.all[0]?.saw(snowflakeAt(NOW + 600_000));
    positions.all[0]?.met('645027906669510001', '645027906669510002');

    const others = begun(5, positions.text());

    const since = snowflakeAt(NOW + 540_000);
    assert.deepEqual(
      others.all.map((position) => position.since),
      Array(5).fill(since),
    );
    assert.deepEqual(
      others.all.map(({ privateChannels }) => privateChannels.length),
      [1, 0, 0, 0, 0],
    );
    assert.equal(begun(1, others.text()).all[0]?.since, since);
  });

  it('of one connection are the cursor that it has always been, and nothing of another application', () => {
    const cursor = begun(1).text();

    assert.equal(new Position(APP, cursor).session?.id, 's0');
    assert.equal(new Positions('1', begun(2).text(), 2).all[0]?.session, undefined);
  });
});
