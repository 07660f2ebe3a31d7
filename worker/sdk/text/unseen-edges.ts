// Finds words among characters that nobody sees. Phones and copied texts put direction marks and zero-width spaces around a word. Pure.
//
//   UNSEEN-1  A word neither begins nor ends with a blank or a default-ignorable character of Unicode. Inside a word all characters stay: joiners
//             make letters and emoji.
//   UNSEEN-2  A variation selector or a tag behind a letter that is not ASCII stays: it is part of an emoji (a flag) or of a name's ideograph.
//   UNSEEN-3  The end of a text with a direction opened inside stays, because it closes that direction.
//   UNSEEN-4  Each edge is read once, character by character. A pattern such as `/\s+$/` would take quadratic time.

/** For character classes with flag `u`: what may stand around a word. */
export const UNSEEN = '\\s\\p{Default_Ignorable_Code_Point}';

/** The sign and the blanks between the bot's name and what is said to it. */
export const BEHIND_NAME = new RegExp(`^[${UNSEEN}:,]+`, 'u');

export const BEFORE_WORDS = new RegExp(`^[${UNSEEN}]+`, 'u');

const IS_UNSEEN = new RegExp(`^[${UNSEEN}]`, 'u');
const SHAPES = /^[\p{Variation_Selector}\u{e0020}-\u{e007f}]/u;
const OPENS_DIRECTION = /[\u202a\u202b\u202d\u202e\u2066-\u2068]/;

/** The text without what nobody sees at its edges. */
export function trimUnseen(text: string): string {
  const whole = text.trim();
  const start = startOf(whole);
  const end = endOf(whole, start);
  const word = whole.slice(start, end);
  return end < whole.length && OPENS_DIRECTION.test(word) ? whole.slice(start) : word;
}

/** True if the text shows nothing. */
export const isUnseen = (text: string): boolean => trimUnseen(text) === '';

/** The text without what nobody sees at the edges of each of its words. Blanks between words stay. */
export const trimWords = (text: string): string => text.trim().replace(/(?:\S|\ufeff)+/g, trimUnseen);

function startOf(text: string): number {
  let at = 0;
  while (at < text.length) {
    const letter = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (!IS_UNSEEN.test(letter)) break;
    at += letter.length;
  }
  return at;
}

function endOf(text: string, start: number): number {
  let end = text.length;
  let shaped = end;
  while (end > start) {
    const letter = letterBefore(text, end);
    if (!IS_UNSEEN.test(letter)) return letter > '\u007f' ? shaped : end;
    end -= letter.length;
    if (!SHAPES.test(letter)) shaped = end;
  }
  return start;
}

function letterBefore(text: string, end: number): string {
  const pair = text.codePointAt(end - 2) ?? 0;
  return pair > 0xff_ff ? String.fromCodePoint(pair) : text.charAt(end - 1);
}
