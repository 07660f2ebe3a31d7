// One post, edit, removal, reaction or typing → calls of the Bot API. A post is one call: files that do not go with its text are posts of
// their own (albums.ts). One that was stored with all of them by an older version takes several, and a repeat within the life of the process
// goes on where it stopped.
//
//   S1  Threads: `topic:<id>` is a topic, `direct:<id>` who writes to a channel in private; a message as thread is
//       answered, for Telegram opens no thread under one.
//   S2  What is already so (not modified, not found to remove) counts as done: a repeat must not fail.
//   S3  A group that became a supergroup is followed to its new id: Telegram refused the call, so it was not made.
//   S4  A call that was begun is not cut when the poll loses its connection or the account is reloaded: cut, it would be made twice.
//   S5  A file has the kind with which it came (video, voice, …), and by its id it is sent as that alone: Telegram refuses another one.
//   S6  What took several messages is removed with all of them; answers, edits and reactions are of the first.
//   S7  An album takes no buttons: where there is no text that could hold them, they are a message before it, under their labels.
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
/** Ids of what was sent of a post that is not whole yet, by bot, endpoint and key: a reload makes another account of the same. */
const begun = new Map<string, string[]>();

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
  if (failure.kind === 'refused') return { kind: 'refused', reason: `Telegram: ${failure.reason}` };
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
    this.#signal = AbortSignal.timeout(TIME_LIMIT_MS) as never; // S4
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

  /** S2. */
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

  /** The id is that of the first message, which holds the text and the buttons, and of those with files behind it (S6). */
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

  /** S5. */
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

  /** As they are read. Where they cannot be, what Telegram refused before is why. */
  async #bytes(file: FileRef, refusal?: unknown): Promise<never> {
    const { InputFile } = this.#client;
    // The client writes the name into a header as it is.
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

/** One that is not of Unicode is named by its number. */
const reactionOf = (emoji: string): ReactionType =>
  /^\d{10,20}$/.test(emoji)
    ? { type: 'custom_emoji', custom_emoji_id: emoji }
    : { type: 'emoji', emoji: emoji.replaceAll('\uFE0F', '') as '👍' };
/** Between the ids of a post that lies there as several messages (S6). */
const BESIDE = '+';
const numbersOf = (id: string): readonly number[] =>
  id.split(BESIDE).map((one) => (/^\d{1,15}$/.test(one) ? Number(one) : 0));
const numberOf = (id: string): number => numbersOf(id)[0] ?? 0;
const captionOf = (text: string) => (text === '' ? {} : { caption: text, parse_mode: 'HTML' as const });

/** S1. */
function topicOf(thread: string | undefined): Pick<Target, 'message_thread_id' | 'direct_messages_topic_id'> {
  const [, kind, id] = /^(topic|direct):(\d{1,15})$/.exec(thread ?? '') ?? [];
  if (id === undefined) return {};
  return kind === 'topic' ? { message_thread_id: Number(id) } : { direct_messages_topic_id: Number(id) };
}

function replyOf({ replyTo, thread }: Post) {
  const message_id = numberOf(replyTo ?? thread ?? '');
  return message_id === 0 ? {} : { reply_parameters: { message_id, allow_sending_without_reply: true } };
}
