// Turns an event into an event of the host. Pure. Events are the same over HTTP, over WebSocket and in a history.
//
//   ONEBOT11-PARSE-1  OneBot events have no delivery id. A message's id consists of the bot, its message id and its second, because 32-bit ids recur.
//                     Any other event's id is the bot and a hash of all fields. So a repeated event is a duplicate, and two identical notices within
//                     one second count as one.
//   ONEBOT11-PARSE-2  All ids begin with the bot's number, so another bot on the same account never collides with the former one.
//   ONEBOT11-PARSE-3  The bot's own messages are marked, or dropped (`message_sent`). Events of other bots are dropped. Meta events produce no
//                     events.
//   ONEBOT11-PARSE-4  Notices and requests without an equivalent arrive as `other`. Typing notices are dropped.
import { createHash } from 'node:crypto';
import type { Arrival, RawRequest } from '../../sdk/index.ts';
import { isObject, type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';
import type { Account } from './config.ts';
import { fromEmojiId } from './message/emoji.ts';
import { idAt, numberAt } from './message/json.ts';
import { readMessage } from './message/message.ts';
import { placeName } from './place.ts';

export interface EventContext {
  /** The bot's number if known. Events of other bots are dropped then. */
  readonly self: string | undefined;
  readonly now: number;
}

/** The events of a verified request. Throws if the body is no OneBot event. */
export function parse({ body, receivedAt }: RawRequest, { selfId }: Pick<Account, 'selfId'>): readonly Arrival[] {
  const event = safeJson(Buffer.from(body).toString('utf8'));
  if (!isObject(event)) throw new Error('not an event');
  return arrivalsOf(event, { self: selfId, now: receivedAt });
}

const YEAR_2100 = Date.UTC(2100);

/** At most one event. Throws if the object is none. */
export function arrivalsOf(event: Json, { self, now }: EventContext): readonly Arrival[] {
  const [type, bot] = [textAt(event, 'post_type'), idAt(event, 'self_id')];
  if (type === undefined || bot === undefined) throw new Error('an event without post_type or self_id');
  if (self !== undefined && bot !== self) return [];
  const told: Told = { event, bot, sentAt: whenOf(event, now) };
  switch (type) {
    case 'message':
      return [message(told)];
    case 'notice':
      return notice(told);
    case 'message_sent':
    case 'meta_event':
      return [];
    case 'request':
      return [other(told, `request.${textAt(event, 'request_type') ?? 'unknown'}`)];
    default:
      return [other(told, type)];
  }
}

/** An impossible time (such as one in milliseconds) becomes the current time. */
function whenOf(event: Json, now: number): number {
  const at = Math.floor((numberAt(event, 'time') ?? 0) * 1_000);
  return at > 0 && at < YEAR_2100 ? at : now;
}

interface Told {
  readonly event: Json;
  readonly bot: string;
  readonly sentAt: number;
}

type Base = Pick<Arrival, 'id' | 'conversation' | 'user' | 'sentAt'>;

function message(told: Told): Arrival {
  const { event, bot } = told;
  const [id, user] = [idAt(event, 'message_id'), idAt(event, 'user_id')];
  if (id === undefined || user === undefined) throw new Error('a message without message_id or user_id');
  const group = textAt(event, 'message_type') === 'private' ? undefined : idAt(event, 'group_id');
  const { text, files, replyTo, isMeant } = readMessage(event['message'] ?? event['raw_message'], { self: bot, group });
  return {
    ...baseOf(told, { id: `message/${id}/${numberAt(event, 'time') ?? 0}`, user }),
    kind: 'message',
    message: id,
    text,
    addressed: isMeant || group === undefined,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(files.length === 0 ? {} : { files }),
  };
}

function notice(told: Told): readonly Arrival[] {
  const { event } = told;
  const [type, sub, message] = [textAt(event, 'notice_type'), textAt(event, 'sub_type'), idAt(event, 'message_id')];
  const user = idAt(event, 'user_id');
  switch (type) {
    case 'group_recall':
    case 'friend_recall':
      if (message === undefined) break;
      return [{ ...baseOf(told, { user: idAt(event, 'operator_id') ?? user }), kind: 'deleted', message }];
    case 'group_increase':
    case 'group_decrease': {
      if (user === undefined) break;
      const { user: shown, ...base } = baseOf(told, { user });
      const { self: _own, ...member } = shown; // the bot's own joins and leaves count, too
      return [
        { ...base, user: member, kind: 'member', who: user, change: type === 'group_increase' ? 'joined' : 'left' },
      ];
    }
    case 'group_msg_emoji_like':
    case 'reaction':
      if (message === undefined) break;
      return reactions(told, message);
    case 'notify':
      if (sub === 'input_status') return [];
      break;
    default:
      break;
  }
  return [other(told, ['notice', type, sub].filter((part) => part !== undefined).join('.'))];
}

/** NapCat and LLOneBot send `likes`, Lagrange sends `code`. */
function reactions(told: Told, message: string): readonly Arrival[] {
  const { event } = told;
  const likes = listAt(event, 'likes').map((like) => idAt(like, 'emoji_id'));
  const on = event['is_add'] !== false && textAt(event, 'sub_type') !== 'remove';
  const base = baseOf(told, { user: idAt(event, 'operator_id') ?? idAt(event, 'user_id') });
  return [...likes, idAt(event, 'code')]
    .filter((id) => id !== undefined)
    .map((id): Arrival => ({ ...base, id: `${base.id}/${id}`, kind: 'reaction', message, emoji: fromEmojiId(id), on }));
}

const other = (told: Told, type: string): Arrival => ({
  ...baseOf(told, { user: idAt(told.event, 'user_id') }),
  kind: 'other',
  type,
  raw: told.event,
});

function baseOf(told: Told, { id, user }: { readonly id?: string; readonly user: string | undefined }): Base {
  const { event, bot, sentAt } = told;
  return {
    id: `${bot}/${id ?? `notice/${hashOf(event)}`}`,
    sentAt,
    conversation: conversationOf(told, user),
    user: userOf(event, user ?? 'unknown', bot),
  };
}

function conversationOf({ event, bot }: Told, user: string | undefined): Arrival['conversation'] {
  const [group, isPrivate] = [idAt(event, 'group_id'), textAt(event, 'message_type') === 'private'];
  if (group !== undefined && group !== '0' && !isPrivate) {
    const name = textAt(event, 'group_name');
    return { id: placeName({ kind: 'group', group }), kind: 'group', ...(name === undefined ? {} : { name }) };
  }
  const through =
    isPrivate && textAt(event, 'sub_type') === 'group'
      ? (idAt(objectAt(event, 'sender'), 'group_id') ?? group)
      : undefined;
  // Messages of the other person and of the bot itself belong to the same conversation.
  const person = user === bot ? (idAt(event, 'target_id') ?? bot) : (user ?? bot);
  const place = { kind: 'private', user: person, ...(through === undefined ? {} : { group: through }) } as const;
  return { id: placeName(place), kind: 'private' };
}

function userOf(event: Json, id: string, bot: string): Arrival['user'] {
  const anonymous = objectAt(event, 'anonymous');
  const hidden = idAt(anonymous, 'id');
  if (hidden !== undefined)
    return { id: `anonymous:${hidden}`, name: textAt(anonymous, 'name') ?? 'anonymous', admin: false };
  const sender = objectAt(event, 'sender');
  const isSender = idAt(sender, 'user_id') === id || !('user_id' in sender);
  const name = isSender ? (textAt(sender, 'card') ?? textAt(sender, 'nickname')) : undefined;
  const admin = isSender && ['owner', 'admin'].includes(textAt(sender, 'role') ?? '');
  return { id, name: name ?? id, admin, ...(id === bot ? { self: true } : {}) };
}

/** Identifies an event without an id by a hash of all fields. */
const hashOf = (event: Json): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(event)))
    .digest('hex')
    .slice(0, 32);

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}
