// Characters that have no visible shape. They can make two texts look alike, and terminals obey some of them. Pure.
//
//   VISIBLE-TEXT-1  `UNSEEN` covers controls, bidi marks, line separators and invisible characters. U+200C, U+200D and U+FE00 to U+FE0F are not
//                   included: they join letters or select the shape of an emoji.
//   VISIBLE-TEXT-2  `plainName` returns the visible text of a name (a button, file or account) on one line.
//   VISIBLE-TEXT-3  `escapeUnseen` writes each such character as `\u202e`, for terminals and logs.

const MARKS = '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069';
const INVISIBLE =
  '\\u00ad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u2060-\\u2065\\u206a-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';
const SEPARATORS = '\\u2028\\u2029';
const CONTROLS = '\\u007f-\\u009f';

/** The unseen characters that JSON does not escape: all except ASCII controls. */
export const UNSEEN = new RegExp(`[${CONTROLS}${SEPARATORS}${MARKS}${INVISIBLE}]`, 'u');
const UNSEEN_ALL = new RegExp(UNSEEN, 'gu');
const NOT_IN_NAMES = new RegExp(`[${MARKS}${INVISIBLE}]`, 'gu');
const BREAKS = new RegExp(`[\\u0000-\\u0020${CONTROLS}${SEPARATORS}]+`, 'gu');
const NOTHING_SEEN = '…';

/** The visible text of a name, on one line. */
export function plainName(name: string): string {
  const plain = name.replace(NOT_IN_NAMES, '').replace(BREAKS, ' ').trim();
  return plain === '' ? NOTHING_SEEN : plain;
}

/** Escapes unseen characters except ASCII controls, which JSON escapes itself. */
export const escapeUnseen = (text: string): string => text.replace(UNSEEN_ALL, unicodeEscape);

/** Escapes all unseen characters except those in `kept`, such as line feeds and tabs. */
export function escapeControls(text: string, kept: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return escapeUnseen(text.replace(/[\u0000-\u001f]/g, (one) => (kept.includes(one) ? one : unicodeEscape(one))));
}

/** Escapes each UTF-16 code unit: a character beyond U+FFFF has two. */
const unicodeEscape = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
