// Characters that are no text to look at: whoever reads past them takes one text for another, and a terminal obeys some of them. Pure.
//
//   V1  UNSEEN: controls, marks of the direction of writing, separators of lines, and what no font shows. What joins letters and picks the shape
//       of an emoji (U+200C, U+200D, U+FE00 to U+FE0F) is text.
//   V2  `plainName`: of a name that somebody gave (a button, a file, an account), the text that is seen, in one line.
//   V3  `escapeUnseen`: for terminals and logs, each of them as `\u202e`.

const MARKS = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
const INVISIBLE =
  '\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u2060-\\u2065\\u206a-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';
const SEPARATORS = '\\u2028\\u2029';
const CONTROLS = '\\u007f-\\u009f';

/** Of these JSON escapes none: V1 but for the controls of ASCII. */
export const UNSEEN = new RegExp(`[${CONTROLS}${SEPARATORS}${MARKS}${INVISIBLE}]`, 'u');
const UNSEEN_ALL = new RegExp(UNSEEN, 'gu');
const NOT_IN_NAMES = new RegExp(`[${MARKS}${INVISIBLE}]`, 'gu');
const BREAKS = new RegExp(`[\\u0000-\\u0020${CONTROLS}${SEPARATORS}]+`, 'gu');
const NOTHING_SEEN = '…';

/** V2. */
export function plainName(name: string): string {
  const plain = name.replace(NOT_IN_NAMES, '').replace(BREAKS, ' ').trim();
  return plain === '' ? NOTHING_SEEN : plain;
}

/** V3, but for the controls of ASCII, which JSON escapes by itself. */
export const escapeUnseen = (text: string): string => text.replace(UNSEEN_ALL, unicodeEscape);

/** V3; line feeds and tabs stay where they are named. */
export function escapeControls(text: string, kept: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return escapeUnseen(text.replace(/[\u0000-\u001f]/g, (one) => (kept.includes(one) ? one : unicodeEscape(one))));
}

/** By units: a character beyond the first plane is two of them. */
const unicodeEscape = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
