// Places: bounded in all and by endpoint, and a part of them for each endpoint, whatever the others hold.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { freeShares, type ShareLimits } from '../../../worker/lanes/fair-shares.ts';

class Places {
  readonly byEndpoint = new Map<string, number>();
  total = 0;
  readonly #limits: ShareLimits;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  take(endpoint: string): boolean {
    if (!freeShares(this, this.#limits)(endpoint)) return false;
    this.byEndpoint.set(endpoint, (this.byEndpoint.get(endpoint) ?? 0) + 1);
    this.total += 1;
    return true;
  }

  /** How many more it is given. */
  fill(endpoint: string): number {
    let taken = 0;
    while (this.take(endpoint)) taken += 1;
    return taken;
  }

  leave(endpoint: string): void {
    const running = this.byEndpoint.get(endpoint) ?? 0;
    if (running === 0) return;
    this.byEndpoint.set(endpoint, running - 1);
    this.total -= 1;
  }
}

const of = (concurrency: number, endpoints: number, endpointConcurrency = concurrency): Places =>
  new Places({ concurrency, endpointConcurrency, endpoints: () => endpoints });

describe('places', () => {
  it('are half for whoever comes, and half in parts (FAIR-SHARES-2)', () => {
    const places = of(256, 4, 128);

    const taken = ['a', 'b', 'c', 'd'].map((endpoint) => places.fill(endpoint));

    assert.deepEqual(taken, [128, 64, 32, 32]);
  });

  it('are all for one that is alone', () => {
    assert.equal(of(256, 1).fill('a'), 256);
    assert.equal(of(1, 1).fill('a'), 1);
    assert.equal(new Places({ concurrency: 7, endpointConcurrency: 7 }).fill('a'), 7);
  });

  it('are one at least for each endpoint, where there are as many (FAIR-SHARES-2)', () => {
    const places = of(9, 9);

    assert.deepEqual(
      Array.from({ length: 9 }, (_, n) => places.fill(`e${n}`)),
      Array.from({ length: 9 }, () => 1),
    );
  });

  it('are no more than the operator wrote, also for more endpoints (FAIR-SHARES-3)', () => {
    const places = of(2, 3);

    assert.deepEqual(
      ['a', 'b', 'c'].map((endpoint) => places.fill(endpoint)),
      [1, 1, 0],
    );
  });

  it('that endpoints which are gone still hold are taken off before the rest is divided (FAIR-SHARES-4)', () => {
    let there = ['a', 'b'];
    const places = new Places({
      concurrency: 256,
      endpointConcurrency: 256,
      endpoints: () => there.length,
      isThere: (endpoint) => there.includes(endpoint),
    });
    const filled = [places.fill('a')];
    for (const next of ['c', 'd', 'e']) {
      there = [next, 'b'];
      filled.push(places.fill(next));
    }

    assert.deepEqual(filled, [192, 48, 12, 3]);
    assert.ok(places.take('b'), 'b has no place');
  });

  it('are there for each endpoint that has less than its part, whatever the others have taken and left (FAIR-SHARES-1, FAIR-SHARES-2)', () => {
    const sizes = fc.record({
      concurrency: fc.integer({ min: 1, max: 300 }),
      endpointConcurrency: fc.integer({ min: 1, max: 300 }),
      endpoints: fc.integer({ min: 1, max: 12 }),
    });
    const steps = fc.array(fc.record({ n: fc.nat(11), leaves: fc.boolean(), fills: fc.boolean() }), { maxLength: 60 });
    fc.assert(
      fc.property(sizes, steps, ({ concurrency, endpointConcurrency, endpoints }, taken) => {
        fc.pre(endpoints <= concurrency);
        const places = of(concurrency, endpoints, endpointConcurrency);
        for (const { n, leaves, fills } of taken) {
          const endpoint = `e${n % endpoints}`;
          if (leaves) places.leave(endpoint);
          else if (fills) places.fill(endpoint);
          else places.take(endpoint);
          assert.ok(places.total <= concurrency);
          for (const running of places.byEndpoint.values()) assert.ok(running <= endpointConcurrency);
        }
        const part = Math.min(endpointConcurrency, Math.max(1, Math.floor(concurrency / 2 / endpoints)));
        for (let n = 0; n < endpoints; n += 1)
          while ((places.byEndpoint.get(`e${n}`) ?? 0) < part) assert.ok(places.take(`e${n}`), `e${n} has no place`);
      }),
    );
  });
});
