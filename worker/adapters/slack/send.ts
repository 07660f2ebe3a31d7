// Sends through one call of Slack's Web API. Only files need three (files.ts).
//
//   SLACK-SEND-1  Slack does not drop duplicates. If an answer was lost, the post is searched in the history first (again.ts).
//                 Files and ephemeral messages cannot be searched, so a retry may duplicate them. The post's option `unsure` decides.
//   SLACK-SEND-2  A reply is a message in the thread of the original. A message for one person is ephemeral and has no name for later changes.
//   SLACK-SEND-3  A result that already exists (a reaction, a removed message) counts as sent.
//   SLACK-SEND-4  Slack's rate limits are by method, workspace and app. If a message must wait, the whole account waits without using attempts.
//                 A reaction waits alone, as does a searched post, because the history has a separate limit.

import type { Link, Outgoing, SendResult } from '../../sdk/index.ts';
import { type Json, textAt } from '../../sdk/platform/foreign-json.ts';
import { metadataOf, postedBefore } from './again.ts';
import { blocksOf, fallbackOf } from './blocks.ts';
import { type Answer, call as request } from './client.ts';
import type { Account } from './config.ts';
import { toSlackName } from './emoji.ts';
import { postFiles } from './files.ts';
import { messageId, readMessageId } from './place.ts';

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;
type Reaction = Extract<Outgoing, { readonly kind: 'react' }>;

/** Throws if Slack may have accepted the call but the answer is unknown. Throws `accountFailed` if Slack refuses the token. */
export async function send(call: Outgoing, link: Link<Account>): Promise<SendResult> {
  switch (call.kind) {
    case 'post':
      return post(call, link);
    case 'edit':
      return edit(call, link);
    case 'remove': {
      const { channel, ts } = readMessageId(call.message, call.conversation);
      return resultOf(await request(link, 'chat.delete', { channel, ts }), { done: ['message_not_found'] });
    }
    case 'react':
      return react(call, link);
    case 'typing':
      return refused('Slack shows no typing of apps');
  }
}

async function post(call: Post, link: Link<Account>): Promise<SendResult> {
  const channel = call.conversation;
  const thread = threadOf(call);
  if (call.files.length > 0) {
    if (call.only !== undefined) return refused('Slack shows no files to one person of a channel');
    return postFiles(call, { channel, thread }, link);
  }
  const blocks = blocksOf(call.text, call.buttons);
  const args = { channel, text: fallbackOf(call.text, call.buttons), blocks, thread_ts: thread };
  if (call.only !== undefined) {
    const answer = await request(link, 'chat.postEphemeral', { ...args, user: call.only });
    return resultOf(answer);
  }
  const before = call.repeat === true ? await postedBefore(call, { channel, thread }, link) : undefined;
  if (typeof before === 'string') return { kind: 'sent', message: before };
  if (before !== undefined) return before;
  return resultOf(await request(link, 'chat.postMessage', { ...args, metadata: metadataOf(call) }), {
    message: nameOf,
  });
}

/** Timestamp of the thread's first message. */
function threadOf({ thread, replyTo, conversation }: Post): string | undefined {
  const root = thread ?? replyTo;
  return root === undefined ? undefined : readMessageId(root, conversation).ts;
}

async function edit(call: Post, link: Link<Account>): Promise<SendResult> {
  if (call.message === undefined) return refused('an edit of no message');
  if (call.files.length > 0) return refused('Slack adds no files to a message that is there');
  const { channel, ts } = readMessageId(call.message, call.conversation);
  // An empty list removes the existing buttons.
  const blocks = blocksOf(call.text, call.buttons) ?? [];
  const args = { channel, ts, text: fallbackOf(call.text, call.buttons), blocks };
  return resultOf(await request(link, 'chat.update', args), { message: nameOf });
}

async function react(call: Reaction, link: Link<Account>): Promise<SendResult> {
  const name = toSlackName(call.emoji);
  if (name === undefined) return refused(`no name of Slack is known for ${call.emoji}: write it as :name:`);
  const { channel, ts: timestamp } = readMessageId(call.message, call.conversation);
  const answer = await request(link, call.on ? 'reactions.add' : 'reactions.remove', { channel, timestamp, name });
  return answer.kind === 'later' ? answer : resultOf(answer, { done: ['already_reacted', 'no_reaction'] });
}

const GONE: ReadonlySet<string> = new Set(['user_not_found', 'user_disabled']);

interface Reading {
  /** Extracts the message's name from the answer. */
  readonly message?: (json: Json) => string | undefined;
  /** Errors that mean the result already exists. */
  readonly done?: readonly string[];
}

function resultOf(answer: Answer, { message, done = [] }: Reading = {}): SendResult {
  if (answer.kind === 'later') return { ...answer, account: true }; // Slack's limit is for the whole workspace and app
  if (answer.kind === 'refused')
    return done.includes(answer.error)
      ? { kind: 'sent' }
      : { ...refused(answer.reason), ...(GONE.has(answer.error) ? { gone: true } : {}) };
  const name = message?.(answer.json);
  return { kind: 'sent', ...(name === undefined ? {} : { message: name }) };
}

/** For a post to a person, Slack answers with the channel used. */
function nameOf(json: Json): string | undefined {
  const [channel, ts] = [textAt(json, 'channel'), textAt(json, 'ts')];
  return ts === undefined ? undefined : messageId(channel ?? '', ts);
}

const refused = (reason: string): SendResult => ({ kind: 'refused', reason });
