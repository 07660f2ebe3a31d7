import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { decideResume, formatEventId, type HistoryBounds, parseEventId } from '../../../worker/events/cursor.ts';
import { compileFilter } from '../../../worker/events/filter.ts';
import { cutOf } from '../../../worker/events/retention.ts';

const EPOCH = 'abcdefgh01234567';
const OTHER = 'zzzzzzzz01234567';

const bounds: fc.Arbitrary<HistoryBounds> = fc
  .record({ head: fc.nat(300), trimmed: fc.nat(300) })
  .map(({ head, trimmed }) => ({ epoch: EPOCH, head, oldest: Math.min(trimmed, head) + 1 }));
const anyId = fc.oneof(
  fc.nat(400).map((seq) => formatEventId(EPOCH, seq)),
  fc.nat(400).map((seq) => formatEventId(OTHER, seq)),
  fc.string({ minLength: 1 }),
);

describe('cursor', () => {
  it('gives every event after any id exactly once, or an explicit gap (CURSOR-2, CURSOR-3)', () => {
    fc.assert(
      fc.property(bounds, anyId, fc.constantFrom('oldest' as const, 'head' as const), (history, id, anchor) => {
        const resume = decideResume(id, history, anchor);

        const position = parseEventId(id);
        const known =
          position !== undefined &&
          position.epoch === EPOCH &&
          position.seq <= history.head &&
          position.seq >= history.oldest - 1;
        assert.equal(resume.kind === 'replay', known);
        if (resume.kind === 'replay') assert.equal(resume.from, position?.seq);
        if (resume.kind === 'gap') assert.equal(resume.from, anchor === 'head' ? history.head : history.oldest - 1);
        // whatever is read from there is in the history: nothing is missing that the answer does not name
        assert.ok(resume.from >= history.oldest - 1 && resume.from <= history.head);
        if (resume.kind === 'gap' && resume.gap.missed !== null)
          assert.equal(resume.from - (position?.seq ?? 0), resume.gap.missed);
      }),
    );
  });

  it('reads back what it writes and nothing else (CURSOR-1)', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (seq) =>
        assert.deepEqual(parseEventId(formatEventId(EPOCH, seq)), { epoch: EPOCH, seq }),
      ),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const position = parseEventId(text);
        if (position !== undefined) assert.equal(formatEventId(position.epoch, position.seq), text);
      }),
    );
  });

  it('names the first reason that applies', () => {
    const history: HistoryBounds = { epoch: EPOCH, head: 10, oldest: 5 };
    const reasonOf = (id: string): string => {
      const resume = decideResume(id, history, 'oldest');
      return resume.kind === 'gap' ? resume.gap.reason : resume.kind;
    };

    assert.deepEqual(
      [
        '',
        `${EPOCH}.4`,
        `${EPOCH}.3`,
        `${EPOCH}.11`,
        `${OTHER}.7`,
        `${OTHER}.x`,
        `${EPOCH}.-1`,
        ` ${EPOCH}.4`,
        `${EPOCH}.4\n`,
      ].map(reasonOf),
      ['fresh', 'replay', 'expired', 'ahead', 'epoch_changed', 'malformed', 'malformed', 'malformed', 'malformed'],
    );
  });
});

describe('retention', () => {
  it('cuts a prefix that leaves every limit met and no event less than it must', () => {
    const rows = fc.array(fc.record({ at: fc.nat(1_000), bytes: fc.integer({ min: 2, max: 50 }) }), { maxLength: 40 });
    fc.assert(
      fc.property(rows, fc.nat(45), fc.nat(600), (made, maxEvents, maxBytes) => {
        const log = made.map((row, index) => ({ ...row, seq: index + 1 }));
        const bytes = log.reduce((sum, row) => sum + row.bytes, 0);

        const cut =
          cutOf(log, { limits: { maxEvents, maxBytes, maxAgeHours: 1 }, head: log.length, now: 0, bytes }) ?? 0;

        const sizeFrom = (seq: number): number =>
          log.filter((row) => row.seq >= seq).reduce((sum, row) => sum + row.bytes, 0);
        assert.ok(log.length - cut <= maxEvents && sizeFrom(cut + 1) <= maxBytes);
        if (cut > 0) assert.ok(log.length - cut + 1 > maxEvents || sizeFrom(cut) > maxBytes);
      }),
    );
  });
});

describe('filter', () => {
  it('lets through what its patterns name', () => {
    const filter = compileFilter('inbox.*, ready.changed', undefined);

    assert.deepEqual(
      ['inbox.done', 'inbox', 'ready.changed', 'ready.changed.more', 'outbox.sent'].map((type) =>
        filter.matches(type, null),
      ),
      [true, false, true, false, false],
    );
  });

  it('takes an endpoint in full or by its short name', () => {
    const filter = compileFilter(undefined, 'irc~libera,root/hook:hook');

    assert.deepEqual(
      ['root/irc:irc~libera', 'root/hook:hook', 'root/irc:irc~oftc', null].map((endpoint) =>
        filter.matches('a.b', endpoint),
      ),
      [true, true, false, false],
    );
  });

  it('has one canonical text for filters that are the same', () => {
    assert.equal(compileFilter('b.*,a.c', 'x').canonical, compileFilter(' a.c ,b.*,a.c', 'x').canonical);
    assert.equal(compileFilter('*', '').canonical, '');
    assert.notEqual(compileFilter('a.b', undefined).canonical, compileFilter(undefined, 'a.b').canonical);
  });

  it('refuses what is no pattern', () => {
    for (const types of [
      '.',
      'a..b',
      '*.a',
      'A.b',
      'x'.repeat(300),
      Array.from({ length: 51 }, (_, index) => `a.b${index}`).join(','),
    ]) {
      assert.throws(() => compileFilter(types, undefined), { code: 'invalid_request' });
    }
  });
});
