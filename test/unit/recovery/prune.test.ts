import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Candidate, type KeepRules, toPrune } from '../../../worker/recovery/checkpoint/prune.ts';

const DAY = 86_400_000;
/** A Sunday. */
const BEGIN = Date.parse('2026-03-01T02:00:00Z');
const RULES: KeepRules = { keepLast: 3, keepDays: 7, keepWeeks: 4, maxBytes: 1_000_000 };
const FACTS = { pinned: new Set<string>(), otherBytes: 0 };

/** One a day, c1 first. */
const daily = (count: number, change: (number: number) => Partial<Candidate> = () => ({})): Candidate[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `c${index + 1}`,
    number: index + 1,
    at: BEGIN + index * DAY,
    bytes: 10,
    level: 'made' as const,
    isDamaged: false,
    ...change(index + 1),
  }));

const keptOf = (all: readonly Candidate[], removed: readonly string[]): string[] =>
  all.map(({ name }) => name).filter((name) => !removed.includes(name));

describe('pruning checkpoints', () => {
  it('keeps the newest of each of the last days and weeks', () => {
    const all = daily(40);

    const removed = toPrune(all, RULES, FACTS);

    // c40 is a Thursday; the weeks before end on the Sundays c36, c29 and c22
    assert.deepEqual(keptOf(all, removed), ['c22', 'c29', 'c34', 'c35', 'c36', 'c37', 'c38', 'c39', 'c40']);
    assert.equal(removed[0], 'c1', 'the oldest goes first');
  });

  it('keeps the newest of a day, and the last ones although they are of one day', () => {
    const all = daily(5, (number) => ({ at: BEGIN + number * 60_000 }));

    assert.deepEqual(keptOf(all, toPrune(all, { ...RULES, keepLast: 2 }, FACTS)), ['c4', 'c5']);
  });

  it('counts days with a checkpoint: one that was made long ago is not removed since days went by', () => {
    const all = daily(2, (number) => ({ at: BEGIN - number * 400 * DAY }));

    assert.deepEqual(toPrune(all, { ...RULES, keepLast: 1 }, FACTS), []);
  });

  it('gives a damaged one no place', () => {
    const all = daily(4, (number) => ({ isDamaged: number >= 3 }));

    assert.deepEqual(keptOf(all, toPrune(all, { ...RULES, keepLast: 1, keepDays: 0, keepWeeks: 0 }, FACTS)), ['c2']);
  });

  it('stays below the bytes by removing the oldest, replaced states included', () => {
    const all = daily(5);

    const removed = toPrune(all, { ...RULES, keepLast: 100, maxBytes: 65 }, { ...FACTS, otherBytes: 40 });

    assert.deepEqual(keptOf(all, removed), ['c4', 'c5']);
  });

  it('never removes the newest good one, the newest rehearsed one, or what an open release names', () => {
    const all = daily(6, (number) => ({
      level: number === 2 || number === 3 ? 'rehearsed' : 'made',
      isDamaged: number === 6,
      bytes: 1_000_000_000,
    }));

    const removed = toPrune(
      all,
      { keepLast: 1, keepDays: 0, keepWeeks: 0, maxBytes: 1 },
      { ...FACTS, pinned: new Set(['c1']) },
    );

    assert.deepEqual(keptOf(all, removed), ['c1', 'c3', 'c5']);
  });

  it('never removes the newest rehearsed one nor the newest without a fault, whatever the rules, sizes and times', () => {
    const level = fc.constantFrom<Candidate['level']>('made', 'checked', 'rehearsed', 'failed', 'damaged');
    const one = fc.record({ level, at: fc.integer({ min: 0, max: 60 * DAY }), bytes: fc.nat(2_000) });
    const rules = fc.record({
      keepLast: fc.integer({ min: 1, max: 5 }),
      keepDays: fc.nat(5),
      keepWeeks: fc.nat(5),
      maxBytes: fc.nat(3_000),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 20 }), rules, fc.nat(3_000), (made, keep, otherBytes) => {
        const all = made.map((about, index) => ({
          ...about,
          name: `c${index + 1}`,
          number: index + 1,
          at: BEGIN + about.at,
          isDamaged: about.level === 'damaged',
        }));
        const kept = keptOf(all, toPrune(all, keep, { ...FACTS, otherBytes }));
        const newest = (levels: readonly string[]) => all.findLast(({ level: of }) => levels.includes(of))?.name;
        const needed = [newest(['rehearsed']), newest(['made', 'checked', 'rehearsed'])];
        assert.deepEqual(
          needed.filter((name) => name !== undefined && !kept.includes(name)),
          [],
        );
      }),
      { numRuns: 500 },
    );
  });

  it('goes by number, so that a clock that was set back removes nothing new', () => {
    const all = daily(4, (number) => ({ at: number === 4 ? BEGIN - 100 * DAY : BEGIN + number * DAY }));

    assert.deepEqual(keptOf(all, toPrune(all, { ...RULES, keepLast: 1, keepDays: 0, keepWeeks: 0 }, FACTS)), ['c4']);
  });
});
