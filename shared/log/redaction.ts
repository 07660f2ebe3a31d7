// Keeps secrets out of text that leaves the process: by value, in each form in which one turns up, and by key.
//
//   R1  A registered value is masked in a line in each spelling of the table in secret-spellings.ts; of one that has several lines, like a
//       private key, also each line of some length: they may come one by one, or be cut off in the middle. So is the password of any URL.
//   R2  A string under a key whose name ends in token, secret, password, authorization, cookie, api key or the like is masked whatever its value.
//   R3  What could fake a line or move the cursor (control characters, DEL, bidi marks, line separators) is escaped.
import { SECRET_MASK } from '../secret.ts';
import { merged, replaced, type Span, TextSearch } from './secret-search.ts';
import {
  bytesOf,
  ESCAPE_SIGNS,
  type EscapeSign,
  type Form,
  findUrlPasswords,
  formsOf,
  LEVELS,
  mayHoldEscape,
  mayHoldList,
  unescapeOnce,
} from './secret-spellings.ts';
import { escapeControls, escapeUnseen, UNSEEN } from './visible-text.ts';

/** Shorter values would mask ordinary words; they are kept out by key only. */
const SHORTEST_VALUE = 4;
/** In what people wrote to be read, shorter secrets are words that any text may hold. */
const SHORTEST_SHOWN = 16;
/** Shorter forms are searched for apart: one of them would slow down the search for all others. */
const LONG_FORM = 12;

export class SecretRegistry {
  readonly #values = new Set<string>();
  #plain = new FormSearch([]);
  /** For texts whose escapes were undone: what is not ASCII stands there as bytes. */
  #bytes = this.#plain;
  /** One of the values would be another one if it were unescaped: then escapes are undone kind by kind as well. */
  #looksEscaped = false;
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
    this.#plain = new FormSearch(forms);
    this.#bytes = forms.some(isWide) ? new FormSearch(forms.flatMap(inBytes)) : this.#plain;
    this.#looksEscaped = forms.some(({ text }) => unescapeOnce(text, { wide: false }) !== undefined);
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
    const found: Span[] = [];
    this.#plain.find(text, found);
    for (const [index, span] of found.entries()) found[index] = withBackslash(text, span);
    if (mayHoldEscape(text)) {
      this.#findEscaped(text, found);
      if (this.#looksEscaped) for (const sign of ESCAPE_SIGNS) this.#findEscaped(text, found, sign);
    }
    return found.length === 0 ? text : replaced(text, merged(found), by);
  }

  /** In each text that comes of undoing the escapes of the one before. */
  #findEscaped(text: string, found: Span[], only?: EscapeSign): void {
    let at = text;
    let wide = this.#bytes !== this.#plain;
    let toSource = (span: Span): Span => span;
    for (let level = 0; level < LEVELS; level += 1) {
      const inner = unescapeOnce(at, { wide, only });
      if (inner === undefined) return;
      const outer = toSource;
      toSource = (span) => outer(inner.sourceOf(span));
      at = inner.text;
      wide = false;
      const here: Span[] = [];
      this.#bytes.find(at, here);
      found.push(...here.map(toSource));
    }
  }
}

/** A search for forms, as cheap as their lengths and kinds allow, and for passwords of URLs. */
class FormSearch {
  readonly #always: readonly TextSearch[];
  readonly #lists: TextSearch;

  constructor(forms: readonly Form[]) {
    const always = forms.filter(({ isList }) => isList !== true);
    const parts = [
      always.filter(({ text }) => text.length >= LONG_FORM),
      always.filter(({ text }) => text.length < LONG_FORM),
    ];
    this.#always = parts.filter((part) => part.length > 0).map((part) => new TextSearch(part));
    this.#lists = new TextSearch(forms.filter(({ isList }) => isList === true));
  }

  find(text: string, found: Span[]): void {
    for (const search of this.#always) search.find(text, found);
    if (mayHoldList(text)) this.#lists.find(text, found);
    findUrlPasswords(text, found);
  }
}

const isWide = ({ text }: Form): boolean => !isAscii(text);

/** As UTF-8, and as an escape writes a character of Latin-1 by its number. */
const inBytes = (form: Form): readonly Form[] =>
  isWide(form) ? [{ ...form, text: bytesOf(form.text) }, form] : [form];

/** A backslash before a secret belongs to its first letter (`\n`), and would be left without one. */
function withBackslash(text: string, { begin, end }: Span): Span {
  let slashes = 0;
  while (text.charCodeAt(begin - 1 - slashes) === 92) slashes += 1;
  return { begin: begin - (slashes % 2), end };
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

export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** Escapes what JSON lets through but a terminal or a line reader acts on (R3); the line stays the same JSON value. */
export function escapeLine(line: string): string {
  if (isAscii(line) && !line.includes('\u007f')) return line; // nearly always, and many times faster than the pattern
  return UNSEEN.test(line) ? escapeUnseen(line) : line;
}

/** Text for a terminal: control characters and bidi marks are shown, not obeyed. Tabs stay. */
export const escapeText = (text: string): string => escapeControls(text, '\t');

/** A line that is known to all, as the first one of a key, is none of them. */
const longLinesOf = (value: string): readonly string[] =>
  value.includes('\n')
    ? value.split(/\r?\n/).filter((line) => line.length >= SHORTEST_SHOWN && !line.startsWith('-----'))
    : [];
