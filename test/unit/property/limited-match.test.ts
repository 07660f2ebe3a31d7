// Patterns under a limit find what they find without one; one that never ends is told from those beside it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isMatch, matchAll, onOverlong } from '../../../worker/sdk/schema/limited-match.ts';
import { growthOf } from '../../../worker/sdk/schema/pattern-growth.ts';

const NEVER_ENDS = `${'a'.repeat(60)}!`;

/** Sources of patterns, many of which are none. */
const source = fc
  .array(
    fc.constantFrom(
      'a',
      'b',
      '.',
      '\\w',
      '\\b',
      '[ab]',
      '[^a\\]]',
      '(',
      '(?:',
      '(?<n>',
      ')',
      '|',
      '*',
      '+?',
      '?',
      '{2}',
      '{1,}',
      '^',
      '$',
      '(?=',
      '\\1',
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));
const flags = fc.constantFrom('', 'g', 'i', 'y', 'gi', 's', 'm', 'u');
const pattern = fc.tuple(source, flags).map(([text, how]) => {
  try {
    return new RegExp(text, how);
  } catch {
    return /a/;
  }
});
const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'A', '\n'), maxLength: 12 });

const plain = ({ source: of, flags: how }: RegExp, said: string): readonly unknown[] | null => {
  const match = new RegExp(of, how.replace('g', '')).exec(said);
  return match && [match.index, ...match, { ...match.groups }];
};

describe('a pattern under a limit', () => {
  it('finds what it finds without one, however often and in whatever company it is asked', () => {
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 5 }), text, (patterns, said) => {
        for (let times = 0; times < 2; times += 1) {
          const found = matchAll(patterns, said).map((match) => {
            if (match === 'overlong') return match;
            return match && [match.index, ...match, { ...match.groups }];
          });
          assert.deepEqual(
            found,
            patterns.map((one) => plain(one, said)),
          );
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('ends where it would not, and those beside it find what is there, then and afterwards', () => {
    const patterns = [/!/, /^(a+)+$/, /(?<first>a)a/g, /^(?:a|a)*$/, /^(?=a)/];
    for (let times = 0; times < 2; times += 1)
      assert.deepEqual(
        matchAll(patterns, NEVER_ENDS).map((match) => (typeof match === 'object' ? match?.[0] : match)),
        ['!', 'overlong', 'aa', 'overlong', ''],
      );
    assert.deepEqual(
      matchAll(patterns, 'aaa').map((match) => (typeof match === 'object' ? match?.[0] : match)),
      [undefined, 'aaa', 'aa', 'aaa', ''],
    );
  });

  it('does not match in a schema what nobody can say of, and that is told', () => {
    const told: string[] = [];
    const close = onOverlong((one) => told.push(String(one)));

    assert.deepEqual(
      [isMatch(/^(a+)+b?$/, 'aaab'), isMatch(/^(a+)+b?$/, 'c'), isMatch(/^(a+)+b?$/, NEVER_ENDS)],
      [true, false, false],
    );
    assert.deepEqual(told, ['/^(a+)+b?$/']);
    close();
  });
});

describe('the growth of a pattern', () => {
  it('is known where no choice is repeated', () => {
    const known: readonly (readonly [RegExp, number])[] = [
      [/hello/i, 1],
      [/^hello$/, 0],
      [/^hello$/m, 1],
      [/^a|b/, 1],
      [/^!roll (\d+)d(\d+)$/, 2],
      [/(?<x>\w+) of (?:tea|milk)/, 2],
      [/[^\]*+]+/, 2],
      [/^(?:ab)+$/, 1],
      [/^a{3}b{1,4}$/, 1],
    ];
    assert.deepEqual(
      known.map(([one]) => growthOf(one)?.power),
      known.map(([, power]) => power),
    );
  });

  it('is not known where a choice is repeated, or by what it cannot tell', () => {
    for (const one of [
      /(a+)+/,
      /(a|b)*/,
      /(?:a?b){2}/,
      /((a)|b)+/,
      /(\w+) \1/,
      /(?=a+)a/,
      /(?<!a)b/,
      /(?<x>a)\k<x>/,
      new RegExp('[a--b]', 'v'),
    ])
      assert.equal(growthOf(one), undefined, String(one));
  });
});
