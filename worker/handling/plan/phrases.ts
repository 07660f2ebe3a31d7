// Phrases of commands ("remind me in {in} to {text}"), matched in one pass over the text and without backtracking: a text is a stranger's.
//
//   F1  A phrase means what `^lit(.+?)lit(.+?)lit$` with the flags `i` and `s` means: each place takes the shortest text, of one code unit at least.
//       The leftmost place of a literal leaves most room for what follows, so a later place of it is never needed.
//   F2  No code unit of the text is read more than once while literals are looked for, however the text repeats itself.
// Pure.

/** What is read of a text. A string is one; a test counts the reads. */
export interface CodeUnits {
  readonly length: number;
  charCodeAt(at: number): number;
}

export interface Phrase {
  /** Names of its places, in order. */
  readonly names: readonly string[];
  readonly first: Literal;
  /** After each place but the last one. */
  readonly between: readonly Literal[];
  readonly last: Literal;
}

/** A text that stands in the phrase as it is, folded, with the table that a search for it needs (Knuth, Morris and Pratt). */
interface Literal {
  readonly units: Uint16Array;
  /** By how many units that fit: how many fit still where the next one does not. */
  readonly fallbacks: Uint16Array;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

const PLACE = /\{([^{}]+)\}/;

/** Argument names that a phrase mentions. */
export const phraseArguments = (phrase: string): readonly string[] => phrase.split(PLACE).filter((_, i) => i % 2 === 1);

export function compilePhrase(phrase: string): Phrase {
  const literals = phrase
    .split(PLACE)
    .filter((_, i) => i % 2 === 0)
    .map(literalOf);
  const [first = literalOf(''), ...others] = literals;
  return { names: phraseArguments(phrase), first, between: others.slice(0, -1), last: others.at(-1) ?? literalOf('') };
}

/** What its places take of a text, in order; undefined where the text is not this phrase. */
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

/** Where the literal begins first, all of it within the span. */
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

const upper = new Uint16Array(0x1_00_00); // 0: not asked yet; nothing but U+0000 has it as its upper case

/** Without regard to case, as the flag `i` of a pattern compares: unit by unit, and ASCII is equal to nothing else. */
function fold(unit: number): number {
  if (unit < 128) return unit >= 97 && unit <= 122 ? unit - 32 : unit;
  return (upper[unit] ||= upperOf(unit));
}

function upperOf(unit: number): number {
  const text = String.fromCharCode(unit).toUpperCase();
  const folded = text.charCodeAt(0);
  return text.length !== 1 || folded < 128 ? unit : folded;
}
