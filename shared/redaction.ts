// Keeps secrets out of text that leaves the process: by value, in each form in which one turns up, and by key.
//
//   R1  A registered value is masked in a line as it is, JSON-escaped (once and twice), URL-encoded, in hex, and in base64 and base64url at each of the three alignments.
//   R2  A string under a key whose name ends in token, secret, password, authorization, cookie, api key or the like is masked whatever its value.
//   R3  What could fake a line or move the cursor (control characters, DEL, bidi marks, line separators) is escaped.
import { SECRET_MASK } from './secret.ts';

/** Shorter values would mask ordinary words; they are kept out by key only. */
const SHORTEST_VALUE = 4;
const SHORTEST_FORM = 6;

export class SecretRegistry {
  readonly #values = new Set<string>();
  #forms: readonly string[] = [];

  /** Registers the texts of secrets; those that were there stay, since an old one may still be in flight. */
  add(values: Iterable<string>): void {
    for (const value of values) if (value.length >= SHORTEST_VALUE) this.#values.add(value);
    this.#forms = [...new Set([...this.#values].flatMap(formsOf))].sort((a, b) => b.length - a.length);
  }

  /** The text with every registered secret masked (R1). */
  mask(text: string): string {
    let masked = text;
    for (const form of this.#forms) if (masked.includes(form)) masked = masked.replaceAll(form, SECRET_MASK);
    return masked;
  }
}

const SECRET_KEY =
  /(token|secret|password|passphrase|authorization|cookie|api[-_]?key|private[-_]?key|credentials?)":"(?:[^"\\]|\\.)*"/gi;

/** Masks strings under secret keys in a line of JSON (R2). */
export function maskKeys(line: string): string {
  return line.replace(SECRET_KEY, `$1":"${SECRET_MASK}"`);
}

const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const UNSAFE_ALL = new RegExp(UNSAFE, 'g');

/** Escapes what JSON lets through but a terminal or a line reader acts on (R3); the line stays the same JSON value. */
export function escapeLine(line: string): string {
  if (!UNSAFE.test(line)) return line;
  return line.replace(UNSAFE_ALL, unicodeEscape);
}

/** Text for a terminal: control characters and bidi marks are shown, not obeyed. Tabs stay. */
export function escapeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return text.replace(/[\u0000-\u0008\u000a-\u001f]/g, unicodeEscape).replace(UNSAFE_ALL, unicodeEscape);
}

const unicodeEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

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
