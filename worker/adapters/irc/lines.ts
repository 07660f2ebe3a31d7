// Text → lines of IRC. Pure.
//
//   L1  No CR, LF, NUL or other control character but the codes of marks is ever inside a line: nothing can be injected, neither commands
//       nor CTCP.
//   L2  A line as the server relays it, with our prefix, is at most 512 bytes with CR LF, its codes included; a longer one is split, at a
//       blank where there is one, and never inside a character. Each piece ends the codes that it began, and the next begins them again.
//   L3  A target is one word: what could be read as two, or as a parameter of its own, is none.
import { MOST_CODE_BYTES, onlyCodes, openIn, withoutCodes } from './formatting.ts';

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
