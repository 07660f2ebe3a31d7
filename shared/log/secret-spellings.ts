// The one table of the ways in which a secret turns up in a text.
//
//   S1  Forms stand in the text as they are: the value itself, hex in either case, base64 and base64url at each of the three alignments, and
//       its bytes as numbers, as JSON and Node's inspection write a Buffer.
//   S2  Escapes are undone, up to LEVELS deep, so that any mixture of them is found: of JSON and JavaScript, of URLs, of HTML, and the blanks
//       between the numbers of a list. A place in what comes of that is a place in the text.
//   S3  The password of a URL (`scheme://user:password@host`) is a secret that nobody has to know.
import type { Span } from './secret-search.ts';

/** A text that is escaped more often than this is not looked into any further. */
export const LEVELS = 4;

export interface Form {
  readonly text: string;
  /** Letters count in upper and lower case. */
  readonly anyCase?: boolean;
  /** Numbers of bytes: found only where a text has a list (`mayHoldList`). */
  readonly isList?: boolean;
}

const SHORTEST_VALUE = 4;
const SHORTEST_FORM = 6;
/** Of a Buffer Node shows no more bytes than this, and of an array no more numbers. */
const SHOWN_BYTES = 50;
const SHOWN_NUMBERS = 100;

/** S1: of a value, and of the bytes that stand for it in UTF-8, each byte as one character. */
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

/** The characters of base64 that depend on the value alone, when zero, one or two bytes stand before it. */
function base64Forms(value: Buffer, before: number): readonly string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), value]);
  const first = Math.ceil((before * 8) / 6);
  const text = bytes.toString('base64').slice(first, Math.floor((bytes.length * 8) / 6));
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}

/** What a list begins with: `[97,98]`, `<Buffer 61 62>`, `{"0":97,"1":98}`. */
export const mayHoldList = (text: string): boolean =>
  text.includes('[') || text.includes('<Buffer ') || text.includes('{"0":');

/** A text with its escapes undone once. */
export class Unescaped {
  readonly text: string;
  /** For each piece that was an escape: where it begins and ends in the text that it was in, and in this one. */
  readonly #pieces: readonly Piece[];

  constructor(text: string, pieces: readonly Piece[]) {
    this.text = text;
    this.#pieces = pieces;
  }

  /** The place in the text that this one was made of; escapes are never cut. */
  sourceOf({ begin, end }: Span): Span {
    return { begin: this.#place(begin).begin, end: this.#place(end - 1).end };
  }

  /** Of one character. */
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
  /** Where it stands now. */
  readonly to: number;
  readonly length: number;
}

const HEX = '[0-9a-fA-F]';
/** `\ud83d\ude00`, `\u{61}`, `\u0061`, `\x61`, `\n`. */
const OF_SCRIPT = String.raw`\\(?:u([dD][89abAB]${HEX}{2})\\u([dD][c-fC-F]${HEX}{2})|u\{(${HEX}{1,6})\}|u(${HEX}{4})|x(${HEX}{2})|([bfnrtv"'\\/]))`;
/** `%61`, and `%u0061` of old scripts. */
const OF_URL = `%(${HEX}{2})|%u(${HEX}{4})`;
const OF_HTML = `&(?:#(\\d{1,7})|#[xX](${HEX}{1,6})|(amp|lt|gt|quot|apos));`;
const OF_LIST = String.raw`(,)\s+(?=\d)`;
const ESCAPE = new RegExp([OF_SCRIPT, OF_URL, OF_HTML, OF_LIST].join('|'), 'g');
const ESCAPE_OR_WIDE = new RegExp(`${ESCAPE.source}|([^\\0-\\x7f])`, 'gu');
const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Looked for one by one, each at the speed of memory: most texts have none of them. */
export const mayHoldEscape = (text: string): boolean =>
  text.includes('\\') || text.includes('%') || text.includes('&') || (text.includes('[') && /\d,\s+\d/.test(text));

/** What an escape begins with. */
export type EscapeSign = '\\' | '%' | '&';
export const ESCAPE_SIGNS: readonly EscapeSign[] = ['\\', '%', '&'];

export interface UnescapeOptions {
  /** What is not ASCII becomes bytes of UTF-8, each one a character, also where it stands in the text itself: an escape may stand for one of them. */
  readonly wide: boolean;
  /** Escapes with this sign alone. A secret may hold the sign of another: its own letters are no escape. */
  readonly only?: EscapeSign | undefined;
}

/** S2; undefined where nothing is escaped. */
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

/** S3. Adds to `found`: nearly every text has none, and costs no list. */
export function findUrlPasswords(text: string, found: Span[]): void {
  if (!text.includes('//')) return; // a colon is in every line of JSON
  for (const { index, 1: before = '', 2: password = '' } of text.matchAll(URL_PASSWORD)) {
    const begin = index + before.length;
    found.push({ begin, end: begin + password.length });
  }
}
