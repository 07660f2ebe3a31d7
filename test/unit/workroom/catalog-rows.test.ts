// The rows of the catalog: their JSON is canonical, as a proof compares it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Item } from '../../../worker/workroom/board/model.ts';
import { itemJson } from '../../../worker/workroom/journal/catalog-rows.ts';
import { canonicalJson } from '../../../worker/workroom/journal/chain.ts';

const orNone = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const words = fc.string({ unit: 'binary', maxLength: 12 });
const time = fc.integer({ min: -1e12, max: 1e13 });
const end = fc.record({ at: time, by: words, outcome: fc.constant('answered' as const), text: orNone(words) });
const blocker = fc.record({
  id: words,
  kind: fc.constant('external' as const),
  by: words,
  owner: orNone(words),
  reason: orNone(words),
  needs: orNone(words),
  due: orNone(time),
  overdueAt: orNone(time),
  since: time,
  resolved: orNone(end),
});
/** A key that an item gets has to be named here too. */
const keys: { readonly [K in keyof Item]: fc.Arbitrary<Item[K]> } = {
  id: words,
  board: words,
  number: time,
  version: time,
  title: orNone(words),
  text: orNone(words),
  status: fc.constantFrom('open', 'active', 'review', 'done', 'cancelled'),
  creator: words,
  assignee: orNone(words),
  due: orNone(time),
  overdueAt: orNone(time),
  stuckAt: orNone(time),
  blockers: fc.array(blocker, { maxLength: 2 }),
  comments: fc.array(fc.record({ by: words, at: time, text: orNone(words) }), { maxLength: 2 }),
  createdAt: time,
  touchedAt: time,
};

describe('the JSON of an item', () => {
  it('is canonical, whatever the item holds', () => {
    fc.assert(
      fc.property(fc.record(keys), (item) => {
        assert.equal(itemJson(item), canonicalJson(item));
      }),
    );
  });
});
