// Phrases against the pattern that they stand for, and the steps that a text costs: counted as reads of its code units.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type CodeUnits, compilePhrase, matchPhrase, type Span } from '../../../worker/handling/plan/phrases.ts';
import { ofRun } from '../../support/run-length.ts';

/** The pattern of a phrase: what it means, and far too slow for the texts of strangers. */
function patternOf(phrase: string): RegExp {
  const parts = phrase
    .split(/\{([^{}]+)\}/)
    .map((part, i) => (i % 2 === 1 ? '(.+?)' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')));
  return new RegExp(`^${parts.join('')}$`, 'dis');
}

const byPattern = (phrase: string, text: string): readonly Span[] | undefined =>
  patternOf(phrase)
    .exec(text)
    ?.indices?.slice(1)
    .map((span) => ({ start: span?.[0] ?? -1, end: span?.[1] ?? -1 }));

/** A text that counts what is read of it. */
class CountedText implements CodeUnits {
  steps = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    return this.#text.length;
  }

  charCodeAt(at: number): number {
    this.steps += 1;
    return this.#text.charCodeAt(at);
  }
}

function stepsOf(phrase: string, text: string): number {
  const counted = new CountedText(text);
  matchPhrase(compilePhrase(phrase), counted);
  return counted.steps;
}

const PLACES = ['{a}', '{b}', '{c}', '{d}'];
/** Literals that overlap with themselves and each other, and letters whose case is no simple matter. */
const literal = fc.string({
  unit: fc.constantFrom(
    'a',
    'A',
    'b',
    ' ',
    'aa',
    'ab',
    'ß',
    'ẞ',
    'ſ',
    's',
    'S',
    'K',
    'k',
    'ı',
    'İ',
    'i',
    'ŉ',
    'Σ',
    'ς',
    'σ',
    'ǆ',
    'ǅ',
    'µ',
    '\n',
    '😀',
    '\uD83D',
    '\0',
    '.',
    '$',
  ),
  maxLength: 3,
});
const phrase = fc
  .tuple(fc.array(literal, { minLength: 1, maxLength: 5 }))
  .map(([literals]) => literals.map((one, i) => (i === 0 ? one : `${PLACES[i - 1]}${one}`)).join(''));
const around = (of: string): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(literal, fc.constantFrom(...of.split(/\{[^{}]+\}/), 'x')), { maxLength: 12, size: 'max' })
    .map((pieces) => pieces.join(''));
const phraseAndText = phrase.chain((of) => fc.tuple(fc.constant(of), around(of)));
/** Texts that bring a matcher to its knees: each literal many times, in order or not, with or without its end. */
const hostile = phrase.chain((of) =>
  fc.tuple(
    fc.constant(of),
    fc
      .array(fc.tuple(fc.constantFrom(...of.split(/\{[^{}]+\}/), 'x'), fc.integer({ min: 1, max: 200 })), {
        maxLength: 8,
      })
      .map((runs) => runs.map(([piece, times]) => piece.repeat(times)).join('')),
  ),
);

describe('a phrase', () => {
  it('takes what its pattern takes', () => {
    fc.assert(
      fc.property(phraseAndText, ([of, text]) => {
        assert.deepEqual(matchPhrase(compilePhrase(of), text), byPattern(of, text));
      }),
      { numRuns: ofRun({ short: 120, long: 400 }) },
    );
  });

  it('tells letters by case as the flag of its pattern does, each of them', () => {
    for (let unit = 0; unit <= 0xff_ff; unit += 1) {
      const letter = String.fromCharCode(unit);
      if (letter === '{' || letter === '}') continue;
      for (const other of [letter.toUpperCase(), letter.toLowerCase(), letter.toUpperCase().toLowerCase()]) {
        const isSame = matchPhrase(compilePhrase(letter), other) !== undefined;
        if (isSame !== patternOf(letter).test(other)) assert.fail(`${unit.toString(16)} and ${JSON.stringify(other)}`);
      }
    }
  });

  it('reads no more of a text than the text and the phrase are long', () => {
    fc.assert(
      fc.property(hostile, ([of, text]) => {
        assert.ok(stepsOf(of, text) <= text.length + of.length);
      }),
      { numRuns: ofRun({ short: 120, long: 400 }) },
    );
  });

  it('takes at most 2.2 times the steps for twice the text', () => {
    fc.assert(
      fc.property(fc.oneof(phraseAndText, hostile), ([of, text]) => {
        fc.pre(text.length >= of.length);
        assert.ok(stepsOf(of, text + text) <= 2.2 * stepsOf(of, text) + of.length);
      }),
      { numRuns: ofRun({ short: 200, long: 700 }) },
    );
  });

  it('is told from a text that its pattern takes minutes for', () => {
    const of = 'move {what} from {src} to {dst} by {when} please';
    const text = `move ${' from'.repeat(190)}${' to'.repeat(300)}${' by'.repeat(400)}`;

    for (const [said, isPhrase] of [
      [text, false],
      [`${text} please`, true],
    ] as const) {
      const counted = new CountedText(said);
      const spans = matchPhrase(compilePhrase(of), counted);

      assert.equal(spans !== undefined, isPhrase);
      assert.ok(counted.steps <= said.length + of.length, `${counted.steps} steps for ${said.length} characters`);
    }
  });
});
