// Text → lines of IRC. Pure.
//
//   L1  No CR, LF, NUL or other control character is ever inside a line: nothing can be injected, neither commands nor CTCP.
//   L2  A line as the server relays it, with our prefix, is at most 512 bytes with CR LF; a longer one is split, at a blank where there is
//       one, and never inside a character.
//   L3  A target is one word: what could be read as two, or as a parameter of its own, is none.

const LINE_BYTES = 510;
const USER_AND_HOST_BYTES = 1 + 11 + 1 + 63;

/** Most bytes of text that any message of ours may have: for the longest nick and target that are common. */
export const TEXT_BYTES = 340;

export interface Envelope {
  /** Ours, as it is now. */
  readonly nick: string;
  readonly target: string;
}

/** One line a non-empty line of the text, longer ones in pieces. */
export function messageLines(text: string, { nick, target }: Envelope): readonly string[] {
  const room = LINE_BYTES - bytes(`:${nick} PRIVMSG ${target} :`) - USER_AND_HOST_BYTES;
  return text.split(/\r\n|\r|\n/).flatMap((line) => split(inert(line), Math.max(room, 64)));
}

/** True for what may stand as the target of a message: a nick or a channel. */
export function isTarget(text: string): boolean {
  return /^[^:\s,\p{Cc}][^\s,\p{Cc}]{0,199}$/u.test(text);
}

/** Text of a line that came, without the codes for colours and marks. */
export function withoutFormatting(text: string): string {
  return text
    .replace(/\u0003(?:\d{1,2}(?:,\d{1,2})?)?|\u0004(?:[0-9a-fA-F]{6}(?:,[0-9a-fA-F]{6})?)?/g, '')
    .replace(/\p{Cc}/gu, (code) => (code === '\t' ? ' ' : ''));
}

const inert = (line: string): string =>
  line
    .replace(/\t/g, ' ')
    .replace(/\p{Cc}/gu, '')
    .trimEnd();
const bytes = (text: string): number => Buffer.byteLength(text);

function split(line: string, room: number): readonly string[] {
  const pieces: string[] = [];
  let rest = line;
  while (bytes(rest) > room) {
    const fits = prefixOf(rest, room);
    const blank = fits.lastIndexOf(' ');
    const cut = blank > fits.length / 2 ? blank : fits.length;
    pieces.push(rest.slice(0, cut));
    rest = rest.slice(cut).trimStart();
  }
  return [...pieces, rest].filter((piece) => piece !== '');
}

/** The longest beginning of whole characters that fits. */
function prefixOf(text: string, room: number): string {
  let used = 0;
  let end = 0;
  for (const character of text) {
    used += bytes(character);
    if (used > room) break;
    end += character.length;
  }
  return text.slice(0, end);
}
