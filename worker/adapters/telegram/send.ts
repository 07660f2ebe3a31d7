// Converts posts, edits, removals, reactions and typing to calls of the Bot API. A post is one call.
// Files that cannot go with the text are posts of their own (albums.ts). A post stored by an older version with all files takes several calls.
// A retry of such a post within the same process continues after the last successful call.
//
//   TELEGRAM-SEND-1  Threads: `topic:<id>` is a topic, `direct:<id>` the direct messages of a person to a channel.
//                    A message as thread becomes a reply, because Telegram has no threads under messages.
//   TELEGRAM-SEND-2  A result that already exists (not modified, nothing to remove) counts as sent, so that a retry does not fail.
//   TELEGRAM-SEND-3  If a group became a supergroup, the call is repeated with the new id. Telegram refused the first, so it had no effect.
//   TELEGRAM-SEND-4  A lost poll or a reload does not abort a running call, since an aborted call would be sent twice.
//   TELEGRAM-SEND-5  A file is sent as the kind it was received as (video, voice, …). Telegram refuses its id under another kind.
//   TELEGRAM-SEND-6  A post of several messages is removed as a whole. Replies, edits and reactions refer to its first message.
//   TELEGRAM-SEND-7  An album takes no buttons. Without a text, the buttons are a message before it whose text is their labels.
import type { InputMediaPhoto, ReactionType } from 'grammy/types';
import type { FileRef, Link, Outgoing, SendResult } from '../../sdk/index.ts';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';
import { albumsOf, isCaptioned } from './albums.ts';
import { ChatWaits } from './chat-waits.ts';
import { type Client, clientOf, failureOf } from './client.ts';
import { type Account, botIdOf } from './config.ts';
import { isById, isOfAnotherKind, type Kind, waysOf } from './file-kind.ts';
import { isPhoto } from './files.ts';
import { GroupRate } from './group-rate.ts';
import { keyboardOf, labelsOf } from './keyboard.ts';

type Call<K extends Outgoing['kind'] = Outgoing['kind']> = Extract<Outgoing, { kind: K }>;
type Post = Call<'post' | 'edit'>;

const TIME_LIMIT_MS = 50_000;
const MOST_KEPT = 1_000;

interface SendState {
  readonly rate: GroupRate;
  readonly waits: ChatWaits;
  readonly moved: Map<string, string>;
}
const accounts = new WeakMap<Account, SendState>();
/** Message ids of partly sent posts, by bot, endpoint and key. A reload replaces the account object, so that cannot be the key. */
const begun = new Map<string, string[]>();

/** Texts of 403 for a person or group that the bot reaches no more. */
const GONE = /blocked by the user|user is deactivated|bot was kicked|group chat was deleted/i;

export async function send(call: Outgoing, link: Link<Account>): Promise<SendResult> {
  const client = await clientOf(link.account);
  const state = stateOf(link.account);
  if (!/^(?:-?\d{1,20}|@[A-Za-z0-9_]{3,64})$/.test(call.conversation))
    return { kind: 'refused', reason: 'this is not the id of a chat' };
  const attempt = (chat: string): Promise<SendResult> => new Sending(client, link, state).run(call, chat);
  const resultOf = (error: unknown): SendResult => resultFor(error, state, chat);
  const chat = state.moved.get(call.conversation) ?? call.conversation;
  const waitMs = call.kind === 'post' ? state.rate.waitMs(chat, performance.now()) : 0;
  if (waitMs > 0) return { kind: 'later', afterMs: waitMs };
  try {
    return await attempt(chat);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind !== 'refused' || failure.movedTo === undefined || failure.movedTo === chat) return resultOf(error);
    keepNewest(state.moved, [call.conversation, failure.movedTo], MOST_KEPT);
    return attempt(failure.movedTo).catch(resultOf);
  }
}

function stateOf(account: Account): SendState {
  let state = accounts.get(account);
  if (state === undefined) {
    state = { rate: new GroupRate(), waits: new ChatWaits(), moved: new Map() };
    accounts.set(account, state);
  }
  return state;
}

function resultFor(error: unknown, { waits }: SendState, chat: string): SendResult {
  const failure = failureOf(error);
  if (failure.kind === 'later') return waits.later(chat, failure.afterMs, performance.now());
  if (failure.kind === 'refused') {
    const gone = failure.code === 403 && GONE.test(failure.reason) ? ({ gone: true } as const) : {};
    return { kind: 'refused', reason: `Telegram: ${failure.reason}`, ...gone };
  }
  throw failure.error;
}

class Sending {
  readonly #client: Client;
  readonly #link: Link<Account>;
  readonly #state: SendState;
  readonly #signal: never;

  // oxlint-disable-next-line max-params -- one object a call
  constructor(client: Client, link: Link<Account>, state: SendState) {
    this.#client = client;
    this.#link = link;
    this.#state = state;
    this.#signal = AbortSignal.timeout(TIME_LIMIT_MS) as never; // independent of the connection: a running call is not aborted
  }

  async run(call: Outgoing, chat: string): Promise<SendResult> {
    const { api } = this.#client;
    switch (call.kind) {
      case 'post':
        return this.#post(call, chat);
      case 'edit':
        return this.#edit(call, chat);
      case 'remove':
        for (const message_id of numbersOf(call.message))
          await this.#done(api.deleteMessage({ chat_id: chat, message_id }, this.#signal));
        return { kind: 'sent' };
      case 'react': {
        const reaction = call.on ? [reactionOf(call.emoji)] : [];
        const message_id = numberOf(call.message);
        return this.#done(api.setMessageReaction({ chat_id: chat, message_id, reaction }, this.#signal));
      }
      case 'typing':
        return this.#done(
          api.sendChatAction({ chat_id: chat, action: 'typing', ...topicOf(call.thread) }, this.#signal),
        );
    }
  }

  /** Awaits the call. An error saying that the result already exists counts as sent. */
  async #done(call: Promise<unknown>, message?: string): Promise<SendResult> {
    try {
      await call;
    } catch (error) {
      const failure = failureOf(error);
      const isSo = /message is not modified|message to delete not found/;
      if (failure.kind !== 'refused' || !isSo.test(failure.reason)) throw error;
    }
    return { kind: 'sent', ...(message === undefined ? {} : { message }) };
  }

  async #edit(call: Post, chat: string): Promise<SendResult> {
    const { api } = this.#client;
    if (call.files.length > 0) return { kind: 'refused', reason: 'Telegram adds no files to a message' };
    const to = { chat_id: chat, message_id: numberOf(call.message ?? ''), parse_mode: 'HTML' as const };
    const reply_markup = keyboardOf(call.buttons) ?? { inline_keyboard: [] };
    const text = call.text === '' ? labelsOf(call.buttons) : call.text;
    try {
      return await this.#done(api.editMessageText({ ...to, text, reply_markup }, this.#signal), call.message);
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind !== 'refused' || !failure.reason.includes('no text in the message')) throw error;
      return this.#done(
        api.editMessageCaption({ ...to, caption: call.text, reply_markup }, this.#signal),
        call.message,
      );
    }
  }

  /** The id lists all messages of the post. The first one holds the text and the buttons. */
  async #post(call: Post, chat: string): Promise<SendResult> {
    const steps = this.#stepsOf(call, chat);
    const name = `${botIdOf(this.#link.account)} ${this.#link.endpoint} ${call.key}`;
    const done = begun.get(name) ?? [];
    for (const step of steps.slice(done.length)) {
      const messages = await step();
      this.#state.rate.sent(chat, performance.now());
      done.push(messages.join(BESIDE));
      if (steps.length > 1) keepNewest(begun, [name, done], MOST_KEPT);
    }
    begun.delete(name);
    return { kind: 'sent', ...(done.length === 0 ? {} : { message: done.join(BESIDE) }) };
  }

  #stepsOf(call: Post, chat: string): readonly (() => Promise<readonly number[]>)[] {
    const to = { chat_id: chat, ...topicOf(call.thread), ...replyOf(call) };
    const markup = keyboardOf(call.buttons);
    const buttons = markup === undefined ? {} : { reply_markup: markup };
    const [only] = call.files;
    if (only !== undefined && isCaptioned(call.text, call.files))
      return [async () => [await this.#file(only, { ...to, ...buttons, ...captionOf(call.text) })]];
    const albums = albumsOf(call.files);
    const [first, ...rest] = albums;
    const behind = (files: readonly FileRef[]) => () => this.#album(files, { chat_id: chat, ...topicOf(call.thread) });
    if (call.text === '' && first !== undefined && markup === undefined)
      return [() => this.#album(first, to), ...rest.map(behind)];
    const text = { text: call.text === '' ? labelsOf(call.buttons) : call.text, parse_mode: 'HTML' as const };
    const say = async (): Promise<readonly number[]> => [
      (await this.#client.api.sendMessage({ ...to, ...text, ...buttons }, this.#signal)).message_id,
    ];
    return [say, ...albums.map(behind)];
  }

  /** Tries one kind after the other until Telegram accepts the file. */
  async #file(file: FileRef, to: Target): Promise<number> {
    let refusal: unknown;
    for (const { kind, isById } of waysOf(file)) {
      const input = isById ? (file.id as never) : await this.#bytes(file, refusal);
      try {
        return await this.#sendAs(kind, input, to);
      } catch (error) {
        if (!isOfAnotherKind(error)) throw error;
        refusal = error;
      }
    }
    throw refusal;
  }

  async #sendAs(kind: Kind, input: never, to: Target): Promise<number> {
    const { api } = this.#client;
    switch (kind) {
      case 'photo':
        return (await api.sendPhoto({ ...to, photo: input }, this.#signal)).message_id;
      case 'video':
        return (await api.sendVideo({ ...to, video: input }, this.#signal)).message_id;
      case 'voice':
        return (await api.sendVoice({ ...to, voice: input }, this.#signal)).message_id;
      case 'audio':
        return (await api.sendAudio({ ...to, audio: input }, this.#signal)).message_id;
      case 'document':
        return (await api.sendDocument({ ...to, document: input }, this.#signal)).message_id;
    }
  }

  async #album(files: readonly FileRef[], to: Target): Promise<readonly number[]> {
    const [only] = files;
    if (only !== undefined && files.length === 1) return [await this.#file(only, to)];
    const type = files.every(isPhoto) ? 'photo' : 'document';
    const send = async (inputs: readonly never[]): Promise<readonly number[]> => {
      const media = inputs.map((input) => ({ type, media: input }));
      const sent = await this.#client.api.sendMediaGroup({ ...to, media: media as InputMediaPhoto[] }, this.#signal);
      return sent.map(({ message_id }) => message_id);
    };
    try {
      return await send(
        await Promise.all(files.map((file) => (isById(file) ? (file.id as never) : this.#bytes(file)))),
      );
    } catch (error) {
      if (!isOfAnotherKind(error) || !files.some(isById)) throw error;
      return send(await Promise.all(files.map((file) => this.#bytes(file, error))));
    }
  }

  /** Streams the file. If it cannot be opened, the error is Telegram's earlier refusal, if any. */
  async #bytes(file: FileRef, refusal?: unknown): Promise<never> {
    const { InputFile } = this.#client;
    // The client writes the name unescaped into a header.
    const name = file.name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}";\\/]/gu, '_');
    const { content } = await this.#link.openFile(file).catch((error: unknown) => {
      throw refusal ?? error;
    });
    return new InputFile(() => content(), name) as never;
  }
}

interface Target {
  readonly chat_id: string;
  readonly message_thread_id?: number;
  readonly direct_messages_topic_id?: number;
}

/** A custom emoji is given by its numeric id. */
const reactionOf = (emoji: string): ReactionType =>
  /^\d{10,20}$/.test(emoji)
    ? { type: 'custom_emoji', custom_emoji_id: emoji }
    : { type: 'emoji', emoji: emoji.replaceAll('\uFE0F', '') as '👍' };
/** Separates the ids of a post that consists of several messages. */
const BESIDE = '+';
const numbersOf = (id: string): readonly number[] =>
  id.split(BESIDE).map((one) => (/^\d{1,15}$/.test(one) ? Number(one) : 0));
const numberOf = (id: string): number => numbersOf(id)[0] ?? 0;
const captionOf = (text: string) => (text === '' ? {} : { caption: text, parse_mode: 'HTML' as const });

/** A topic's or a direct-message topic's id. Empty for a message as thread, which becomes a reply. */
function topicOf(thread: string | undefined): Pick<Target, 'message_thread_id' | 'direct_messages_topic_id'> {
  const [, kind, id] = /^(topic|direct):(\d{1,15})$/.exec(thread ?? '') ?? [];
  if (id === undefined) return {};
  return kind === 'topic' ? { message_thread_id: Number(id) } : { direct_messages_topic_id: Number(id) };
}

function replyOf({ replyTo, thread }: Post) {
  const message_id = numberOf(replyTo ?? thread ?? '');
  return message_id === 0 ? {} : { reply_parameters: { message_id, allow_sending_without_reply: true } };
}
