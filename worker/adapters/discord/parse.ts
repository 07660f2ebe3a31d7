// Turns gateway dispatches into events for the inbox. Pure.
//
//   DISCORD-PARSE-1  Ids of deliveries begin with the application. Messages, edits and interactions use Discord's ids, so replays and fetched history
//                    are recognized as duplicates. Events without an id, such as reactions, use their session and sequence number.
//   DISCORD-PARSE-2  An update counts as an edit only with an edit time. Discord also sends updates for link previews.
//   DISCORD-PARSE-3  A message addresses the bot in private, by mention, or as a reply to the bot. A leading mention is removed from the text.
//                    Discord's role for the bot counts as a mention, because it looks like the bot's name when typed.
//   DISCORD-PARSE-4  Events of other bots and of webhooks are ignored, unless the account enables them.
//   DISCORD-PARSE-5  Unknown events are ignored. Events listed under `events` of the account arrive unchanged.

import type { Arrival } from '../../sdk/index.ts';
import { type Json, listAt, objectAt, textAt, textsAt } from '../../sdk/platform/foreign-json.ts';
import { withoutMention } from '../../sdk/text/segment-list.ts';
import { interactionArrivals } from './interactions/interactions.ts';
import { conversationOf, filesOf, messageId, NOBODY, nameOf, shownIn, timeOf } from './place.ts';
import { plainWhereText, segmentsOf } from './text.ts';

/** One dispatch of a session. */
export interface Told {
  readonly type: string;
  readonly data: Json;
  readonly session: string;
  readonly seq: number;
}

export interface Context {
  readonly application: string;
  /** User id of our bot. */
  readonly bot: string | undefined;
  readonly now: number;
  readonly events: readonly string[];
  /** Whether events of other bots count. */
  readonly bots: boolean;
  /** Whether this person administers the server. */
  isAdmin(guild: string, user: string, roles: readonly string[]): boolean;
  /** The bot's own role in the server. */
  roleIn(guild: string): string | undefined;
  /** The other person of a private channel. */
  personIn(channel: string): string | undefined;
}

/** Types of messages written by a person: DEFAULT, REPLY, CHAT_INPUT_COMMAND, CONTEXT_MENU_COMMAND. */
const SAID: ReadonlySet<unknown> = new Set([undefined, 0, 19, 20, 23]);
const USER_JOIN = 7;
const FORWARD = 1;

/** Never throws. An unreadable dispatch becomes `other`, because Discord does not repeat it. */
export function arrivalsOf(told: Told, context: Context): readonly Arrival[] {
  try {
    const arrivals = known(told, context);
    return context.events.includes(told.type) ? [...arrivals, other(told, told.type, context)] : arrivals;
  } catch {
    return [other(told, 'unreadable', context)];
  }
}

function known(told: Told, context: Context): readonly Arrival[] {
  const { data, type } = told;
  switch (type) {
    case 'MESSAGE_CREATE':
      return said(data, context);
    case 'MESSAGE_UPDATE':
      return edited(data, context);
    case 'MESSAGE_DELETE':
      return deleted(data, [textAt(data, 'id') ?? ''], context);
    case 'MESSAGE_DELETE_BULK':
      return deleted(data, textsAt(data, 'ids'), context);
    case 'MESSAGE_REACTION_ADD':
    case 'MESSAGE_REACTION_REMOVE':
      return reaction(told, context);
    case 'INTERACTION_CREATE':
      return interactionArrivals(data, context);
    default:
      return [];
  }
}

/** Accepts a message of the gateway, or one of a channel's history with `guild_id` added. */
export function said(message: Json, context: Context): readonly Arrival[] {
  const [id, channel] = [textAt(message, 'id'), textAt(message, 'channel_id')];
  if (id === undefined || channel === undefined) throw new Error('a message without id or channel');
  const delivery = `${context.application}/m/${id}`;
  if (message['type'] === USER_JOIN) {
    const base = baseOf(message, context);
    return [{ ...base, id: delivery, kind: 'member', who: base.user.id, change: 'joined' }];
  }
  const isTaken = SAID.has(message['type']) && !isForeignBot(message, objectAt(message, 'author'), context);
  const words = isTaken ? wordsOf(message, context) : undefined;
  return words === undefined ? [] : [{ ...words, id: delivery, kind: 'message' }];
}

/** Only a message with an edit time is an edit. Accepts the same messages as `said`. */
export function edited(message: Json, context: Context): readonly Arrival[] {
  const [id, at] = [textAt(message, 'id'), textAt(message, 'edited_timestamp')];
  if (id === undefined || at === undefined || !SAID.has(message['type']) || !('author' in message)) return [];
  if (isForeignBot(message, objectAt(message, 'author'), context)) return [];
  const words = wordsOf(message, context);
  const sentAt = Date.parse(at);
  return words === undefined
    ? []
    : [
        {
          ...words,
          ...(Number.isNaN(sentAt) ? {} : { sentAt }),
          id: `${context.application}/e/${id}/${at}`,
          kind: 'edited',
        },
      ];
}

/** True for other bots and webhooks, unless the account enables them. */
const isForeignBot = (about: Json, user: Json, { bots, bot, application }: Context): boolean =>
  !bots &&
  (user['bot'] === true || 'webhook_id' in about) &&
  user['id'] !== bot &&
  textAt(about, 'application_id') !== application;

type Words = Omit<Extract<Arrival, { kind: 'message' | 'edited' }>, 'kind' | 'id'>;

/** Undefined without text: the intent MESSAGE_CONTENT is missing, or the message contains embeds only. */
function wordsOf(message: Json, context: Context): Words | undefined {
  const channel = textAt(message, 'channel_id') ?? '';
  const shown = shownIn(message);
  const typed = textAt(shown, 'content') ?? (pollOf(shown) || stickersOf(shown));
  const role = ownRole(message, context);
  const content = role === undefined ? typed : typed.replaceAll(`<@&${role}>`, `<@${context.bot}>`);
  const heard = segmentsOf(content, { everyone: message['mention_everyone'] === true });
  const files = filesOf(message, channel);
  if (heard.length === 0 && files.length === 0) return undefined;
  const base = baseOf(message, context);
  const answered = objectAt(message, 'message_reference');
  const to = answered['type'] === FORWARD ? undefined : textAt(answered, 'message_id');
  return {
    ...base,
    message: messageId(channel, textAt(message, 'id') ?? ''),
    text: plainWhereText(withoutMention(heard, context.bot)),
    addressed: base.conversation.kind === 'private' || isMeant(message, context),
    ...(to === undefined ? {} : { replyTo: messageId(textAt(answered, 'channel_id') ?? channel, to) }),
    ...(files.length === 0 ? {} : { files }),
  };
}

/** The poll's question and its possible answers. */
function pollOf(message: Json): string {
  const poll = objectAt(message, 'poll');
  const question = textAt(objectAt(poll, 'question'), 'text');
  if (question === undefined) return '';
  const answers = listAt(poll, 'answers').map((answer) => objectAt(answer, 'poll_media'));
  const lines = answers.map((media) => textAt(media, 'text') ?? textAt(objectAt(media, 'emoji'), 'name') ?? '…');
  return [question, ...lines.map((line) => `• ${line}`)].join('\n');
}

const stickersOf = (message: Json): string =>
  listAt(message, 'sticker_items')
    .map((sticker) => `:${textAt(sticker, 'name') ?? 'sticker'}:`)
    .join(' ');

/** True if the message addresses the bot. A reply to the bot mentions it, unless its author switched that off. */
export const isMeant = (message: Json, context: Context): boolean =>
  context.bot !== undefined &&
  (listAt(message, 'mentions').some((user) => user['id'] === context.bot) ||
    textsAt(message, 'mention_roles').some((role) => role === ownRole(message, context)) ||
    textAt(objectAt(objectAt(message, 'referenced_message'), 'author'), 'id') === context.bot);

function ownRole(message: Json, context: Context): string | undefined {
  const guild = textAt(message, 'guild_id');
  return guild === undefined ? undefined : context.roleIn(guild);
}

function baseOf(message: Json, context: Context): Pick<Words, 'conversation' | 'user' | 'sentAt'> {
  const [channel, guild] = [textAt(message, 'channel_id') ?? '', textAt(message, 'guild_id')];
  const [author, member] = [objectAt(message, 'author'), objectAt(message, 'member')];
  const id = textAt(author, 'id') ?? NOBODY.id;
  const isSelf = id === context.bot || textAt(message, 'application_id') === context.application;
  const person = isSelf ? context.personIn(channel) : id;
  return {
    conversation: conversationOf({ channel, guild, person }),
    user: {
      id,
      name: nameOf(author, member),
      admin: guild !== undefined && context.isAdmin(guild, id, textsAt(member, 'roles')),
      ...(isSelf ? { self: true } : {}),
    },
    sentAt: saidAt(message) ?? context.now,
  };
}

function saidAt(message: Json): number | undefined {
  const at = Date.parse(textAt(message, 'timestamp') ?? '');
  return Number.isNaN(at) ? timeOf(textAt(message, 'id') ?? '') : at;
}

/** Discord does not tell who deleted the message. */
function deleted(data: Json, ids: readonly string[], context: Context): readonly Arrival[] {
  const channel = textAt(data, 'channel_id') ?? '';
  const conversation = conversationOf({ channel, guild: textAt(data, 'guild_id'), person: context.personIn(channel) });
  return ids.map((id) => ({
    id: `${context.application}/d/${id}`,
    kind: 'deleted',
    conversation,
    user: NOBODY,
    sentAt: context.now,
    message: messageId(channel, id),
  }));
}

function reaction(told: Told, context: Context): readonly Arrival[] {
  const { data } = told;
  const [channel = '', message = '', user = NOBODY.id] = [
    textAt(data, 'channel_id'),
    textAt(data, 'message_id'),
    textAt(data, 'user_id'),
  ];
  const emoji = objectAt(data, 'emoji');
  const [name, custom] = [textAt(emoji, 'name'), textAt(emoji, 'id')];
  const guild = textAt(data, 'guild_id');
  const isSelf = user === context.bot;
  const member = objectAt(data, 'member');
  if (isForeignBot({}, { id: user, ...objectAt(member, 'user') }, context)) return [];
  return [
    {
      id: numbered(told, context),
      kind: 'reaction',
      conversation: conversationOf({ channel, guild, person: isSelf ? context.personIn(channel) : user }),
      user: {
        id: user,
        name: nameOf({ id: user, ...objectAt(member, 'user') }, member),
        admin: false,
        ...(isSelf ? { self: true } : {}),
      },
      sentAt: context.now,
      message: messageId(channel, message),
      emoji: custom === undefined ? (name ?? '') : `${name ?? '_'}:${custom}`,
      on: told.type === 'MESSAGE_REACTION_ADD',
    },
  ];
}

/** Id for events without one: the session and the sequence number in it. */
const numbered = ({ session, seq }: Told, { application }: Context): string => `${application}/s/${session}/${seq}`;

function other(told: Told, type: string, context: Context): Arrival {
  const { token: _, ...raw } = told.data;
  const [channel, guild] = [textAt(raw, 'channel_id'), textAt(raw, 'guild_id')];
  const user = 'user' in raw ? objectAt(raw, 'user') : objectAt(raw, 'author');
  const id = textAt(user, 'id') ?? textAt(raw, 'user_id') ?? NOBODY.id;
  return {
    id: `${numbered(told, context)}/${type}`,
    kind: 'other',
    conversation: { id: channel ?? guild ?? 'discord', kind: 'group' },
    user: {
      id,
      name: id === NOBODY.id ? NOBODY.name : nameOf({ id, ...user }),
      admin: false,
      ...(id === context.bot ? { self: true } : {}),
    },
    sentAt: context.now,
    type,
    raw,
  };
}
