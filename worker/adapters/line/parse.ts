// Turns a delivery of LINE (often 0, at most 100 events) into events for the inbox. Pure, except that it remembers quote tokens and names.
//
//   LINE-PARSE-1  The id of a delivery is the webhookEventId. A redelivery (`deliveryContext.isRedelivery`) keeps it, even in another batch.
//   LINE-PARSE-2  The conversation is the group, the room or the person. Images, videos, audio and files become messages with a file, identified by
//                 the message.
//   LINE-PARSE-3  A message addresses the bot in private, by a mention, or by quoting the bot. A leading mention is removed from the text.
//   LINE-PARSE-4  LINE's own kinds of events arrive unchanged as `other`, without their reply token. A redelivery yields the same event. While a
//                 channel is in standby mode all its events arrive so, because another service answers.
//   LINE-PARSE-5  A text changed by its author is `edited`, at the time of the change (in groups, since August 2026). Changes may arrive in any
//                 order, and the latest time counts.
import { createHash } from 'node:crypto';
import type { Arrival, FileRef, RawRequest, Segment } from '../../sdk/index.ts';
import { countAt, isObject, type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';
import type { Account } from './config.ts';
import { type Remembered, rememberedOf } from './remembered.ts';
import { heard } from './text.ts';

interface Context {
  /** Ids of the bot. */
  readonly bot: readonly (string | undefined)[];
  readonly now: number;
  readonly remembered: Remembered;
}

/** Prefix of postback data from this host's buttons. Other postbacks come from menus of the LINE account. */
export const PRESSED = 'svc:';

/** The events of a verified request. Throws if the body is no delivery of LINE. */
export function parse(request: RawRequest, account: Account): readonly Arrival[] {
  const delivery = safeJson(new TextDecoder('utf-8', { fatal: true }).decode(request.body));
  if (!isObject(delivery) || !Array.isArray(delivery['events'])) throw new Error('not a delivery of LINE: no events');
  const remembered = rememberedOf(account);
  const bot = [textAt(delivery, 'destination'), remembered.bot];
  return listAt(delivery, 'events').flatMap((event) => arrivalsOf(event, { bot, now: request.receivedAt, remembered }));
}

function arrivalsOf(event: Json, context: Context): readonly Arrival[] {
  const type = textAt(event, 'type') ?? 'unknown';
  if (textAt(event, 'mode') === 'standby') return [other(event, `standby.${type}`, context)];
  switch (type) {
    case 'message':
      return [message(event, context)];
    case 'messageEdited':
      return [edited(event, context)];
    case 'postback':
      return [postback(event, context)];
    case 'unsend': {
      const id = textAt(objectAt(event, 'unsend'), 'messageId');
      return [
        id === undefined ? other(event, type, context) : { ...baseOf(event, context), kind: 'deleted', message: id },
      ];
    }
    case 'memberJoined':
      return members(event, { key: 'joined', change: 'joined' }, context);
    case 'memberLeft':
      return members(event, { key: 'left', change: 'left' }, context);
    default:
      return [other(event, type, context)];
  }
}

/** Fields common to all events. The id is the webhookEventId, which a redelivery keeps. */
function baseOf(event: Json, { bot, now }: Context): Pick<Arrival, 'id' | 'conversation' | 'user' | 'sentAt'> {
  const source = objectAt(event, 'source');
  const user = textAt(source, 'userId');
  const group = textAt(source, 'groupId') ?? textAt(source, 'roomId');
  const place = group ?? user ?? 'line';
  const person = user ?? place;
  return {
    id: textAt(event, 'webhookEventId') ?? digestOf(event),
    conversation: { id: place, kind: group === undefined ? 'private' : 'group' },
    user: {
      id: person,
      name: person,
      admin: false,
      ...(bot.includes(user) && user !== undefined ? { self: true } : {}),
    },
    sentAt: countAt(event, 'timestamp') ?? now,
  };
}

/** Id for an event without one. LINE has sent an id with every event since 2022. */
function digestOf({ deliveryContext: _, ...event }: Json): string {
  return `sha256:${createHash('sha256').update(JSON.stringify(event)).digest('hex')}`;
}

/** Whether the bot is addressed follows from a private chat, a mention, or a quote of the bot. */
function message(event: Json, context: Context): Arrival {
  const said = objectAt(event, 'message');
  const [id, type] = [textAt(said, 'id'), textAt(said, 'type')];
  if (id === undefined || type === undefined) return other(event, 'message', context);
  const base = baseOf(event, context);
  context.remembered.sawMessage(id, textAt(said, 'quoteToken'));
  const quoted = textAt(said, 'quotedMessageId');
  const replyTo = quoted === undefined ? {} : { replyTo: quoted };
  const isAnswer = quoted !== undefined && context.remembered.isOurs(quoted);
  const place = { kind: 'message', message: id, ...base, ...replyTo } as const;
  if (type === 'text') {
    const { text, isToBot } = words(said, context);
    return { text, addressed: base.conversation.kind === 'private' || isToBot || isAnswer, ...place };
  }
  const addressed = base.conversation.kind === 'private' || isAnswer;
  const elsewhere = textAt(objectAt(said, 'contentProvider'), 'originalContentUrl');
  if (elsewhere !== undefined)
    return { ...place, text: [{ kind: 'link', text: elsewhere, url: elsewhere }], addressed };
  const file = fileOf(said, { id, type });
  return file === undefined
    ? other(event, `message.${type}`, context)
    : { ...place, text: '', addressed, files: [file] };
}

/** An edit, at the time of the change. Only texts can be edited. */
function edited(event: Json, context: Context): Arrival {
  const said = objectAt(event, 'message');
  const id = textAt(said, 'id');
  if (id === undefined || textAt(said, 'type') !== 'text') return other(event, 'messageEdited', context);
  const base = baseOf(event, context);
  const token = textAt(said, 'quoteToken');
  if (token !== undefined) context.remembered.sawMessage(id, token);
  const { text, isToBot } = words(said, context);
  return { ...base, kind: 'edited', message: id, text, addressed: base.conversation.kind === 'private' || isToBot };
}

function words(said: Json, { bot, remembered }: Context): { readonly text: readonly Segment[]; isToBot: boolean } {
  const { segments, isToBot, names } = heard(said, bot);
  for (const [user, name] of names) remembered.named(user, name);
  return { text: segments, isToBot };
}

/** LINE gives a size for files only, and never a MIME type. */
function fileOf(said: Json, { id, type }: { readonly id: string; readonly type: string }): FileRef | undefined {
  switch (type) {
    case 'image':
      return { id, name: 'image.jpg', mime: 'image/jpeg', bytes: 0 };
    case 'video':
      return { id, name: 'video.mp4', mime: 'video/mp4', bytes: 0 };
    case 'audio':
      return { id, name: 'audio.m4a', mime: 'audio/x-m4a', bytes: 0 };
    case 'file': {
      const name = textAt(said, 'fileName') ?? 'file';
      return { id, name, mime: 'application/octet-stream', bytes: countAt(said, 'fileSize') ?? 0 };
    }
    default:
      return undefined;
  }
}

/** LINE does not tell which message contained the button. */
function postback(event: Json, context: Context): Arrival {
  const data = textAt(objectAt(event, 'postback'), 'data') ?? '';
  if (!data.startsWith(PRESSED)) return other(event, 'postback', context);
  return { ...baseOf(event, context), kind: 'pressed', message: '', token: data.slice(PRESSED.length) };
}

function members(
  event: Json,
  { key, change }: { readonly key: string; readonly change: 'joined' | 'left' },
  context: Context,
): readonly Arrival[] {
  const base = baseOf(event, context);
  const people = listAt(objectAt(event, key), 'members').flatMap((one) => textAt(one, 'userId') ?? []);
  if (people.length === 0) return [other(event, key === 'joined' ? 'memberJoined' : 'memberLeft', context)];
  return people.map((who, i) => ({
    ...base,
    id: i === 0 ? base.id : `${base.id}.${i}`,
    user: { id: who, name: who, admin: false },
    kind: 'member',
    who,
    change,
  }));
}

/** The unchanged event, without fields that differ in a redelivery and without its reply token. */
function other(event: Json, type: string, context: Context): Arrival {
  const { replyToken: _token, deliveryContext: _delivery, ...raw } = event;
  return { ...baseOf(event, context), kind: 'other', type, raw };
}
