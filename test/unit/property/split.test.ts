// Splitting: whatever the text, the unit and the format, no part is over the limit and nothing but blanks is lost.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { sizeOf, split } from '../../../worker/outbox/split.ts';
import { plainText, type Segment } from '../../../worker/sdk/message.ts';
import { render } from '../../../worker/sdk/text/render.ts';

const text = fc.string({
  unit: fc.constantFrom(
    'a',
    'b',
    ' ',
    ' ',
    '\n',
    '*',
    '_',
    '`',
    '<',
    '&',
    '>',
    '\\',
    'é',
    '漢',
    '😀',
    '#',
    '-',
    '1',
    '.',
  ),
  maxLength: 120,
  size: 'max',
});
const mark = fc.constantFrom('bold' as const, 'italic' as const, 'strike' as const, 'code' as const);
const segment: fc.Arbitrary<Segment> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('text' as const), text }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('text' as const),
      text,
      marks: fc.uniqueArray(mark, { minLength: 1, maxLength: 3 }),
    }),
  },
  fc.record({ kind: fc.constant('code' as const), text, language: fc.constantFrom('ts', '') }),
  fc.record({ kind: fc.constant('quote' as const), text }),
  fc.record({ kind: fc.constant('link' as const), text, url: fc.webUrl() }),
  fc.constant({ kind: 'mention' as const, user: { endpoint: 'e', id: 'ann' } }),
);
const segments = fc.array(segment, { maxLength: 8, size: 'max' });
const unit = fc.constantFrom('bytes' as const, 'utf16' as const, 'codepoints' as const);
const format = fc.constantFrom('plain' as const, 'markdown' as const, 'html' as const);
const limit = fc.integer({ min: 60, max: 400 });
const limits = fc.record({ limit, unit, render: format });

const isWellFormed = (part: string): boolean =>
  !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(part);
const letters = (part: string): string => part.replace(/\s/g, '');
// A quote sign begins each line of a quote, so there are more of them after a cut.
const withoutSigns = (part: string): string => letters(part).replaceAll('>', '');

describe('split', () => {
  it('makes no part over the limit, in any unit and format (SPLIT-1)', () => {
    fc.assert(
      fc.property(segments, limits, (input, { limit: most, unit: unitName, render: how }) => {
        const parts = split(input, { limit: most, unit: unitName, render: how });

        assert.ok(parts !== undefined);
        for (const part of parts) {
          assert.ok(sizeOf(part, unitName) <= most, `${sizeOf(part, unitName)} > ${most}: ${part}`);
          assert.ok(isWellFormed(part), 'a code point is cut');
          assert.notEqual(part.trim(), '');
        }
      }),
    );
  });

  it('loses no letter of a plain text (SPLIT-2)', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 12, size: 'max' }), unit, limit, (texts, unitName, most) => {
        const parts = split(
          texts.map((each) => ({ kind: 'text', text: each })),
          { limit: most, unit: unitName, render: 'plain' },
        );

        assert.equal(letters((parts ?? []).join('')), letters(texts.join('')));
      }),
    );
  });

  it('cuts no character as people see it, unless it is over the limit alone (SPLIT-2)', () => {
    const characters = ['👨‍👩‍👧‍👦', '🇩🇪', '🇫🇷', 'e\u0301', '👍🏽', '❤️', 'नि', '각', 'x', ' '];
    const typed = fc.array(fc.constantFrom(...characters), { minLength: 1, maxLength: 300, size: 'max' });
    const seen = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
    fc.assert(
      fc.property(typed, unit, fc.integer({ min: 30, max: 90 }), format, (written, unitName, most, how) => {
        const parts =
          split([{ kind: 'text', text: written.join('') }], { limit: most, unit: unitName, render: how }) ?? [];

        const pieces = parts.flatMap((part) => Array.from(seen.segment(part), ({ segment }) => segment));
        assert.deepEqual(
          pieces.filter((one) => one !== ' '),
          written.filter((one) => one !== ' '),
        );
      }),
    );
    const zalgo = `a${'\u0301'.repeat(100)}`;
    assert.equal(
      split([{ kind: 'text', text: zalgo }], { limit: 40, unit: 'utf16', render: 'plain' })?.join(''),
      zalgo,
    );
  });

  it('loses no letter of segments with marks, links and blocks (SPLIT-2)', () => {
    fc.assert(
      fc.property(segments, unit, limit, (input, unitName, most) => {
        const parts = split(input, { limit: most, unit: unitName, render: 'plain' }) ?? [];

        assert.equal(withoutSigns(parts.join('')), withoutSigns(plainText(input)));
      }),
    );
  });

  it('closes and opens fences again (COMPOSE-3)', () => {
    const code = fc.array(
      fc.string({ unit: fc.constantFrom('x', ' ', '(', '{', '\n', '`'), maxLength: 80, size: 'max' }),
      { minLength: 1, maxLength: 10, size: 'max' },
    );
    fc.assert(
      fc.property(code, unit, limit, (lines, unitName, most) => {
        const source = lines.join('\n');
        const parts =
          split([{ kind: 'code', text: source, language: 'ts' }], {
            limit: most,
            unit: unitName,
            render: 'markdown',
          }) ?? [];

        for (const part of parts) {
          const [, fence] = /^(`{3,})ts\n/.exec(part) ?? [];
          assert.ok(fence !== undefined, part);
          assert.ok(part.endsWith(`\n${fence}`), part);
          assert.ok(!part.slice(fence.length, -fence.length).includes(fence), 'the fence is inside too');
        }
      }),
    );
  });

  it('keeps one part as it is when it fits', () => {
    fc.assert(
      fc.property(segments, format, (input, how) => {
        const whole = render(input, how);

        assert.deepEqual(
          split(input, { limit: 1_000_000, unit: 'utf16', render: how }),
          whole.trim() === '' ? [] : [whole],
        );
      }),
    );
  });
});
