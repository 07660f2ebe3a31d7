// Parses JSON into plain values and the offset of every path. JSON.parse names no line, and the bound of the YAML reader is too small for 1,000 jobs.
//
//   JSON-TREE-1  Strict: RFC 8259 alone. The first fault of syntax ends the reading. Duplicate keys are found all.
//   JSON-TREE-2  Nesting is bounded, so no text overflows the stack. `__proto__` and the like are refused as keys.
import { type Finding, type Place, pointerTo } from '../config/fault.ts';
import { placeFinder } from '../config/place-finder.ts';

const LARGEST_DEPTH = 32;
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

export interface JsonTree {
  /** Undefined if the text is not JSON. */
  readonly value: unknown;
  readonly findings: readonly Finding[];
  /** The position of a path; of its nearest parent, if the path is not in the text. */
  place(path: string): Place;
}

class Fault extends Error {
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

export function readJson(text: string): JsonTree {
  const placeAt = placeFinder(text);
  const reading = new Reading(text);
  let value: unknown;
  const findings: Finding[] = [];
  try {
    value = reading.document();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    findings.push({ path: '', message: error.message, place: placeAt(error.at) });
  }
  for (const { path, at, message } of reading.found) findings.push({ path, message, place: placeAt(at) });
  return {
    value,
    findings,
    place(path) {
      for (let known = path; ; known = known.slice(0, known.lastIndexOf('/'))) {
        const at = reading.offsets.get(known);
        if (at !== undefined) return placeAt(at);
        if (known === '') return { line: 1, column: 1 };
      }
    },
  };
}

class Reading {
  readonly offsets = new Map<string, number>();
  readonly found: { readonly path: string; readonly at: number; readonly message: string }[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): unknown {
    this.#blanks();
    if (this.#at === this.#text.length) throw new Fault(0, 'is empty: it holds one JSON object');
    this.offsets.set('', this.#at);
    const value = this.#value('', 0);
    this.#blanks();
    if (this.#at < this.#text.length) throw new Fault(this.#at, 'is not valid JSON: nothing may follow its end');
    return value;
  }

  #value(path: string, depth: number): unknown {
    if (depth > LARGEST_DEPTH) throw new Fault(this.#at, `nests deeper than ${LARGEST_DEPTH} levels`);
    const text = this.#text;
    switch (text[this.#at]) {
      case '{':
        return this.#object(path, depth);
      case '[':
        return this.#list(path, depth);
      case '"':
        return this.#string();
      default:
    }
    for (const [word, value] of WORDS) {
      if (!text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    NUMBER.lastIndex = this.#at;
    const number = NUMBER.exec(text);
    if (number === null) throw this.#unexpected('a value');
    this.#at += number[0].length;
    return Number(number[0]);
  }

  #object(path: string, depth: number): unknown {
    const out: Record<string, unknown> = {};
    this.#at += 1;
    if (this.#take('}')) return out;
    do {
      this.#blanks();
      const at = this.#at;
      if (this.#text[at] !== '"') throw this.#unexpected('a key in double quotes');
      const key = this.#string();
      if (FORBIDDEN_KEYS.has(key)) throw new Fault(at, `the key ${key} is not taken`);
      const inner = pointerTo(path, key);
      if (!this.#take(':')) throw this.#unexpected('":" after a key');
      this.#blanks();
      const isSecond = Object.hasOwn(out, key);
      if (isSecond) this.found.push({ path: inner, at, message: 'is given a second time' });
      else this.offsets.set(inner, at);
      out[key] = this.#value(inner, depth + 1);
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#unexpected('"," or "}"');
    return out;
  }

  #list(path: string, depth: number): unknown {
    const out: unknown[] = [];
    this.#at += 1;
    if (this.#take(']')) return out;
    do {
      this.#blanks();
      const inner = pointerTo(path, out.length);
      this.offsets.set(inner, this.#at);
      out.push(this.#value(inner, depth + 1));
    } while (this.#take(','));
    if (!this.#take(']')) throw this.#unexpected('"," or "]"');
    return out;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    for (let at = start + 1; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x5c) at += 1;
      else if (code < 0x20) throw new Fault(at, 'is not valid JSON: a text ends on its line; \\n stands for a new one');
      else if (code === 0x22) {
        this.#at = at + 1;
        return this.#decoded(start);
      }
    }
    throw new Fault(start, 'is not valid JSON: this text has no closing quote');
  }

  #decoded(start: number): string {
    let value: string;
    try {
      value = JSON.parse(this.#text.slice(start, this.#at)) as string;
    } catch {
      throw new Fault(start, 'is not valid JSON: this text has a \\ before a character that takes none');
    }
    if (!value.isWellFormed()) throw new Fault(start, 'holds half a character (a lone surrogate)');
    return value;
  }

  #take(sign: string): boolean {
    this.#blanks();
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #blanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  #unexpected(wanted: string): Fault {
    const isOver = this.#at >= this.#text.length;
    const found = isOver ? 'the file ends' : `there is ${JSON.stringify(this.#text[this.#at])}`;
    return new Fault(
      Math.min(this.#at, Math.max(0, this.#text.length - 1)),
      `is not valid JSON: expected ${wanted}, but ${found}`,
    );
  }
}
