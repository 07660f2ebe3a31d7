// Finds any of many texts in a text, in one pass that skips over most of it (Wu and Manber): a log line costs the same for one secret and for fifty.
//
//   H1  The search is exact: what it finds is one of the texts, and nothing of them is left in what `replaceAll` gives.
//   H2  Where several begin at one place, the longest is taken; occurrences that overlap are taken together.
const BITS = 14;
const SIZE = 2 ** BITS;
const MASK = SIZE - 1;
const BLOCK = 3;

interface Span {
  readonly begin: number;
  readonly end: number;
}

export class TextSearch {
  /** How far the window may move when it ends in a block of this hash; 0: a text may end here. */
  readonly #shifts = new Uint8Array(SIZE);
  readonly #texts = new Map<number, string[]>();
  readonly #window: number;
  readonly #hasTexts: boolean;

  /** Texts of three characters at least. */
  constructor(texts: Iterable<string>) {
    const known = [...new Set(texts)].filter((text) => text.length >= BLOCK).sort((a, b) => b.length - a.length);
    this.#hasTexts = known.length > 0;
    this.#window = Math.min(200, ...known.map((text) => text.length));
    this.#shifts.fill(Math.max(1, this.#window - BLOCK + 1));
    for (const text of known) this.#learn(text);
  }

  /** The text with every occurrence replaced, by what fits its length; occurrences that overlap are one. */
  replaceAll(text: string, by: (length: number) => string): string {
    let at = this.#hasTexts ? this.#find(text, 0) : undefined;
    if (at === undefined) return text;
    let result = '';
    let done = 0;
    while (at !== undefined) {
      const { begin } = at;
      let { end }: Span = at;
      for (at = this.#find(text, begin + 1); at !== undefined && at.begin < end; at = this.#find(text, at.begin + 1))
        end = Math.max(end, at.end);
      result += text.slice(done, begin) + by(end - begin);
      done = end;
    }
    return result + text.slice(done);
  }

  /** The blocks of the first characters of a text, as many as the shortest has. */
  #learn(text: string): void {
    for (let end = BLOCK - 1; end < this.#window; end += 1) {
      const hash = hashAt(text, end);
      const shift = this.#window - 1 - end;
      if (shift < (this.#shifts[hash] ?? 0)) this.#shifts[hash] = shift;
      if (shift === 0) this.#texts.set(hash, [...(this.#texts.get(hash) ?? []), text]);
    }
  }

  #find(text: string, from: number): Span | undefined {
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
      const found = this.#texts.get(hash)?.find((known) => text.startsWith(known, begin));
      if (found !== undefined) return { begin, end: begin + found.length };
      end += 1;
    }
    return undefined;
  }
}

/** Of the three characters that end here. */
const hashAt = (text: string, end: number): number =>
  ((text.charCodeAt(end - 2) << 10) ^ (text.charCodeAt(end - 1) << 5) ^ text.charCodeAt(end)) & MASK;
