// Sends posts and other actions: one API call each, unless the files need several messages.
//
//   DISCORD-SEND-1  A post has a nonce derived from its idempotency key, and Discord enforces it. For a few minutes a retry returns the existing
//                   message. After NONCE_MS the channel is searched for the message first.
//   DISCORD-SEND-2  A thread under a message has that message's id. The thread is opened when first used. In private, in a thread or beside a voice
//                   channel, Discord opens none. The message is answered instead.
//   DISCORD-SEND-3  A post notifies only people whom its text mentions. A reply notifies nobody.
//   DISCORD-SEND-4  An action whose result exists already, such as the removal of a missing message, succeeds.
//   DISCORD-SEND-5  The reply to a command is a normal message in the channel or in private. If the bot may not write there, only the command's
//                   person sees the reply.
//   DISCORD-SEND-6  Files that exceed one message go into further messages with nonces of their own. A retry returns existing ones, and a removal
//                   deletes all.
import { createHash } from 'node:crypto';
import type { Link, Outgoing, SendResult } from '../../sdk/index.ts';
import { asObject, type Json, textAt } from '../../sdk/platform/foreign-json.ts';
import { NOTHING_BEFORE, postedBefore } from './again.ts';
import { type Answer, call as request } from './client.ts';
import type { Account } from './config.ts';
import { filesToSend } from './files.ts';
import { formOf, type SentFile } from './form.ts';
import { deferredOfAccount } from './interactions/deferred.ts';
import { besideEachOther, isSnowflake, messageId, messagesIn, personOf, readMessageId } from './place.ts';
import { rowsOf, shownText } from './rows.ts';
import { mentionsIn } from './text.ts';

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;
type Reaction = Extract<Outgoing, { readonly kind: 'react' }>;

/** Discord documents that nonces hold for "a few minutes". */
export const NONCE_MS = 60_000;

const UNKNOWN_CHANNEL = 10_003;
const UNKNOWN_MESSAGE = 10_008;
const THREAD_EXISTS = 160_004;
/** Error codes for a channel that supports no threads, private or by type. */
const NO_THREADS: ReadonlySet<number | undefined> = new Set([50_003, 50_024]);
/** Error codes for missing access, a person who accepts no messages, or missing permission. */
const MAY_NOT: ReadonlySet<number | undefined> = new Set([50_001, 50_007, 50_013, 50_278]);
const MOST_FILES = 10;
/** Discord allows 25 MiB for a request, including the form. */
const MOST_MESSAGE_BYTES = 26_000_000;
/** Length limit for the name of a thread, in letters. */
const MOST_NAME = 80;

/** Throws if the outcome is unknown. Throws `accountFailed` if Discord refuses the token. */
export async function send(call: Outgoing, link: Link<Account>): Promise<SendResult> {
  switch (call.kind) {
    case 'post':
      return post(call, link);
    case 'edit':
      return edit(call, link);
    case 'remove':
      return remove(call.message, link);
    case 'react':
      return react(call, link);
    case 'typing': {
      const channel = await channelOf(call, link);
      if (typeof channel !== 'string') return resultOf(channel);
      return resultOf(await request(link, { method: 'POST', path: `/channels/${channel}/typing` }));
    }
  }
}

async function remove(message: string, link: Link<Account>): Promise<SendResult> {
  for (const one of messagesIn(message)) {
    const at = readMessageId(one);
    if (at === undefined) return refused('this is not the id of a message');
    const path = `/channels/${at.channel}/messages/${at.id}` as const;
    const result = resultOf(await request(link, { method: 'DELETE', path }), { done: UNKNOWN_MESSAGE });
    if (result.kind !== 'sent') return result;
  }
  return { kind: 'sent' };
}

async function post(call: Post, link: Link<Account>): Promise<SendResult> {
  const channel = await channelOf(call, link);
  if (typeof channel !== 'string') return resultOf(channel);
  const before = call.repeat === true ? await postedBefore(call, channel, link) : NOTHING_BEFORE;
  if ('kind' in before) return before;
  const path = `/channels/${channel}/messages` as const;
  const say = async (body: Json, files: readonly SentFile[], buttons: Post['buttons'] = []): Promise<Answer> => {
    const shown = {
      content: textAt(body, 'content') ?? '',
      buttons: buttons.map(({ token }) => token),
      files: files.length,
    };
    const json = before.take(shown);
    if (json !== undefined) return { kind: 'ok', json };
    return request(link, { method: 'POST', path, ...(files.length === 0 ? { body } : { form: formOf(body, files) }) });
  };
  const [files = [], ...others] = inMessages(await filesToSend(call.files, link));
  const first = { ...keyed(call.key), ...bodyOf(call), ...replyOf(call) };
  let answer = await say(first, files, call.buttons);
  if (call.thread !== undefined && answer.kind === 'refused' && answer.code === UNKNOWN_CHANNEL) {
    const opened = await openThread(call, link);
    if (opened.kind === 'refused' && NO_THREADS.has(opened.code)) return post(withoutThread(call), link);
    const isThere = opened.kind === 'ok' || (opened.kind === 'refused' && opened.code === THREAD_EXISTS);
    answer = isThere ? await say(first, files, call.buttons) : opened;
  }
  const behind: string[] = [];
  for (const [index, more] of answer.kind === 'ok' ? others.entries() : []) {
    const shown = resultOf(await say(keyed(`${call.key} ${index + 1}`), more), { isMessage: true });
    if (shown.kind !== 'sent') return shown;
    if (shown.message !== undefined) behind.push(shown.message);
  }
  const result = await settled(answer, call, link);
  if (result.kind !== 'sent' || result.message === undefined) return result;
  return { kind: 'sent', message: besideEachOther([result.message, ...behind]) };
}

/** Answers the message that the thread would hang under, for channels without threads. */
const withoutThread = ({ thread, replyTo = thread, ...call }: Post): Post => ({
  ...call,
  ...(replyTo === undefined ? {} : { replyTo }),
});

/** Distributes files over as many messages as count and size limits require. */
function inMessages(files: readonly SentFile[]): readonly (readonly SentFile[])[] {
  const messages: SentFile[][] = [];
  let bytes = 0;
  for (const file of files) {
    const last = messages.at(-1);
    bytes += file.bytes;
    if (last !== undefined && last.length < MOST_FILES && bytes <= MOST_MESSAGE_BYTES) last.push(file);
    else {
      messages.push([file]);
      ({ bytes } = file);
    }
  }
  return messages;
}

/** Removes "thinking…" after a reply. If the bot may not write in the channel, shows the reply to the command's person. */
async function settled(answer: Answer, call: Post, link: Link<Account>): Promise<SendResult> {
  const deferred = deferredOfAccount(link.account);
  const waiting = deferred.first(call.conversation);
  if (waiting === undefined) return resultOf(answer, { isMessage: true });
  const { token, told } = waiting;
  if (answer.kind === 'ok' && deferred.end(token)) {
    // The post is sent. A failure to remove "thinking…" does not change that.
    void takeAway(token, link, told).catch(() => {});
  } else if (answer.kind === 'refused' && MAY_NOT.has(answer.code) && call.files.length === 0) {
    await told;
    if (!deferred.has(token)) return resultOf(answer, { isMessage: true });
    const shown = await request(link, { ...originalOf(link.account, token), method: 'PATCH', body: bodyOf(call) });
    if (shown.kind === 'ok') deferred.end(token);
    return shown.kind === 'ok' ? { kind: 'sent' } : resultOf(shown.kind === 'later' ? shown : answer);
  }
  return resultOf(answer, { isMessage: true });
}

/** Waits until Discord shows "thinking…", then removes it. */
async function takeAway(token: string, link: Link<Account>, told: Promise<void> | undefined): Promise<void> {
  await told;
  await request(link, { ...originalOf(link.account, token), method: 'DELETE' });
}

/** The "thinking…" message of a command. */
export const originalOf = ({ applicationId }: Account, token: string) =>
  ({ path: `/webhooks/${applicationId}/${token}/messages/@original`, anonymous: true }) as const;

function bodyOf(call: Post): Json {
  const content = shownText(call);
  return { content, allowed_mentions: mentionsIn(content), components: rowsOf(call.buttons) };
}

function replyOf({ replyTo, thread }: Post): Json {
  const to = replyTo === undefined ? undefined : readMessageId(replyTo);
  // A message in a thread cannot answer one outside of it.
  if (to === undefined || thread !== undefined) return {};
  return { message_reference: { message_id: to.id, channel_id: to.channel, fail_if_not_exists: false } };
}

/** The nonce of a post, derived from its key. Discord allows 25 characters. */
const keyed = (key: string): Json => ({
  nonce: createHash('sha256').update(key).digest('base64url').slice(0, 22),
  enforce_nonce: true,
});

/** Opens the thread under a message. The thread's name is taken from the text. */
function openThread({ thread = '', text }: Post, link: Link<Account>): Promise<Answer> {
  const plain = text
    .replace(/[\\*_~`|<>#[\]\u200b]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const name = Array.from(plain).slice(0, MOST_NAME).join('') || 'Thread';
  const { channel, id } = readMessageId(thread) ?? { channel: '0', id: '0' };
  return request(link, {
    method: 'POST',
    path: `/channels/${channel}/messages/${id}/threads`,
    body: { name },
  });
}

async function edit(call: Post, link: Link<Account>): Promise<SendResult> {
  const at = readMessageId(call.message ?? '');
  if (at === undefined) return refused('this is not the id of a message');
  if (call.files.length > 0) return refused('files are not added to a message that is there');
  const path = `/channels/${at.channel}/messages/${at.id}` as const;
  return resultOf(await request(link, { method: 'PATCH', path, body: bodyOf(call) }), { isMessage: true });
}

async function react(call: Reaction, link: Link<Account>): Promise<SendResult> {
  const at = readMessageId(call.message);
  if (at === undefined) return refused('this is not the id of a message');
  const [, custom] = /^<?a?:?(\w{1,64}:\d{15,21})>?$/.exec(call.emoji) ?? [];
  const emoji = encodeURIComponent(custom ?? call.emoji);
  const path = `/channels/${at.channel}/messages/${at.id}/reactions/${emoji}/@me` as const;
  return resultOf(await request(link, { method: call.on ? 'PUT' : 'DELETE', path }));
}

const channels = new WeakMap<Account, Map<string, string>>();
const MOST_CHANNELS = 1_000;

/** The channel's id: of the channel itself, of a thread, or of a private conversation that Discord opens if needed. */
async function channelOf({ conversation, thread }: Outgoing, link: Link<Account>): Promise<string | Answer> {
  if (thread !== undefined) return readMessageId(thread)?.id ?? unnamed;
  const person = personOf(conversation);
  if (person === undefined) return isSnowflake(conversation) ? conversation : unnamed;
  const known = channels.get(link.account) ?? new Map<string, string>();
  channels.set(link.account, known);
  const channel = known.get(person);
  if (channel !== undefined) return channel;
  const answer = await request(link, { method: 'POST', path: '/users/@me/channels', body: { recipient_id: person } });
  if (answer.kind !== 'ok') return answer;
  const id = textAt(asObject(answer.json), 'id');
  if (id === undefined) throw new Error('POST /users/@me/channels: no channel');
  if (known.size >= MOST_CHANNELS) known.clear();
  known.set(person, id);
  return id;
}

const unnamed: Answer = {
  kind: 'refused',
  status: 404,
  code: UNKNOWN_CHANNEL,
  reason: 'this is not the id of a channel',
};

/** Unknown channel, unknown user. */
const GONE: ReadonlySet<number | undefined> = new Set([UNKNOWN_CHANNEL, 10_013]);

interface Reading {
  readonly isMessage?: true;
  /** The error code that means the wanted result exists already. */
  readonly done?: number;
}

function resultOf(answer: Answer, { isMessage, done }: Reading = {}): SendResult {
  if (answer.kind === 'later') return answer;
  if (answer.kind === 'refused')
    return answer.code === done && done !== undefined
      ? { kind: 'sent' }
      : { ...refused(answer.reason), ...(GONE.has(answer.code) ? { gone: true } : {}) };
  const json = asObject(answer.json);
  const [channel, id] = [textAt(json, 'channel_id'), textAt(json, 'id')];
  const isNamed = isMessage === true && channel !== undefined && id !== undefined;
  return { kind: 'sent', ...(isNamed ? { message: messageId(channel, id) } : {}) };
}

const refused = (reason: string): SendResult => ({ kind: 'refused', reason });
