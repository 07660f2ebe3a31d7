// Strict reading of untrusted JSON: a text that two parsers could read differently is refused before a value is built.
//
//   JSON-1  UTF-8 without a byte order mark, without lone surrogates, and no number beyond a double.
//   JSON-2  Depth and number of keys are bounded. One pass over the text checks that, without recursion.
//   JSON-3  No key occurs twice in an object, and none is `__proto__`, `constructor` or `prototype`.
//
// JSON.parse checks the grammar. None of the project's libraries covers depth, number of keys and duplicate keys.

export type JsonVerdict =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'too_large'; readonly reason: string };

export const DEEPEST_JSON = 32;
export const MOST_JSON_KEYS = 10_000;

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
/** In unicode mode a surrogate pair is one character, so this matches lone halves only. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const ARRAY = 0x5b;
const ARRAY_END = 0x5d;
const MINUS = 0x2d;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const malformed = (reason: string): JsonVerdict => ({ kind: 'malformed', reason });

/** Reads one JSON document. Pure; takes a few milliseconds at most for a body within its limit. */
export function readStrictJson(bytes: Uint8Array): JsonVerdict {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return malformed('the body is not UTF-8');
  }
  const fault = scan(text);
  if (fault !== undefined) return fault;
  try {
    return { kind: 'value', value: JSON.parse(text) as unknown };
  } catch {
    return malformed('the body is not JSON');
  }
}

interface Scan {
  readonly text: string;
  /** Open containers: the keys so far of an object, undefined for an array. */
  readonly open: (Set<string> | undefined)[];
  keys: number;
}

/** Scans the tokens of the text up to the first fault. */
function scan(text: string): JsonVerdict | undefined {
  const state: Scan = { text, open: [], keys: 0 };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    let fault: JsonVerdict | undefined;
    if (code === QUOTE) {
      const end = endOfString(text, at);
      fault = end === -1 ? malformed('the body is not JSON') : findStringFault(state, at, end);
      at = end;
    } else if (code === OBJECT || code === ARRAY) {
      fault = state.open.length === DEEPEST_JSON ? tooDeep : undefined;
      state.open.push(code === OBJECT ? new Set() : undefined);
    } else if (code === OBJECT_END || code === ARRAY_END) {
      state.open.pop();
    } else if (code === MINUS || (code >= 0x30 && code <= 0x39)) {
      const end = endOfNumber(text, at);
      fault = Number.isFinite(Number(text.slice(at, end)))
        ? undefined
        : malformed('a number is malformed or out of range');
      at = end - 1;
    }
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const tooManyKeys: JsonVerdict = { kind: 'too_large', reason: `the body has more than ${MOST_JSON_KEYS} keys` };
const tooDeep: JsonVerdict = malformed(`the body is nested deeper than ${DEEPEST_JSON}`);

function findStringFault(state: Scan, at: number, end: number): JsonVerdict | undefined {
  const quoted = state.text.slice(at, end + 1);
  const names = state.open.at(-1);
  if (names === undefined || !isKey(state.text, end + 1)) {
    return hasLoneSurrogate(quoted) ? malformed('a string holds half a character') : undefined;
  }
  state.keys += 1;
  return state.keys > MOST_JSON_KEYS ? tooManyKeys : findKeyFault(quoted, names);
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return -1;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && '0123456789+-.eE'.includes(text.charAt(at))) at += 1;
  return at;
}

function isKey(text: string, from: number): boolean {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at += 1;
  return text.charAt(at) === ':';
}

function findKeyFault(quoted: string, names: Set<string>): JsonVerdict | undefined {
  const name = unquote(quoted);
  if (name === undefined || LONE_SURROGATE.test(name)) return malformed('a key is malformed');
  if (FORBIDDEN_KEYS.has(name)) return malformed('a key has a name that is not taken');
  if (names.has(name)) return malformed('a key occurs twice');
  names.add(name);
  return undefined;
}

function hasLoneSurrogate(quoted: string): boolean {
  if (!quoted.includes('\\u')) return false;
  return LONE_SURROGATE.test(unquote(quoted) ?? '');
}

function unquote(quoted: string): string | undefined {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}
