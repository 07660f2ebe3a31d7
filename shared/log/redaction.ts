// Masks secrets in text that leaves the process: by value, in each of its encodings, and by key.
//
//   REDACTION-1  A registered value is masked in all its encodings, such as hex, base64 and escaped text. Of a multi-line value, like a
//                private key, each longer line is masked by itself, because lines may be logged apart. The password of any URL is masked.
//   REDACTION-2  A string is masked if its key ends in token, secret, password, authorization, cookie, api key or similar.
//   REDACTION-3  Characters that could fake a line or move the cursor are escaped: controls, DEL, bidi marks and line separators.
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

/** Shorter values would mask ordinary words. They are masked by key only. */
const SHORTEST_VALUE = 4;
/** In texts written by people, a shorter secret may be an ordinary word. */
const SHORTEST_SHOWN = 16;
/** Shorter forms are searched for separately, because one of them slows down the search for all others. */
const LONG_FORM = 12;

/** `all`: passwords in URLs too. */
type Kinds = 'all' | 'registered';

export class SecretRegistry {
  readonly #values = new Set<string>();
  #plain = new FormSearch([]);
  /** Search for texts whose escapes were decoded. In such texts non-ASCII characters are UTF-8 bytes. */
  #bytes = this.#plain;
  /** True if decoding escapes would change one of the values. Escapes are then also decoded kind by kind. */
  #looksEscaped = false;
  #follower: ((values: readonly string[]) => void) | undefined;

  get values(): ReadonlySet<string> {
    return this.#values;
  }

  /** Registers secrets. Former values stay registered, since an old one may still be in use. */
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

  /** Calls `tell` with all values now, and again for each new one. One follower at a time. */
  follow(tell: (values: readonly string[]) => void): void {
    this.#follower = tell;
    if (this.#values.size > 0) tell([...this.#values]);
  }

  /** The text with every registered secret masked. */
  mask(text: string): string {
    return this.#replace(text, () => SECRET_MASK);
  }

  /** Like `mask`, but the text keeps its length. */
  cover(text: string): string {
    return this.#replace(text, (length) => '*'.repeat(length));
  }

  /** Where registered secrets stand in the text, in any encoding. Unlike `mask` it takes no password of a URL that was not registered. */
  find(text: string): readonly Span[] {
    return merged(this.#find(text, 'registered'));
  }

  #replace(text: string, by: (length: number) => string): string {
    const found = this.#find(text, 'all');
    return found.length === 0 ? text : replaced(text, merged(found), by);
  }

  #find(text: string, kinds: Kinds): readonly Span[] {
    const found: Span[] = [];
    this.#plain.find(text, found, kinds);
    for (const [index, span] of found.entries()) found[index] = withBackslash(text, span);
    if (mayHoldEscape(text)) {
      this.#findEscaped(text, { found, kinds });
      if (this.#looksEscaped) for (const sign of ESCAPE_SIGNS) this.#findEscaped(text, { found, kinds }, sign);
    }
    return found;
  }

  /** Searches each result of decoding the text's escapes repeatedly. */
  #findEscaped(text: string, { found, kinds }: { found: Span[]; readonly kinds: Kinds }, only?: EscapeSign): void {
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
      this.#bytes.find(at, here, kinds);
      found.push(...here.map(toSource));
    }
  }
}

/** Searches for forms, grouped by length and kind to keep it cheap, and for passwords in URLs. */
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

  find(text: string, found: Span[], kinds: Kinds): void {
    for (const search of this.#always) search.find(text, found);
    if (mayHoldList(text)) this.#lists.find(text, found);
    if (kinds === 'all') findUrlPasswords(text, found);
  }
}

const isWide = ({ text }: Form): boolean => !isAscii(text);

/** The form as UTF-8 bytes, and as Latin-1, where an escape names a character by its number. */
const inBytes = (form: Form): readonly Form[] =>
  isWide(form) ? [{ ...form, text: bytesOf(form.text) }, form] : [form];

/** Includes an escaping backslash before the secret (`\n`). Without its letter the backslash would escape the mask. */
function withBackslash(text: string, { begin, end }: Span): Span {
  let slashes = 0;
  while (text.charCodeAt(begin - 1 - slashes) === 92) slashes += 1;
  return { begin: begin - (slashes % 2), end };
}

/** Masks each secret in a text that is shown to people, such as a name. */
export function withoutSecrets(text: string, secrets: Iterable<string>): string {
  return [...secrets]
    .filter((secret) => secret.length >= SHORTEST_SHOWN)
    .sort((a, b) => b.length - a.length) // one may be part of another
    .reduce((shown, secret) => shown.replaceAll(secret, SECRET_MASK), text);
}

const SECRET_KEY =
  /(?:token|secret|password|passphrase|authorization|cookie|api[-_]?key|private[-_]?key|credentials?)$/i;
const KEY_END = '":"';
const LONGEST_NAME = 16;

/** Masks the strings under secret keys in a JSON line. */
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

/** The last two letters of the key names above: a quick check that rules out most keys. */
const LAST_LETTERS = new Set(
  ['en', 'et', 'rd', 'se', 'on', 'ie', 'ey', 'al', 'ls'].map((pair) => (pair.charCodeAt(0) << 8) | pair.charCodeAt(1)),
);

const mayEndSecretKey = (line: string, end: number): boolean =>
  LAST_LETTERS.has(((line.charCodeAt(end - 2) | 32) << 8) | line.charCodeAt(end - 1) | 32);

/** Index of the closing quote of a JSON string. */
function endOfString(line: string, from: number): number | undefined {
  for (let at = line.indexOf('"', from); at !== -1; at = line.indexOf('"', at + 1)) {
    let slashes = 0;
    while (line.charCodeAt(at - 1 - slashes) === 92) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return undefined;
}

export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

/** Escapes characters that JSON allows but a terminal or line reader acts on. The JSON value stays the same. */
export function escapeLine(line: string): string {
  if (isAscii(line) && !line.includes('\u007f')) return line; // nearly always true, and much faster than the pattern
  return UNSEEN.test(line) ? escapeUnseen(line) : line;
}

/** Escapes control characters and bidi marks for a terminal. Tabs stay. */
export const escapeText = (text: string): string => escapeControls(text, '\t');

/** The longer lines of a multi-line value. Header lines such as `-----BEGIN` are public and not masked. */
const longLinesOf = (value: string): readonly string[] =>
  value.includes('\n')
    ? value.split(/\r?\n/).filter((line) => line.length >= SHORTEST_SHOWN && !line.startsWith('-----'))
    : [];
