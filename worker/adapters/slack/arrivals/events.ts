// Arrivals from events of Slack's Events API. Pure.

import { isDeepStrictEqual } from 'node:util';
import type { Arrival, FileRef } from '../../../sdk/index.ts';
import { type Json, listAt, objectAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { withoutMention } from '../../../sdk/text/segment-list.ts';
import { filesIn, wordsIn } from '../attachments.ts';
import { fromSlackName } from '../emoji.ts';
import { baseOf, type Context, type Happened, messageId } from '../place.ts';
import { mentions } from '../text.ts';

/** One event and the fields of its envelope. */
interface Told {
  readonly event: Json;
  readonly id: string;
  readonly app: string | undefined;
  /** User id of our bot in the workspace. */
  readonly bot: string | undefined;
  readonly context: Context;
}

/** Subtypes of messages with content. All others are notices. */
export const SAID: ReadonlySet<string | undefined> = new Set([
  undefined,
  'file_share',
  'me_message',
  'thread_broadcast',
  'bot_message',
  'assistant_app_thread',
]);
/** Subtypes that repeat an event of another type. */
const TOLD_TWICE = new Set(['channel_join', 'channel_leave', 'group_join', 'group_leave', 'message_replied']);

/** Arrivals of an `event_callback`. Usually one, and none for an event that changes no content. */
export function parseEvent(payload: Json, context: Context): readonly Arrival[] {
  const event = objectAt(payload, 'event');
  const type = textAt(event, 'type');
  const id = textAt(payload, 'event_id');
  if (type === undefined || id === undefined) throw new Error('an event without type or event_id');
  const bot = listAt(payload, 'authorizations').find((one) => one['is_bot'] === true);
  const told: Told = {
    event,
    id,
    app: textAt(payload, 'api_app_id'),
    bot: bot && textAt(bot, 'user_id'),
    context,
  };
  switch (type) {
    case 'message':
      return message(told);
    case 'app_mention':
      return said(told, event);
    case 'reaction_added':
    case 'reaction_removed':
      return reaction(told, type === 'reaction_added');
    case 'member_joined_channel':
    case 'member_left_channel':
      return member(told, type === 'member_joined_channel' ? 'joined' : 'left');
    default:
      return [other(told, type)];
  }
}

function message(told: Told): readonly Arrival[] {
  const subtype = textAt(told.event, 'subtype');
  if (SAID.has(subtype)) return said(told, told.event);
  if (subtype === 'message_changed') return changed(told);
  if (subtype === 'message_deleted')
    return deleted(told, textAt(told.event, 'deleted_ts'), objectAt(told.event, 'previous_message'));
  return TOLD_TWICE.has(subtype ?? '') ? [] : [other(told, `message.${subtype}`)];
}

/** The id is channel and time: Slack sends a mention twice (`message` and `app_mention`) with different event ids. */
function said(told: Told, spoken: Json): readonly Arrival[] {
  const [channel, ts] = [textAt(told.event, 'channel'), textAt(spoken, 'ts')];
  if (channel === undefined || ts === undefined) throw new Error('a message without channel or ts');
  if (isForeignBot(told, spoken)) return [];
  return [{ kind: 'message', ...wordsOf(told, spoken, { id: `${channel}/${ts}`, channel, ts }) }];
}

/**
 * Slack also sends `message_changed` for unfurled links and counted replies, which are not edits.
 * The id is taken from `edited`, because the history holds it as well.
 */
function changed(told: Told): readonly Arrival[] {
  const [now, before] = [objectAt(told.event, 'message'), objectAt(told.event, 'previous_message')];
  const [channel, ts] = [textAt(told.event, 'channel'), textAt(now, 'ts')];
  if (channel === undefined || ts === undefined) throw new Error('a changed message without channel or ts');
  if (textAt(now, 'subtype') === 'tombstone') return deleted(told, ts, before);
  const at = textAt(objectAt(now, 'edited'), 'ts');
  // What an app lays out without a text is edited in its blocks, which links that were unfolded are not.
  const isLaidOut = at !== undefined && now['text'] === '' && !isDeepStrictEqual(wordsIn(now), wordsIn(before));
  if (('text' in before && before['text'] === now['text'] && !isLaidOut) || isForeignBot(told, now)) return [];
  const id = at === undefined ? told.id : `${channel}/${ts}/edited/${at}`;
  return [{ kind: 'edited', ...wordsOf(told, now, { id, channel, ts }) }];
}

type Words = Omit<Extract<Arrival, { kind: 'message' | 'edited' }>, 'kind'>;

function wordsOf(
  told: Told,
  spoken: Json,
  { id, channel, ts }: { readonly id: string; readonly channel: string; readonly ts: string },
): Words {
  const root = textAt(spoken, 'thread_ts');
  const thread = root === ts ? undefined : root;
  const heard = wordsIn(spoken);
  const isMeant =
    told.event['type'] === 'app_mention' ||
    (told.bot !== undefined && (mentions(heard, told.bot) || textAt(spoken, 'parent_user_id') === told.bot));
  const text = withoutMention(heard, told.bot);
  const files = filesOf(spoken);
  const base = baseOf({ id, thread, ts: whenOf(told, ts), ...speakerOf(told, spoken), ...placeOf(told) }, told.context);
  return {
    message: messageId(channel, ts),
    text: text.every((one) => one.kind === 'text') ? text.map((one) => one.text).join('') : text,
    addressed: base.conversation.kind === 'private' || isMeant,
    ...base,
    ...(thread === undefined ? {} : { replyTo: messageId(channel, thread) }),
    ...(files.length === 0 ? {} : { files }),
  };
}

/** Time of the message. For a changed message, time of the change. */
const whenOf = ({ event }: Told, ts: string): string =>
  event['subtype'] === 'message_changed' ? (textAt(event, 'event_ts') ?? textAt(event, 'ts') ?? ts) : ts;

const placeOf = ({ event }: Told): Pick<Happened, 'channel' | 'channelType'> => ({
  channel: textAt(event, 'channel'),
  channelType: textAt(event, 'channel_type'),
});

function speakerOf(told: Told, spoken: Json): Pick<Happened, 'user' | 'userName' | 'isSelf'> {
  const user = textAt(spoken, 'user');
  const name = textAt(spoken, 'username') ?? textAt(objectAt(spoken, 'bot_profile'), 'name');
  return {
    user: user ?? textAt(spoken, 'bot_id'),
    userName: name ?? user ?? textAt(spoken, 'bot_id'),
    isSelf: isOurs(told, spoken),
  };
}

/** Our app is recognized by its bot user, or by its app id if it posts as a bot. */
function isOurs({ app, bot }: Told, spoken: Json): boolean {
  const spokenBy = textAt(spoken, 'app_id') ?? textAt(objectAt(spoken, 'bot_profile'), 'app_id');
  const isOurApp = textAt(spoken, 'bot_id') !== undefined && app !== undefined && spokenBy === app;
  return isOurApp || (bot !== undefined && textAt(spoken, 'user') === bot);
}

/** Messages of other bots are dropped unless the account sets `bots`. */
const isForeignBot = (told: Told, spoken: Json): boolean =>
  !told.context.bots && textAt(spoken, 'bot_id') !== undefined && !isOurs(told, spoken);

/** Files without content for us are omitted: deleted ones and those beyond a free plan's limit. */
function filesOf(spoken: Json): readonly FileRef[] {
  return filesIn(spoken).flatMap((file) => {
    const id = textAt(file, 'id');
    const isKept = ['tombstone', 'hidden_by_limit'].includes(textAt(file, 'mode') ?? '');
    if (id === undefined || isKept) return [];
    const { size } = file;
    return [
      {
        id,
        name: textAt(file, 'name') ?? textAt(file, 'title') ?? id,
        mime: textAt(file, 'mimetype') ?? 'application/octet-stream',
        bytes: typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : 0,
      },
    ];
  });
}

function deleted(told: Told, ts: string | undefined, before: Json): readonly Arrival[] {
  const channel = textAt(told.event, 'channel');
  if (channel === undefined || ts === undefined) throw new Error('a deleted message without channel or ts');
  if (isForeignBot(told, before)) return [];
  const root = textAt(before, 'thread_ts');
  const at = {
    id: `${channel}/${ts}/deleted`,
    thread: root === ts ? undefined : root,
    ts: textAt(told.event, 'event_ts'),
  };
  const base = baseOf({ ...speakerOf(told, before), ...placeOf(told), ...at }, told.context);
  return [{ ...base, kind: 'deleted', message: messageId(channel, ts) }];
}

function reaction(told: Told, on: boolean): readonly Arrival[] {
  const { event, id, bot, context } = told;
  const item = objectAt(event, 'item');
  const [channel, ts] = [textAt(item, 'channel'), textAt(item, 'ts')];
  const [user, name] = [textAt(event, 'user'), textAt(event, 'reaction')];
  if (item['type'] !== 'message' || channel === undefined || ts === undefined || name === undefined)
    return [other(told, `${event['type']}`)];
  const isSelf = bot !== undefined && user === bot;
  const base = baseOf({ id, channel, user, isSelf, ts: textAt(event, 'event_ts') }, context);
  return [{ ...base, kind: 'reaction', message: messageId(channel, ts), emoji: fromSlackName(name), on }];
}

function member({ event, id, bot, context }: Told, change: 'joined' | 'left'): readonly Arrival[] {
  const [channel, user] = [textAt(event, 'channel'), textAt(event, 'user')];
  if (channel === undefined || user === undefined) throw new Error('a member without channel or user');
  const isSelf = bot !== undefined && user === bot;
  return [
    {
      ...baseOf({ id, channel, user, isSelf, ts: textAt(event, 'event_ts') }, context),
      kind: 'member',
      who: user,
      change,
    },
  ];
}

/** An event of another type arrives unchanged as `other`. */
function other({ event, id, bot, context }: Told, type: string): Arrival {
  const user = textAt(event, 'user') ?? textAt(objectAt(event, 'user'), 'id');
  const channel =
    textAt(event, 'channel') ?? textAt(objectAt(event, 'channel'), 'id') ?? textAt(objectAt(event, 'item'), 'channel');
  const at = { channelType: textAt(event, 'channel_type'), ts: textAt(event, 'event_ts') };
  const isSelf = bot !== undefined && user === bot && event['type'] === 'message';
  return { ...baseOf({ id, channel, user, isSelf, ...at }, context), kind: 'other', type, raw: event };
}
