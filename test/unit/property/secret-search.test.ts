// Searching for many texts at once finds what searching for each of them finds.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { merged, replaced, type Span, TextSearch } from '../../../shared/log/secret-search.ts';

const letters = (minLength: number, maxLength: number) =>
  fc.array(fc.constantFrom('a', 'b', 'c', 'ö', '\u{1f600}'), { minLength, maxLength }).map((parts) => parts.join(''));

/** Each place that belongs to an occurrence of any text, one mask for places that follow each other in one or in overlapping occurrences. */
function plainly(text: string, texts: readonly string[]): string {
  const spans = texts
    .flatMap((known) =>
      [...Array(text.length).keys()]
        .filter((at) => text.startsWith(known, at))
        .map((at) => [at, at + known.length] as const),
    )
    .sort(([a], [b]) => a - b);
  let result = '';
  let done = 0;
  for (let index = 0; index < spans.length; ) {
    const [begin, first] = spans[index] ?? [0, 0];
    let end = first;
    for (index += 1; (spans[index]?.[0] ?? end) < end; index += 1) end = Math.max(end, spans[index]?.[1] ?? end);
    result += `${text.slice(done, begin)}#`;
    done = end;
  }
  return result + text.slice(done);
}

describe('a search for many texts', () => {
  it('replaces exactly what is one of them (SECRET-SEARCH-1, SECRET-SEARCH-2)', () => {
    fc.assert(
      fc.property(fc.array(letters(3, 9), { maxLength: 6 }), letters(0, 60), (known, text) => {
        const texts = known.filter((one) => one.length >= 3);

        const found: Span[] = [];
        new TextSearch(texts.map((one) => ({ text: one }))).find(text, found);

        assert.equal(
          replaced(text, merged(found), () => '#'),
          plainly(text, texts),
        );
      }),
      { numRuns: 3_000 },
    );
  });
});
