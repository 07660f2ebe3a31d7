// A line of the server → what arrived. Pure.
//
//   P1  Own messages, notices (an answer to one may loop, RFC 2812 3.3.2) and requests of clients to clients (CTCP, but ACTION) are no arrivals.
//   P2  In private the bot is always spoken to; in a channel by "nick: …", "nick, …" or "@nick …", which is then not part of the text.
//   P3  Conversations and users have the server's lower case of channel and nick as id. A nick is no proof of who somebody is: name operators
//       over IRC only on networks that protect nicks.
import type { Arrival } from '../../sdk/index.ts';
import { plainText } from '../../sdk/message.ts';
import { alsoMarked, behind, readCodes, textOf } from './formatting.ts';

export interface Line {
  readonly command: string;
  readonly params: readonly string[];
  readonly nick: string;
  readonly tags: Readonly<Record<string, string>>;
}
export interface Context {
  /** Ours, as it is now. */
  readonly nick: string;
  /** For a line to which the server gave no msgid. */
  readonly id: string;
  /** For a line to which the server gave no time; epoch ms. */
  readonly now: number;
  readonly channelTypes: readonly string[];
  /** Lower case by the server's own rule. */
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

/** The channel of a target, without the mark that says to which of its members alone it went. */
function channelOf(target: string, { channelTypes }: Context): string | undefined {
  const bare = target.replace(/^[~&@%+](?=[#&+!])/, '');
  return channelTypes.includes(bare.charAt(0)) ? bare : undefined;
}

/** How long the address is with which it begins. */
function spokenTo(text: string, { nick, lower }: Context): { readonly address: number; readonly isSpokenTo: boolean } {
  const [whole, at, name = '', sign] = /^\s*(@?)([^\s:,@]+)([:,]?)(?:\s+|$)/.exec(text) ?? [];
  const isSpokenTo = whole !== undefined && lower(name) === lower(nick) && (at === '@' || sign !== '');
  return { address: isSpokenTo ? whole.length : 0, isSpokenTo };
}
