// Converts updates of the Bot API to arrivals. Pure except for remembered names (render.ts) and lookups of administrators.
//
//   TELEGRAM-PARSE-1  The delivery id is `<bot>:<update_id>`, so ids of a former bot on the same account cannot collide.
//   TELEGRAM-PARSE-2  A conversation is a chat. A thread is a forum topic (`topic:<id>`) or a person's direct messages to a channel (`direct:<id>`).
//                     Message numbers are unique within a chat.
//   TELEGRAM-PARSE-3  The bot is addressed in private, by its @name, by a command with its name and by a reply.
//                     A name at the beginning is removed from the text, and so is a name after a command.
//   TELEGRAM-PARSE-4  An author who posts in the name of a chat (a channel, an anonymous administrator) has that chat's id.
import type { Chat, Message, ReactionType, Update, User } from 'grammy/types';
import type { Arrival, HttpAnswer, RawRequest } from '../../sdk/index.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';
import { BEHIND_NAME, isUnseen } from '../../sdk/text/unseen-edges.ts';
import { Administrators, groupAsking } from './administrators.ts';
import { type Account, botIdOf, usernameOf } from './config.ts';
import { segmentsOf } from './entities.ts';
import { filesOf } from './files.ts';
import { rememberName } from './render.ts';

export interface Context {
  readonly botId: string;
  /** The bot's name without the @. */
  readonly username: string;
  /** Time for updates without a time of their own, epoch ms. */
  readonly now: number;
  /** Whether this person is an administrator of the group. */
  isAdmin(chat: string, user: string): boolean;
}

const administrators = new WeakMap<Account, Administrators>();

export function administratorsOf(account: Account): Administrators {
  const known = administrators.get(account) ?? new Administrators();
  administrators.set(account, known);
  return known;
}

export const contextOf = (account: Account, now: number): Context => ({
  botId: botIdOf(account),
  username: usernameOf(account) ?? '',
  now,
  isAdmin: (chat, user) => administratorsOf(account).has(chat, user, performance.now()),
});

/** Arrivals of a verified request. Throws if it is not an update. */
export function parse(request: RawRequest, account: Account): readonly Arrival[] {
  return arrivalsOf(updateIn(request), contextOf(account, request.receivedAt));
}

/** The HTTP answer contains a method call that ends the progress display of a pressed button. */
export function answer(request: RawRequest): HttpAnswer {
  const { callback_query: pressed } = updateIn(request);
  return pressed === undefined ? {} : { json: { method: 'answerCallbackQuery', callback_query_id: pressed.id } };
}

function updateIn({ body }: RawRequest): Update {
  const update = safeJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  if (typeof update !== 'object' || update === null || !('update_id' in update) || !Number.isInteger(update.update_id))
    throw new Error('not an update: it has no update_id');
  return update as Update;
}

/** Never throws. An update of an unknown form arrives as `other`. */
export function arrivalsOf(update: Update, context: Context): readonly Arrival[] {
  const id = `${context.botId}:${update.update_id}`;
  try {
    return known(update, id, context) ?? [other(update, id, context)];
  } catch {
    return [other(update, id, context)];
  }
}

/** Administrators are marked only where the person wants something of the bot. */
function known(update: Update, id: string, context: Context): readonly Arrival[] | undefined {
  const group = groupAsking(update);
  const arrivals = read(update, id, context);
  if (group === undefined) return arrivals;
  return arrivals?.map((arrival) =>
    arrival.user.admin || !context.isAdmin(group, arrival.user.id)
      ? arrival
      : { ...arrival, user: { ...arrival.user, admin: true } },
  );
}

function read(update: Update, id: string, context: Context): readonly Arrival[] | undefined {
  const said = update.message ?? update.channel_post;
  if (said !== undefined) return members(said, id, context) ?? message(said, { id, kind: 'message' }, context);
  const edited = update.edited_message ?? update.edited_channel_post;
  if (edited !== undefined) return message(edited, { id, kind: 'edited' }, context);
  const pressed = update.callback_query;
  if (pressed?.message !== undefined && pressed.data !== undefined) {
    const base = { ...placeOf(pressed.message), user: userOf(pressed.from, context) };
    return [
      {
        ...base,
        id,
        sentAt: context.now,
        kind: 'pressed',
        message: String(pressed.message.message_id),
        token: pressed.data,
      },
    ];
  }
  return update.message_reaction === undefined ? undefined : reactions(update.message_reaction, id, context);
}

type Place = Pick<Arrival, 'conversation'>;

function placeOf(of: {
  readonly chat: Chat;
  readonly message_thread_id?: number;
  readonly is_topic_message?: boolean;
  readonly direct_messages_topic?: { readonly topic_id: number };
}): Place {
  const { chat, direct_messages_topic: direct } = of;
  // Samples in Telegram's documentation omit the type. People have positive ids, all other chats negative ones.
  const type = (chat.type as string | undefined) ?? (chat.id > 0 ? 'private' : 'group');
  const name = chat.title ?? fullName(chat);
  const isTopic = of.is_topic_message === true && of.message_thread_id !== undefined;
  return {
    conversation: {
      id: String(chat.id),
      kind: type === 'private' ? 'private' : 'group',
      ...(name === '' ? {} : { name }),
      ...(isTopic ? { thread: `topic:${of.message_thread_id}` } : {}),
      ...(direct === undefined ? {} : { thread: `direct:${direct.topic_id}` }),
    },
  };
}

function userOf(from: User, { botId }: Context): Arrival['user'] {
  const id = String(from.id);
  const name = fullName(from) || from.username || id;
  rememberName(id, name, from.username);
  return { id, name, admin: false, ...(id === botId ? { self: true } : {}) };
}

/** The author. A message in the name of a chat has the chat's id; only administrators can post as the group itself. */
function authorOf(said: Message, context: Context): Arrival['user'] {
  const from: User | undefined = said.from;
  if (from !== undefined && (said.sender_chat === undefined || String(from.id) === context.botId))
    return userOf(from, context);
  const as: Chat = said.sender_chat ?? said.chat;
  const id = String(as.id);
  return { id, name: as.title ?? (fullName(as) || id), admin: as.id === said.chat.id };
}

const fullName = ({ first_name, last_name }: { readonly first_name?: string; readonly last_name?: string }): string =>
  [first_name, last_name].filter((part) => part !== undefined && part !== '').join(' ');

function message(
  said: Message,
  { id, kind }: { readonly id: string; readonly kind: 'message' | 'edited' },
  context: Context,
): readonly Arrival[] | undefined {
  const files = filesOf(said);
  const whole = said.text ?? said.caption;
  if (whole === undefined && files.length === 0) return undefined;
  const spoken = spokenTo(whole ?? '', said.entities ?? said.caption_entities ?? [], context);
  // In a topic, every message without a reply has the topic's first message as its reply.
  const answered = said.reply_to_message?.forum_topic_created === undefined ? said.reply_to_message : undefined;
  const place = placeOf(said);
  return [
    {
      ...place,
      id,
      kind,
      user: authorOf(said, context),
      sentAt: (said.edit_date ?? said.date) * 1_000,
      message: String(said.message_id),
      text: segmentsOf(spoken.text, spoken.entities),
      addressed:
        place.conversation.kind === 'private' || spoken.isToBot || String(answered?.from?.id) === context.botId,
      ...(answered === undefined ? {} : { replyTo: String(answered.message_id) }),
      ...(files.length === 0 ? {} : { files }),
    },
  ];
}

type Entities = NonNullable<Message['entities']>;

/** Whether the text addresses the bot, and the text without the bot's name at the beginning or after a command. */
function spokenTo(
  text: string,
  entities: Entities,
  { username, botId }: Context,
): { readonly text: string; readonly entities: Entities; readonly isToBot: boolean } {
  const name = `@${username}`.toLowerCase();
  const written = ({ offset, length }: Entities[number]): string => text.slice(offset, offset + length).toLowerCase();
  const isBot = (entity: Entities[number]): boolean =>
    (entity.type === 'mention' && username !== '' && written(entity) === name) ||
    (entity.type === 'text_mention' && String(entity.user.id) === botId);
  // Formatting may begin at the same offset, so all entities there are checked.
  const first = entities.filter(({ offset }) => isUnseen(text.slice(0, offset)));
  const command = first.find(({ type }) => type === 'bot_command');
  if (command !== undefined && username !== '' && written(command).endsWith(name)) {
    const to = command.offset + command.length;
    return { ...without(text, entities, { from: to - name.length, to }), isToBot: true };
  }
  const called = first.find(isBot);
  if (called !== undefined) {
    const end = called.offset + called.length;
    const behind = BEHIND_NAME.exec(text.slice(end))?.[0].length ?? 0;
    return { ...without(text, entities, { from: 0, to: end + behind }), isToBot: true };
  }
  return { text, entities, isToBot: entities.some(isBot) };
}

/** Cuts a part from the text and shifts the entities. */
function without(
  text: string,
  entities: Entities,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly text: string; readonly entities: Entities } {
  const moved = (at: number): number => (at <= from ? at : Math.max(from, at - (to - from)));
  return {
    text: text.slice(0, from) + text.slice(to),
    entities: entities.map((entity) => {
      const offset = moved(entity.offset);
      return { ...entity, offset, length: moved(entity.offset + entity.length) - offset };
    }),
  };
}

function members(said: Message, id: string, context: Context): readonly Arrival[] | undefined {
  const joined = said.new_chat_members?.map((user) => ({ user, change: 'joined' as const }));
  const left = said.left_chat_member && [{ user: said.left_chat_member, change: 'left' as const }];
  const by = authorOf(said, context);
  return (joined ?? left)?.map(({ user, change }, i) => ({
    ...placeOf(said),
    id: numbered(id, i),
    kind: 'member',
    user: by,
    sentAt: said.date * 1_000,
    who: userOf(user, context).id,
    change,
  }));
}

function reactions(
  { chat, message_id, user, actor_chat, date, old_reaction, new_reaction }: NonNullable<Update['message_reaction']>,
  id: string,
  context: Context,
): readonly Arrival[] {
  const by = user ?? { id: actor_chat?.id ?? chat.id, is_bot: false, first_name: actor_chat?.title ?? '' };
  const [before, after] = [emojis(old_reaction), emojis(new_reaction)];
  const changes = [
    ...before.filter((emoji) => !after.includes(emoji)).map((emoji) => ({ emoji, on: false })),
    ...after.filter((emoji) => !before.includes(emoji)).map((emoji) => ({ emoji, on: true })),
  ];
  return changes.map((change, i) => ({
    ...placeOf({ chat }),
    id: numbered(id, i),
    kind: 'reaction',
    user: userOf(by, context),
    sentAt: date * 1_000,
    message: String(message_id),
    ...change,
  }));
}

/** Emoji, or the id of a custom emoji. Paid reactions are omitted. */
const emojis = (reactions: readonly ReactionType[]): readonly string[] =>
  reactions.flatMap((reaction) =>
    reaction.type === 'emoji' ? [reaction.emoji] : reaction.type === 'custom_emoji' ? [reaction.custom_emoji_id] : [],
  );

const numbered = (id: string, i: number): string => (i === 0 ? id : `${id}.${i}`);

/** An update known only to Telegram, unchanged and named after its field. */
function other(update: Update, id: string, context: Context): Arrival {
  const { update_id: _, ...rest } = update;
  const [type = 'unknown', content] = Object.entries(rest)[0] ?? [];
  const about = (content ?? {}) as Partial<Message> & { readonly message?: Message };
  const { message: pressed, from } = about;
  const said = about.chat === undefined ? pressed : (about as Message);
  const place = said ?? { chat: { id: from?.id ?? 0, type: 'private' as const, first_name: '' } };
  return {
    ...placeOf(place),
    id,
    kind: 'other',
    type,
    raw: rest,
    user: otherUser(about, place.chat, context),
    sentAt: context.now,
  };
}

/** Person behind the update. For a message it is the author, who may be a channel. */
function otherUser(about: Partial<Message>, chat: Chat, context: Context): Arrival['user'] {
  if (about.sender_chat !== undefined) return authorOf(about as Message, context);
  if (about.from !== undefined) return userOf(about.from, context);
  return { id: String(chat.id), name: String(chat.id), admin: false };
}
