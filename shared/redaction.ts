// Keeps secrets out of text that leaves the process: by value, in each form in which one turns up, and by key.
//
//   R1  A registered value is masked in a line as it is, JSON-escaped (once and twice), URL-encoded, in hex, and in base64 and base64url at each of the three alignments;
//       of one that has several lines, like a private key, also each line of some length: they may come one by one, or be cut off in the middle.
//   R2  A string under a key whose name ends in token, secret, password, authorization, cookie, api key or the like is masked whatever its value.
//   R3  What could fake a line or move the cursor (control characters, DEL, bidi marks, line separators) is escaped.
import { SECRET_MASK } from './secret.ts';
import { TextSearch } from './secret-search.ts';

/** Shorter values would mask ordinary words; they are kept out by key only. */
const SHORTEST_VALUE = 4;
const SHORTEST_FORM = 6;
/** In what people wrote to be read, shorter secrets are words that any text may hold. */
const SHORTEST_SHOWN = 16;
/** Shorter forms are searched for apart: one of them would slow down the search for all others. */
const LONG_FORM = 12;

export class SecretRegistry {
  readonly #values = new Set<string>();
  #searches: readonly TextSearch[] = [];
  #follower: ((values: readonly string[]) => void) | undefined;

  get values(): ReadonlySet<string> {
    return this.#values;
  }

  /** Registers the texts of secrets; those that were there stay, since an old one may still be in flight. */
  add(values: Iterable<string>): void {
    const before = this.#values.size;
    for (const value of values) if (value.length >= SHORTEST_VALUE) this.#values.add(value);
    if (this.#values.size === before) return;
    const forms = [...this.#values].flatMap((value) => [value, ...longLinesOf(value)]).flatMap(formsOf);
    const parts = [forms.filter((form) => form.length >= LONG_FORM), forms.filter((form) => form.length < LONG_FORM)];
    this.#searches = parts.filter((part) => part.length > 0).map((part) => new TextSearch(part));
    this.#follower?.([...this.#values].slice(before));
  }

  /** Who else has to know them: is told those that are here, and each that comes. One at a time. */
  follow(tell: (values: readonly string[]) => void): void {
    this.#follower = tell;
    if (this.#values.size > 0) tell([...this.#values]);
  }

  /** The text with every registered secret masked (R1). */
  mask(text: string): string {
    return this.#replace(text, () => SECRET_MASK);
  }

  /** The same, as long as it was. */
  cover(text: string): string {
    return this.#replace(text, (length) => '*'.repeat(length));
  }

  #replace(text: string, by: (length: number) => string): string {
    return this.#searches.reduce((masked, search) => search.replaceAll(masked, by), text);
  }
}

/** A text that is shown, like a name, with a mask for each secret in it. */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  return [...secrets]
    .filter((secret) => secret.length >= SHORTEST_SHOWN)
    .sort((a, b) => b.length - a.length) // one may be a part of another
    .reduce((shown, secret) => shown.replaceAll(secret, SECRET_MASK), text);
}

const SECRET_KEY =
  /(?:token|secret|password|passphrase|authorization|cookie|api[-_]?key|private[-_]?key|credentials?)$/i;
const KEY_END = '":"';
const LONGEST_NAME = 16;

/** Masks strings under secret keys in a line of JSON (R2). */
export function maskKeys(line: string): string {
  let masked = '';
  let done = 0;
  for (let at = line.indexOf(KEY_END); at !== -1; at = line.indexOf(KEY_END, at + 1)) {
    if (at < done || !mayEndSecretKey(line, at)) continue;
    if (!SECRET_KEY.test(line.slice(Math.max(0, at - LONGEST_NAME), at))) continue;
    const value = at + KEY_END.length;
    const end = endOfString(line, value);
    if (end === undefined) break;
    masked += line.slice(done, value) + SECRET_MASK;
    done = end;
  }
  return done === 0 ? line : masked + line.slice(done);
}

/** The last two letters of the names above: most keys end in others. */
const LAST_LETTERS = new Set(
  ['en', 'et', 'rd', 'se', 'on', 'ie', 'ey', 'al', 'ls'].map((pair) => (pair.charCodeAt(0) << 8) | pair.charCodeAt(1)),
);

const mayEndSecretKey = (line: string, end: number): boolean =>
  LAST_LETTERS.has(((line.charCodeAt(end - 2) | 32) << 8) | line.charCodeAt(end - 1) | 32);

/** Where the closing quote of a string of JSON is. */
function endOfString(line: string, from: number): number | undefined {
  for (let at = line.indexOf('"', from); at !== -1; at = line.indexOf('"', at + 1)) {
    let slashes = 0;
    while (line.charCodeAt(at - 1 - slashes) === 92) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return undefined;
}

const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const UNSAFE_ALL = new RegExp(UNSAFE, 'g');

export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** Escapes what JSON lets through but a terminal or a line reader acts on (R3); the line stays the same JSON value. */
export function escapeLine(line: string): string {
  if (isAscii(line) && !line.includes('\u007f')) return line; // nearly always, and many times faster than the pattern
  if (!UNSAFE.test(line)) return line;
  return line.replace(UNSAFE_ALL, unicodeEscape);
}

/** Text for a terminal: control characters and bidi marks are shown, not obeyed. Tabs stay. */
export function escapeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return text.replace(/[\u0000-\u0008\u000a-\u001f]/g, unicodeEscape).replace(UNSAFE_ALL, unicodeEscape);
}

const unicodeEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A line that is known to all, as the first one of a key, is none of them. */
const longLinesOf = (value: string): readonly string[] =>
  value.includes('\n')
    ? value.split(/\r?\n/).filter((line) => line.length >= SHORTEST_SHOWN && !line.startsWith('-----'))
    : [];

function formsOf(value: string): string[] {
  const json = jsonInner(value);
  const url = encodeURIComponent(value);
  const forms = [value, json, jsonInner(json), url, url.replaceAll('%20', '+'), url.toLowerCase()];
  const encoded = [Buffer.from(value).toString('hex'), ...base64Forms(value)].filter(
    (form) => form.length >= SHORTEST_FORM,
  );
  return [...forms.filter((form) => form.length >= SHORTEST_VALUE), ...encoded];
}

const jsonInner = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The characters of base64 that depend on the value alone, when zero, one or two bytes stand before it. */
function base64Forms(value: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const first = Math.ceil((before * 8) / 6);
    const text = bytes.toString('base64').slice(first, Math.floor((bytes.length * 8) / 6));
    return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
