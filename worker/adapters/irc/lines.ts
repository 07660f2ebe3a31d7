// Splits text into IRC lines. Pure.
//
//   IRC-LINES-1  A line contains no CR, LF, NUL or other control character, except codes of marks. So neither commands nor CTCP can be injected.
//   IRC-LINES-2  A line as the server relays it, with our prefix, has at most 512 bytes including CR LF and codes. A longer one is split at a space
//                if possible, never inside a character. Each piece ends its open codes, and the next begins them again.
//   IRC-LINES-3  A target is one word. A text that would split into two words or parameters is no valid target.
import { MOST_CODE_BYTES, onlyCodes, openIn, withoutCodes } from './formatting.ts';

const LINE_BYTES = 510;
const USER_AND_HOST_BYTES = 1 + 11 + 1 + 63;

/** Text bytes that fit into every message, for the longest common nick and target. */
export const TEXT_BYTES = 340;

export interface Envelope {
  /** Our current nick. */
  readonly nick: string;
  readonly target: string;
}

/** One line for each non-empty line of the text. Longer ones are split. */
export function messageLines(text: string, { nick, target }: Envelope): readonly string[] {
  const room = LINE_BYTES - bytes(`:${nick} PRIVMSG ${target} :`) - USER_AND_HOST_BYTES;
  return text.split(/\r\n|\r|\n/).flatMap((line) => split(inert(line), Math.max(room, 64)));
}

/** True for a nick or channel that may be the target of a message. */
export function isTarget(text: string): boolean {
  return /^[^:\s,\p{Cc}][^\s,\p{Cc}]{0,199}$/u.test(text);
}

const inert = (line: string): string => onlyCodes(line.replace(/\t/g, ' ')).trimEnd();
const isBlank = (line: string): boolean => withoutCodes(line).trim() === '';
const bytes = (text: string): number => Buffer.byteLength(text);

function split(line: string, room: number): readonly string[] {
  const pieces: string[] = [];
  let rest = line;
  while (bytes(rest) > room) {
    const fits = prefixOf(rest, room - MOST_CODE_BYTES);
    const blank = fits.lastIndexOf(' ');
    const cut = blank > fits.length / 2 ? blank : fits.length;
    const piece = rest.slice(0, cut);
    const open = openIn(piece);
    pieces.push(piece + open.toReversed().join(''));
    rest = open.join('') + rest.slice(cut).trimStart();
  }
  return [...pieces, rest].filter((one) => !isBlank(one));
}

/** The longest prefix of whole characters that fits. */
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
