// Lanes: one item at a time, in order, bounded in memory, no endpoint at the cost of another.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LANE_WINDOW, type LaneItem, Lanes } from '../../../worker/lanes/lanes.ts';

const LIMITS = { concurrency: 10, endpointConcurrency: 2 };
const free = () => false;
const item = (seq: number, lane = 'l', endpoint = 'e', nextAt: number | null = null): LaneItem => ({
  seq,
  id: `i${seq}`,
  endpoint,
  lane,
  nextAt,
});
const lanesOf = (...items: LaneItem[]): Lanes<LaneItem> => {
  const lanes = new Lanes<LaneItem>();
  for (const one of items) lanes.add(one, 0);
  return lanes;
};

describe('Lanes', () => {
  it('runs one item of a lane at a time, in order (LANES-1)', () => {
    const lanes = lanesOf(item(1), item(2));

    const first = lanes.take(LIMITS, free);
    const none = lanes.take(LIMITS, free);
    lanes.finish(item(1), 0);

    assert.deepEqual([first?.seq, none, lanes.take(LIMITS, free)?.seq], [1, undefined, 2]);
  });

  it('holds the lane of an item that waits, and only that lane (LANES-1)', () => {
    const lanes = lanesOf(item(1, 'a'), item(2, 'a'), item(3, 'b'));

    lanes.take(LIMITS, free);
    lanes.hold(item(1, 'a'));

    assert.equal(lanes.take(LIMITS, free)?.seq, 3);
    assert.equal(lanes.take(LIMITS, free), undefined);
    lanes.release('a');
    assert.equal(lanes.take(LIMITS, free)?.seq, 1);
  });

  it('releases only the item that it was asked for', () => {
    const lanes = lanesOf(item(1));
    lanes.take(LIMITS, free);
    lanes.hold(item(1));

    lanes.release('l', 'another');

    assert.equal(lanes.take(LIMITS, free), undefined);
    lanes.release('l', 'i1');
    assert.equal(lanes.take(LIMITS, free)?.seq, 1);
  });

  it('keeps an item whose retry is not due', () => {
    const lanes = lanesOf(item(1, 'l', 'e', 100));

    assert.equal(lanes.take(LIMITS, free), undefined);
    lanes.release('l');

    assert.equal(lanes.take(LIMITS, free)?.seq, 1);
  });

  it('keeps one window of a lane and asks for the rest when it is empty (LANES-2)', () => {
    const lanes = lanesOf(...Array.from({ length: LANE_WINDOW + 5 }, (_, n) => item(n + 1)));

    let refill: { lane: string; after: number } | undefined;
    for (let seq = 1; seq <= LANE_WINDOW; seq += 1) {
      lanes.take(LIMITS, free);
      refill = lanes.finish(item(seq), 0);
    }

    assert.deepEqual(refill, { lane: 'l', after: LANE_WINDOW });
  });

  it('does not let a row overtake those that a refill is still reading (LANES-1)', () => {
    const lanes = lanesOf(...Array.from({ length: LANE_WINDOW + 2 }, (_, n) => item(n + 1)));
    for (let seq = 1; seq <= LANE_WINDOW; seq += 1) {
      lanes.take(LIMITS, free);
      lanes.finish(item(seq), 0);
    }

    lanes.add(item(99), 0);
    const again = lanes.refill('l', { rows: [item(33), item(34)], more: false, now: 0 });
    const order = [33, 34].map((seq) => {
      const taken = lanes.take(LIMITS, free)?.seq;
      return [taken, lanes.finish(item(seq), 0)?.after];
    });

    assert.equal(again, undefined);
    assert.deepEqual(
      order,
      [
        [33, undefined],
        [34, 34],
      ],
      'the missed row is asked for',
    );
  });

  it('gives an endpoint its share and no more (LANES-3)', () => {
    const lanes = lanesOf(item(1, 'a', 'slow'), item(2, 'b', 'slow'), item(3, 'c', 'slow'), item(4, 'd', 'quick'));

    const taken = Array.from({ length: 4 }, () => lanes.take(LIMITS, free)?.seq);

    assert.deepEqual(taken, [1, 4, 2, undefined]);
  });

  it('asks a held endpoint once, however many lanes it has', () => {
    const lanes = lanesOf(
      ...Array.from({ length: 5_000 }, (_, n) => item(n + 1, `down-${n}`, 'down')),
      item(9_999, 'up', 'up'),
    );
    let asked = 0;

    const taken = lanes.take(LIMITS, ({ endpoint }) => {
      asked += 1;
      return endpoint === 'down';
    });

    assert.deepEqual([taken?.seq, asked], [9_999, 2]);
  });

  it('leaves lanes of an endpoint on disk that has too many, and says when there is room (LANES-2)', () => {
    const lanes = new Lanes<LaneItem>(4);
    for (let n = 1; n <= 6; n += 1) lanes.add(item(n, `l${n}`, 'full'), 0);
    lanes.add(item(7, 'other', 'free'), 0);

    assert.deepEqual([lanes.lanes, lanes.hasRoom], [5, false]);
    for (const seq of [1, 2]) {
      const taken = lanes.take(LIMITS, ({ endpoint }) => endpoint === 'free');
      assert.equal(taken?.seq, seq);
      lanes.finish(item(seq, `l${seq}`, 'full'), 0);
    }
    assert.equal(lanes.hasRoom, true);
  });

  it('keeps what runs when everything is read anew', () => {
    const lanes = lanesOf(item(2, 'a'), item(3, 'a'), item(4, 'b'));
    lanes.take(LIMITS, free);

    lanes.clear();
    for (const one of [item(1, 'a'), item(2, 'a'), item(3, 'a'), item(4, 'b')]) lanes.add(one, 0);

    assert.equal(lanes.take(LIMITS, free)?.seq, 4);
    assert.deepEqual(lanes.finish(item(2, 'a'), 0), { lane: 'a', after: 0 });
    assert.equal(lanes.refill('a', { rows: [item(1, 'a'), item(3, 'a')], more: false, now: 0 }), undefined);
    assert.equal(lanes.take(LIMITS, free)?.seq, 1);
  });

  it('goes on when an operator ended the item that waited', () => {
    const lanes = lanesOf(item(1), item(2));
    lanes.take(LIMITS, free);
    lanes.hold(item(1));

    lanes.remove('l', 'i1', 0);

    assert.equal(lanes.take(LIMITS, free)?.seq, 2);
  });

  it('leaves the item that runs to its end', () => {
    const lanes = lanesOf(item(1), item(2));
    lanes.take(LIMITS, free);

    assert.equal(lanes.remove('l', 'i1', 0), undefined);
    assert.equal(lanes.take(LIMITS, free), undefined);
  });
});
