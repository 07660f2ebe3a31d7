// Reactions: QQ numbers its own faces, and names emoji by their code point. Pure.
//
// A number above MOST_FACES is a code point (👍 is 128077); one below is a face, shown to plugins as `face:76`.
const MOST_FACES = 2_000;

export function fromEmojiId(id: string): string {
  const number = Number(id);
  if (!/^\d{1,7}$/.test(id) || number <= MOST_FACES || number > 0x10_ffff) return `face:${id}`;
  return String.fromCodePoint(number);
}

/** Undefined for what is neither an emoji nor a face. */
export function toEmojiId(emoji: string): string | undefined {
  const [, face] = /^face:(\d{1,7})$/.exec(emoji) ?? [];
  if (face !== undefined) return face;
  const code = emoji.codePointAt(0);
  return code !== undefined && code > MOST_FACES ? String(code) : undefined;
}
