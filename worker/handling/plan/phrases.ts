// Phrases of commands ("remind me in {in} to {text}"), matched in one pass without backtracking, because texts come from strangers. Pure.
//
//   PHRASES-1  A phrase matches like the regular expression `^lit(.+?)lit(.+?)lit$` with flags `i` and `s`: each placeholder takes the shortest text,
//              at least one code unit. The leftmost match of a literal leaves most room for the rest, so no later match is needed.
//   PHRASES-2  The search for literals reads each code unit at most once, however the text repeats itself.

/** The part of a string that matching reads. Tests count the reads. */
export interface CodeUnits {
  readonly length: number;
  charCodeAt(at: number): number;
}

export interface Phrase {
  /** Names of the placeholders, in order. */
  readonly names: readonly string[];
  readonly first: Literal;
  /** The literal after each placeholder except the last. */
  readonly between: readonly Literal[];
  readonly last: Literal;
}

/** A literal of the phrase, case-folded, with its failure table (Knuth-Morris-Pratt search). */
interface Literal {
  readonly units: Uint16Array;
  /** By number of matching units: how many still match after a mismatch. */
  readonly fallbacks: Uint16Array;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

const PLACE = /\{([^{}]+)\}/;

/** Argument names in a phrase. */
export const phraseArguments = (phrase: string): readonly string[] => phrase.split(PLACE).filter((_, i) => i % 2 === 1);

export function compilePhrase(phrase: string): Phrase {
  const literals = phrase
    .split(PLACE)
    .filter((_, i) => i % 2 === 0)
    .map(literalOf);
  const [first = literalOf(''), ...others] = literals;
  return { names: phraseArguments(phrase), first, between: others.slice(0, -1), last: others.at(-1) ?? literalOf('') };
}

/** The span of each placeholder, in order; undefined if the text does not match. */
export function matchPhrase({ names, first, between, last }: Phrase, text: CodeUnits): readonly Span[] | undefined {
  if (names.length === 0) return text.length === first.units.length && isAt(text, 0, first) ? [] : undefined;
  const end = text.length - last.units.length;
  if (end < first.units.length || !isAt(text, 0, first) || !isAt(text, end, last)) return undefined;
  const spans: Span[] = [];
  let start = first.units.length;
  for (const literal of between) {
    const found = find(text, literal, { start: start + 1, end });
    if (found === undefined) return undefined;
    spans.push({ start, end: found });
    start = found + literal.units.length;
  }
  return start < end ? [...spans, { start, end }] : undefined;
}

function literalOf(text: string): Literal {
  const units = Uint16Array.from({ length: text.length }, (_, at) => fold(text.charCodeAt(at)));
  const fallbacks = new Uint16Array(units.length + 1);
  for (let at = 1, fit = 0; at < units.length; at += 1) {
    while (fit > 0 && units[at] !== units[fit]) fit = fallbacks[fit] ?? 0;
    if (units[at] === units[fit]) fit += 1;
    fallbacks[at + 1] = fit;
  }
  return { units, fallbacks };
}

function isAt(text: CodeUnits, start: number, { units }: Literal): boolean {
  for (let at = 0; at < units.length; at += 1) if (fold(text.charCodeAt(start + at)) !== units[at]) return false;
  return true;
}

/** First position of the literal that lies entirely within the span. */
function find(text: CodeUnits, { units, fallbacks }: Literal, { start, end }: Span): number | undefined {
  if (units.length === 0) return start <= end ? start : undefined;
  for (let at = start, fit = 0; at < end; at += 1) {
    const unit = fold(text.charCodeAt(at));
    while (fit > 0 && unit !== units[fit]) fit = fallbacks[fit] ?? 0;
    if (unit === units[fit]) fit += 1;
    if (fit === units.length) return at + 1 - fit;
  }
  return undefined;
}

const upper = new Uint16Array(0x1_00_00); // 0: not computed yet; only U+0000 has 0 as its upper case

/** Case folding like flag `i` of a regular expression: by code unit, and no other character equals an ASCII one. */
function fold(unit: number): number {
  if (unit < 128) return unit >= 97 && unit <= 122 ? unit - 32 : unit;
  return (upper[unit] ||= upperOf(unit));
}

function upperOf(unit: number): number {
  const text = String.fromCharCode(unit).toUpperCase();
  const folded = text.charCodeAt(0);
  return text.length !== 1 || folded < 128 ? unit : folded;
}
