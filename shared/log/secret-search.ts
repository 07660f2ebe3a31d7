// Finds any of many strings in a text in one pass that skips most of it (Wu and Manber). One secret costs as much as fifty.
//
//   SECRET-SEARCH-1  The search is exact: each match is one of the strings, and no occurrence is missed.
//   SECRET-SEARCH-2  If several strings match at one index, the longest is taken.
const BITS = 14;
const SIZE = 2 ** BITS;
const MASK = SIZE - 1;
const BLOCK = 3;

export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** A string to search for. */
export interface Sought {
  readonly text: string;
  /** ASCII letters match in both cases. The text itself is in lower case. */
  readonly anyCase?: boolean;
}

export class TextSearch {
  /** How far the window may move if it ends in a block with this hash. 0: a string may end here. */
  readonly #shifts = new Uint8Array(SIZE);
  readonly #texts = new Map<number, Sought[]>();
  readonly #window: number;
  readonly #hasTexts: boolean;

  /** Strings shorter than three characters are ignored. */
  constructor(texts: Iterable<Sought>) {
    const each = new Map([...texts].map((sought) => [`${sought.anyCase === true}${sought.text}`, sought]));
    const known = [...each.values()]
      .filter(({ text }) => text.length >= BLOCK)
      .sort((a, b) => b.text.length - a.text.length);
    this.#hasTexts = known.length > 0;
    this.#window = Math.min(200, ...known.map(({ text }) => text.length));
    this.#shifts.fill(Math.max(1, this.#window - BLOCK + 1));
    for (const sought of known) this.#learn(sought);
  }

  /** Adds each match to `found`, in order. */
  find(text: string, found: Span[]): void {
    let from = 0;
    for (let at = this.#first(text, from); at !== undefined; at = this.#first(text, from)) {
      found.push(at);
      from = at.begin + 1;
    }
  }

  /** Hashes the blocks in the first characters of a string, up to the length of the shortest. */
  #learn(sought: Sought): void {
    for (let end = BLOCK - 1; end < this.#window; end += 1) {
      const hash = hashAt(sought.text, end);
      const shift = this.#window - 1 - end;
      if (shift < (this.#shifts[hash] ?? 0)) this.#shifts[hash] = shift;
      if (shift === 0) this.#texts.set(hash, [...(this.#texts.get(hash) ?? []), sought]);
    }
  }

  #first(text: string, from: number): Span | undefined {
    if (!this.#hasTexts) return undefined;
    const { length } = text;
    const shifts = this.#shifts;
    for (let end = from + this.#window - 1; end < length; ) {
      const hash = hashAt(text, end);
      const shift = shifts[hash] ?? 1;
      if (shift > 0) {
        end += shift;
        continue;
      }
      const begin = end - this.#window + 1;
      const found = this.#texts.get(hash)?.find((sought) => isAt(text, begin, sought));
      if (found !== undefined) return { begin, end: begin + found.text.length };
      end += 1;
    }
    return undefined;
  }
}

const isAt = (text: string, begin: number, { text: sought, anyCase = false }: Sought): boolean =>
  text.startsWith(sought, begin) || (anyCase && text.slice(begin, begin + sought.length).toLowerCase() === sought);

/** Hash of the three characters that end here. Case is ignored. */
const hashAt = (text: string, end: number): number =>
  (((text.charCodeAt(end - 2) | 32) << 10) ^ ((text.charCodeAt(end - 1) | 32) << 5) ^ (text.charCodeAt(end) | 32)) &
  MASK;

/** Sorts spans by their start and joins those that overlap. */
export function merged(spans: readonly Span[]): readonly Span[] {
  const apart: { begin: number; end: number }[] = [];
  for (const { begin, end } of spans.toSorted((a, b) => a.begin - b.begin)) {
    const last = apart.at(-1);
    if (last !== undefined && begin < last.end) last.end = Math.max(last.end, end);
    else apart.push({ begin, end });
  }
  return apart;
}

/** Replaces each span by a text that depends on the span's length. */
export function replaced(text: string, spans: readonly Span[], by: (length: number) => string): string {
  let result = '';
  let done = 0;
  for (const { begin, end } of spans) {
    result += text.slice(done, begin) + by(end - begin);
    done = end;
  }
  return result + text.slice(done);
}
