// Turns a line of the server into an event. Pure.
//
//   IRC-PARSE-1  Own messages, notices and CTCP requests other than ACTION produce no events. An answer to a notice may loop (RFC 2812 3.3.2).
//   IRC-PARSE-2  A private message always addresses the bot. In a channel "nick: …", "nick, …" or "@nick …" does, and the nick is removed from the
//                text.
//   IRC-PARSE-3  Ids of conversations and users are lower-case channels and nicks, by the server's rule. A nick does not prove an identity. Configure
//                operators over IRC only on networks that protect nicks.
import type { Arrival } from '../../sdk/index.ts';
import { plainText } from '../../sdk/message.ts';
import { trimUnseen, UNSEEN } from '../../sdk/text/unseen-edges.ts';
import { alsoMarked, behind, readCodes, textOf } from './formatting.ts';

export interface Line {
  readonly command: string;
  readonly params: readonly string[];
  readonly nick: string;
  readonly tags: Readonly<Record<string, string>>;
}
export interface Context {
  /** Our current nick. */
  readonly nick: string;
  /** Id for a line without a msgid. */
  readonly id: string;
  /** Time for a line without a server time, in epoch ms. */
  readonly now: number;
  readonly channelTypes: readonly string[];
  /** Lower case by the server's rule (CASEMAPPING). */
  readonly lower: (text: string) => string;
}

export function arrivalOf(line: Line, context: Context): Arrival | undefined {
  if (line.nick === '' || context.lower(line.nick) === context.lower(context.nick)) return undefined;
  switch (line.command) {
    case 'PRIVMSG':
      return message(line, context);
    case 'JOIN':
      return member(line, { channel: line.params[0], who: line.nick, change: 'joined' }, context);
    case 'PART':
      return member(line, { channel: line.params[0], who: line.nick, change: 'left' }, context);
    case 'KICK':
      return member(line, { channel: line.params[0], who: line.params[1], change: 'left' }, context);
    default:
      return undefined;
  }
}

function message(line: Line, context: Context): Arrival | undefined {
  const [target = '', raw = ''] = [line.params[0], line.params.at(-1)];
  const action = /^\u0001ACTION (.*?)\u0001?$/s.exec(raw)?.[1];
  if (action === undefined && raw.startsWith('\u0001')) return undefined;
  const channel = channelOf(target, context);
  const said = readCodes(action ?? raw);
  const { address, isSpokenTo } = spokenTo(plainText(said), context);
  const base = baseOf(line, channel ?? line.nick, context);
  return {
    ...base,
    kind: 'message',
    message: base.id,
    text: textOf(action === undefined ? behind(said, address) : alsoMarked(said, 'italic')),
    addressed: channel === undefined || isSpokenTo,
  };
}

interface Membership {
  readonly channel: string | undefined;
  readonly who: string | undefined;
  readonly change: 'joined' | 'left';
}

function member(line: Line, { channel = '', who = '', change }: Membership, context: Context): Arrival | undefined {
  const known = channelOf(channel, context);
  if (known === undefined || who === '' || context.lower(who) === context.lower(context.nick)) return undefined;
  return { ...baseOf(line, known, context), kind: 'member', who: context.lower(who), change };
}

function baseOf(line: Line, place: string, context: Context): Pick<Arrival, 'id' | 'conversation' | 'user' | 'sentAt'> {
  const sentAt = Date.parse(line.tags['time'] ?? '');
  const kind = channelOf(place, context) === undefined ? 'private' : 'group';
  return {
    id: line.tags['msgid'] || context.id,
    conversation: { id: context.lower(place), kind, name: place },
    user: { id: context.lower(line.nick), name: line.nick, admin: false },
    sentAt: Number.isFinite(sentAt) ? sentAt : context.now,
  };
}

/** The channel of a target, without a prefix that limits the message to some members, such as `@#channel`. */
function channelOf(target: string, { channelTypes }: Context): string | undefined {
  const bare = target.replace(/^[~&@%+](?=[#&+!])/, '');
  return channelTypes.includes(bare.charAt(0)) ? bare : undefined;
}

const ADDRESS = new RegExp(`^[${UNSEEN}]*(@?)([^\\s:,@]+)([:,]?)(?:[${UNSEEN}]+|$)`, 'u');

/** Whether the text addresses the bot, and the length of that address. */
function spokenTo(text: string, { nick, lower }: Context): { readonly address: number; readonly isSpokenTo: boolean } {
  const [whole, at, name = '', sign] = ADDRESS.exec(text) ?? [];
  const isSpokenTo = whole !== undefined && lower(trimUnseen(name)) === lower(nick) && (at === '@' || sign !== '');
  return { address: isSpokenTo ? whole.length : 0, isSpokenTo };
}
