// Emoji for reactions. QQ numbers its own faces, and identifies emoji by code point. Pure.
//
// A number above MOST_FACES is a code point (👍 is 128077). Any other is a face, which plugins see as `face:76`.
const MOST_FACES = 2_000;

export function fromEmojiId(id: string): string {
  const number = Number(id);
  if (!/^\d{1,7}$/.test(id) || number <= MOST_FACES || number > 0x10_ffff) return `face:${id}`;
  return String.fromCodePoint(number);
}

/** Undefined if the text is neither an emoji nor a face. */
export function toEmojiId(emoji: string): string | undefined {
  const [, face] = /^face:(\d{1,7})$/.exec(emoji) ?? [];
  if (face !== undefined) return face;
  const code = emoji.codePointAt(0);
  return code !== undefined && code > MOST_FACES ? String(code) : undefined;
}
