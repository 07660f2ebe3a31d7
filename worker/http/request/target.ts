// Parses a request target once. Authentication and routing use that result and nothing else.
//
//   TARGET-1  A target with two possible readings is malformed. Examples are absolute form, `//`, backslash, dot segments in any spelling,
//             and encoded slashes. So are encoded letters, digits and dots, control characters, and bytes outside ASCII. Encoded `~`, `-`
//             and `_` are accepted, because some clients encode the `~` in account names. No route is spelled with them.
//   TARGET-2  The path is decoded once, segment by segment. No decoded segment contains a slash, so the joined path is unambiguous.
//   TARGET-3  A query parameter occurs once.

export interface Target {
  /** Decoded; starts with a slash; contains no empty and no dot segment. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

export type TargetVerdict =
  | { readonly kind: 'target'; readonly target: Target }
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'too_long' };

export const LONGEST_TARGET = 8_192;
const MOST_PARAMETERS = 50;

const PATH = /^(?:\/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)*\/?$/;
const DOT_SEGMENT = /\/\.{1,2}(?:;[^/]*)?(?:\/|$)/;
const ENCODED_PLAIN = /%(?:2e|3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])/i;
const QUERY = /^[\x21\x22\x24-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
const UNWANTED = /[\u0000-\u001f\u007f-\u009f/\\%\ufffd]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Reads `request.url`. Pure. */
export function parseTarget(raw: string): TargetVerdict {
  if (raw.length > LONGEST_TARGET) return { kind: 'too_long' };
  const mark = raw.indexOf('?');
  const path = readPath(mark === -1 ? raw : raw.slice(0, mark));
  if (path === undefined) return { kind: 'malformed', reason: 'the path of the target is malformed' };
  const query = readQuery(mark === -1 ? '' : raw.slice(mark + 1));
  if (query === undefined)
    return { kind: 'malformed', reason: 'the query of the target is malformed or repeats a parameter' };
  return { kind: 'target', target: { path, query } };
}

function readPath(raw: string): string | undefined {
  if (!raw.startsWith('/') || !PATH.test(raw) || DOT_SEGMENT.test(raw)) return undefined;
  if (!raw.includes('%')) return raw;
  if (ENCODED_PLAIN.test(raw)) return undefined;
  const segments: string[] = [];
  for (const segment of raw.split('/')) {
    const decoded = decode(segment);
    if (decoded === undefined || UNWANTED.test(decoded)) return undefined;
    segments.push(decoded);
  }
  return segments.join('/');
}

const NO_QUERY: Readonly<Record<string, string>> = Object.freeze(Object.create(null) as Record<string, string>);

function readQuery(raw: string): Readonly<Record<string, string>> | undefined {
  if (raw === '') return NO_QUERY;
  if (!QUERY.test(raw)) return undefined;
  const pairs = raw.split('&');
  if (pairs.length > MOST_PARAMETERS) return undefined;
  const query = Object.create(null) as Record<string, string>;
  for (const pair of pairs) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode((equals === -1 ? pair : pair.slice(0, equals)).replaceAll('+', ' '));
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1).replaceAll('+', ' '));
    if (name === undefined || value === undefined || name === '' || name in query) return undefined;
    if (CONTROL.test(name) || CONTROL.test(value)) return undefined;
    query[name] = value;
  }
  return query;
}

/** Strict percent-decoding: undefined for an invalid escape or invalid UTF-8. */
function decode(text: string): string | undefined {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
