// A delivery of LINE, up to 100 events and often none → what arrived. Pure but for what is remembered: tokens to quote by, and names.
//
//   P1  The delivery is the event: its webhookEventId stays the same when LINE delivers it again (`deliveryContext.isRedelivery`), also in
//       another batch.
//   P2  The conversation is the group, the room, or the person. Images, videos, audio and files are messages with a file, named by the
//       message.
//   P3  The bot is spoken to in private, by a mention, and by a quote of what it said. A mention at the beginning is not part of the text.
//   P4  What only LINE has arrives as `other`, as it came, without its reply token, and the same when it comes again. So does everything of a
//       channel that stands by: another one answers then.
//   P5  A text that its writer has changed (in groups, since August 2026) is `edited`, at the time of the change. Changes of one text may come in
//       any order: the one with the latest time holds.
import { createHash } from 'node:crypto';
import type { Arrival, FileRef, RawRequest, Segment } from '../../sdk/index.ts';
import { countAt, isObject, type Json, listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';
import type { Account } from './config.ts';
import { type Remembered, rememberedOf } from './remembered.ts';
import { heard } from './text.ts';

interface Context {
  /** The bot's own ids. */
  readonly bot: readonly (string | undefined)[];
  readonly now: number;
  readonly remembered: Remembered;
}

/** Before the token of a button of ours in the data of a postback: a menu of the account may have any other. */
export const PRESSED = 'svc:';

/** What a verified request holds. Throws when it is no delivery of LINE. */
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

/** P1, P2. */
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

/** For an event without an id, which LINE has not sent since 2022. */
function digestOf({ deliveryContext: _, ...event }: Json): string {
  return `sha256:${createHash('sha256').update(JSON.stringify(event)).digest('hex')}`;
}

/** P3. */
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

/** P5. Texts alone are edited. */
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

/** LINE tells the size of files alone, and no kind. */
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

/** LINE does not tell which message the button was on. */
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

/** P4. */
function other(event: Json, type: string, context: Context): Arrival {
  const { replyToken: _token, deliveryContext: _delivery, ...raw } = event;
  return { ...baseOf(event, context), kind: 'other', type, raw };
}
