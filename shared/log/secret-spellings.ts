// All encodings in which a secret may appear in a text.
//
//   SPELLING-1  Direct forms: the value itself, hex in either case, base64 and base64url at each of three alignments, and its bytes as numbers.
//               Numbers appear when JSON or Node's inspection prints a Buffer.
//   SPELLING-2  Escapes are decoded up to four levels deep, in any mixture: JSON, JavaScript, URLs, HTML and spaces in number lists.
//               Positions in the decoded text map back to the original.
//   SPELLING-3  The password in a URL (`scheme://user:password@host`) counts as a secret even if unregistered.
import type { Span } from './secret-search.ts';

/** Text with more levels of escaping is not searched further. */
export const LEVELS = 4;

export interface Form {
  readonly text: string;
  /** Letters match in both cases. */
  readonly anyCase?: boolean;
  /** The bytes as numbers. Searched for only if a text has a list (`mayHoldList`). */
  readonly isList?: boolean;
}

const SHORTEST_VALUE = 4;
const SHORTEST_FORM = 6;
/** Node prints no more bytes of a Buffer than this, and no more numbers of an array. */
const SHOWN_BYTES = 50;
const SHOWN_NUMBERS = 100;

/** The direct forms of a value, and of its UTF-8 bytes taken as one character each. */
export function formsOf(value: string): readonly Form[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const numbers = [...bytes];
  const plain = [value, value.replaceAll(' ', '+')].map((text) => ({ text }));
  const base64 = [0, 1, 2].flatMap((before) => base64Forms(bytes, before)).map((text) => ({ text }));
  const lists = [
    hexList(bytes.subarray(0, SHOWN_BYTES)),
    hexList(bytes),
    numbers.slice(0, SHOWN_NUMBERS).join(','),
    numbers.join(','),
    numbers.map((number, index) => `"${index}":${number}`).join(','),
  ].map((text) => ({ text, anyCase: true, isList: true }));
  const encoded = [{ text: hex, anyCase: true }, ...base64, ...lists];
  return [
    ...plain.filter(({ text }) => text.length >= SHORTEST_VALUE),
    ...encoded.filter(({ text }) => text.length >= SHORTEST_FORM),
  ];
}

const hexList = (bytes: Buffer): string => bytes.toString('hex').replaceAll(/(..)(?!$)/g, '$1 ');

/** The base64 characters that depend only on the value, with zero, one or two bytes before it. */
function base64Forms(value: Buffer, before: number): readonly string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), value]);
  const first = Math.ceil((before * 8) / 6);
  const text = bytes.toString('base64').slice(first, Math.floor((bytes.length * 8) / 6));
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}

/** Beginnings of a list: `[97,98]`, `<Buffer 61 62>`, `{"0":97,"1":98}`. */
export const mayHoldList = (text: string): boolean =>
  text.includes('[') || text.includes('<Buffer ') || text.includes('{"0":');

/** A text with one level of escapes decoded. */
export class Unescaped {
  readonly text: string;
  /** For each escape: its span in the original text and its position in the decoded one. */
  readonly #pieces: readonly Piece[];

  constructor(text: string, pieces: readonly Piece[]) {
    this.text = text;
    this.#pieces = pieces;
  }

  /** Maps a span back to the original text. Escapes are never cut. */
  sourceOf({ begin, end }: Span): Span {
    return { begin: this.#place(begin).begin, end: this.#place(end - 1).end };
  }

  /** The span of one character. */
  #place(at: number): Span {
    let low = 0;
    let high = this.#pieces.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#pieces[middle]?.to ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    const piece = this.#pieces[low - 1];
    if (piece === undefined) return { begin: at, end: at + 1 };
    if (at < piece.to + piece.length) return { begin: piece.begin, end: piece.end };
    const begin = piece.end + (at - piece.to - piece.length);
    return { begin, end: begin + 1 };
  }
}

interface Piece extends Span {
  /** Position in the decoded text. */
  readonly to: number;
  readonly length: number;
}

const HEX = '[0-9a-fA-F]';
/** `\ud83d\ude00`, `\u{61}`, `\u0061`, `\x61`, `\n`. */
const OF_SCRIPT = String.raw`\\(?:u([dD][89abAB]${HEX}{2})\\u([dD][c-fC-F]${HEX}{2})|u\{(${HEX}{1,6})\}|u(${HEX}{4})|x(${HEX}{2})|([bfnrtv"'\\/]))`;
/** `%61`, and the older `%u0061`. */
const OF_URL = `%(${HEX}{2})|%u(${HEX}{4})`;
const OF_HTML = `&(?:#(\\d{1,7})|#[xX](${HEX}{1,6})|(amp|lt|gt|quot|apos));`;
const OF_LIST = String.raw`(,)\s+(?=\d)`;
const ESCAPE = new RegExp([OF_SCRIPT, OF_URL, OF_HTML, OF_LIST].join('|'), 'g');
const ESCAPE_OR_WIDE = new RegExp(`${ESCAPE.source}|([^\\0-\\x7f])`, 'gu');
const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Quick check with `indexOf`: most texts have no escapes. */
export const mayHoldEscape = (text: string): boolean =>
  text.includes('\\') || text.includes('%') || text.includes('&') || (text.includes('[') && /\d,\s+\d/.test(text));

/** First characters of an escape. */
export type EscapeSign = '\\' | '%' | '&';
export const ESCAPE_SIGNS: readonly EscapeSign[] = ['\\', '%', '&'];

export interface UnescapeOptions {
  /** Characters beyond ASCII become UTF-8 bytes, one character each. Literal ones do, too, because an escape may stand for one of those bytes. */
  readonly wide: boolean;
  /** Decodes only escapes with this sign. A secret may itself contain another sign, which must then stay as it is. */
  readonly only?: EscapeSign | undefined;
}

/** Decodes one level of escapes. Undefined if there are none. */
export function unescapeOnce(text: string, { wide, only }: UnescapeOptions): Unescaped | undefined {
  if (!mayHoldEscape(text)) return undefined;
  const pieces: Piece[] = [];
  let result = '';
  let done = 0;
  let isEscaped = false;
  for (const match of text.matchAll(wide ? ESCAPE_OR_WIDE : ESCAPE)) {
    const [source, , , , , , , , , , , , , wideCharacter] = match;
    if (only !== undefined && wideCharacter === undefined && source[0] !== only && source[0] !== ',') continue;
    isEscaped ||= wideCharacter === undefined;
    const plain = plainOf(match);
    result += text.slice(done, match.index);
    done = match.index + source.length;
    pieces.push({ begin: match.index, end: done, to: result.length, length: plain.length });
    result += plain;
  }
  return isEscaped ? new Unescaped(result + text.slice(done), pieces) : undefined;
}

function plainOf(match: readonly (string | undefined)[]): string {
  const [, high, low, braces, four, byteOfScript, letter, byteOfUrl, fourOfUrl, decimal, hex, entity, comma, wide] =
    match;
  const byte = byteOfScript ?? byteOfUrl;
  if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
  if (letter !== undefined) return LETTERS[letter] ?? letter;
  if (high !== undefined && low !== undefined)
    return bytesOf(String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)));
  if (entity !== undefined) return ENTITIES[entity] ?? entity;
  if (comma !== undefined) return comma;
  if (wide !== undefined) return bytesOf(wide);
  const code = decimal === undefined ? Number.parseInt(braces ?? four ?? fourOfUrl ?? hex ?? '0', 16) : Number(decimal);
  return code > 0x10ffff ? '\ufffd' : bytesOf(String.fromCodePoint(code));
}

export const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');

const URL_PASSWORD = /(:\/\/[^\s/?#"'<>\\:@]{0,256}:)([^\s/?#"'<>\\]+)@/g;

/** Finds passwords in URLs. Adds to `found`, so that the usual text without any allocates no list. */
export function findUrlPasswords(text: string, found: Span[]): void {
  if (!text.includes('//')) return; // a colon is in every line of JSON
  for (const { index, 1: before = '', 2: password = '' } of text.matchAll(URL_PASSWORD)) {
    const begin = index + before.length;
    found.push({ begin, end: begin + password.length });
  }
}
