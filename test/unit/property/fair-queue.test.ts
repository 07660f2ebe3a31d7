import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { FairQueue } from '../../../worker/http/server/fair-queue.ts';

const CLASSES = ['a', 'b', 'c'] as const;

interface Waiting {
  readonly of: (typeof CLASSES)[number];
  readonly lane: number;
  readonly n: number;
}

/** Requests that are added, and with `undefined` one that is taken. */
const moves = fc.array(
  fc.option(fc.record({ of: fc.constantFrom(...CLASSES), lane: fc.nat(4) }), { nil: undefined, freq: 2 }),
  { maxLength: 200 },
);

describe('the order of requests that wait', () => {
  it('gives each once, those of a lane in the order in which they came', () => {
    fc.assert(
      fc.property(moves, (made) => {
        const queue = new FairQueue<Waiting['of'], Waiting>(CLASSES);
        const taken: Waiting[] = [];
        const added: Waiting[] = [];
        for (const move of made) {
          if (move === undefined) {
            const item = queue.take();
            assert.equal(item === undefined, added.length === taken.length);
            if (item !== undefined) taken.push(item);
          } else {
            const item = { ...move, n: added.length };
            added.push(item);
            queue.add(item, item);
          }
          assert.equal(queue.size, added.length - taken.length);
        }
        for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
        assert.deepEqual(
          taken.toSorted((one, other) => one.n - other.n),
          added,
        );
        for (const of of CLASSES)
          for (let lane = 0; lane < 5; lane += 1) {
            const own = taken.filter((item) => item.of === of && item.lane === lane).map(({ n }) => n);
            assert.deepEqual(
              own,
              own.toSorted((one, other) => one - other),
            );
          }
      }),
    );
  });

  it('lets no class and no lane of it wait for more than one turn of each other one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ of: fc.constantFrom(...CLASSES), lane: fc.nat(4) }), { minLength: 1, maxLength: 200 }),
        (flood) => {
          const queue = new FairQueue<Waiting['of'], Waiting>(CLASSES);
          for (const [n, place] of flood.entries()) queue.add({ ...place, n }, place);
          const last: Waiting = { of: 'a', lane: 9, n: flood.length };
          queue.add(last, last);
          const before: Waiting[] = [];
          for (let item = queue.take(); item !== last; item = queue.take()) {
            assert.ok(item !== undefined);
            before.push(item);
          }
          const ofOwnClass = before.filter(({ of }) => of === 'a');
          assert.equal(new Set(ofOwnClass.map(({ lane }) => lane)).size, ofOwnClass.length, 'a lane came twice');
          for (const of of CLASSES)
            assert.ok(
              before.filter((item) => item.of === of).length <= ofOwnClass.length + 1,
              `class ${of} came too often`,
            );
        },
      ),
    );
  });
});
