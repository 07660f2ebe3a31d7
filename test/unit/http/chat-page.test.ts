import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { pageOf } from '../../../worker/sandbox/chat-page.ts';

const messages = (...changes: readonly number[]): { readonly n: number; readonly id: number }[] =>
  changes.map((n, id) => ({ n, id }));
const whole = { isCut: false };

describe('a page of a conversation', () => {
  it('is the newest without a cursor, and says that there are older ones (CHATPAGE-2, CHATPAGE-3)', () => {
    assert.deepEqual(pageOf(messages(1, 2, 3), { after: undefined, limit: 2, ...whole }), {
      messages: [
        { n: 2, id: 1 },
        { n: 3, id: 2 },
      ],
      cursor: 3,
      more: false,
      older: true,
    });
    assert.equal(pageOf(messages(1, 2), { after: undefined, limit: 2, ...whole }).older, false);
    assert.deepEqual(pageOf([], { after: undefined, limit: 2, ...whole }), {
      messages: [],
      cursor: 0,
      more: false,
      older: false,
    });
  });

  it('holds the edit of an old message behind the cursor, in its place (CHATPAGE-1)', () => {
    const { messages: page, cursor } = pageOf(messages(9, 2, 3, 8), { after: 3, limit: 2, ...whole });

    assert.deepEqual([page.map(({ id }) => id), cursor], [[0, 3], 9]);
  });

  it('leads over every change exactly once, whatever the limit, and then stays where it is (CHATPAGE-1, CHATPAGE-2)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 10 }),
        (changes, limit) => {
          const all = messages(...changes);
          const seen: number[] = [];
          let [after, more] = [0, true];
          for (let turns = 0; more; turns += 1) {
            assert.ok(turns <= changes.length);
            const page = pageOf(all, { after, limit, ...whole });
            seen.push(...page.messages.map(({ id }) => id));
            ({ cursor: after, more } = page);
          }
          assert.deepEqual(
            seen.toSorted((a, b) => a - b),
            all.map(({ id }) => id),
          );
          assert.deepEqual(pageOf(all, { after, limit, ...whole }), {
            messages: [],
            cursor: after,
            more: false,
            older: false,
          });
        },
      ),
    );
  });
});
