// What goes out: one call of the Web API for each send, but for files, which take three (files.ts).
//
//   S1  Slack drops no repeats: a post whose answer was lost is looked for first (again.ts). Files and ephemeral messages cannot be, and may
//       show twice: `unsure` of the body decides whether they are sent again.
//   S2  A reply is a message in the thread of what it answers to. What is for one person is an ephemeral message, which has no name later.
//   S3  A state that is there already (a reaction, a message that is gone) is what was asked for.
//   S4  Slack counts by method, workspace and app: where it asks to wait for a message, everything of the account waits, and none of it uses up an
//       attempt. A reaction waits alone, and so does a post that is looked for: the history has a limit of its own.

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

/** Throws when it may have been taken and the answer is not known, and `accountFailed` when Slack refuses the token. */
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

/** Its root. */
function threadOf({ thread, replyTo, conversation }: Post): string | undefined {
  const root = thread ?? replyTo;
  return root === undefined ? undefined : readMessageId(root, conversation).ts;
}

async function edit(call: Post, link: Link<Account>): Promise<SendResult> {
  if (call.message === undefined) return refused('an edit of no message');
  if (call.files.length > 0) return refused('Slack adds no files to a message that is there');
  const { channel, ts } = readMessageId(call.message, call.conversation);
  // An empty list takes away the buttons that are there.
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

interface Reading {
  /** The name of the message in the answer. */
  readonly message?: (json: Json) => string | undefined;
  /** Errors that say it is so already. */
  readonly done?: readonly string[];
}

function resultOf(answer: Answer, { message, done = [] }: Reading = {}): SendResult {
  if (answer.kind === 'later') return { ...answer, account: true }; // S4
  if (answer.kind === 'refused') return done.includes(answer.error) ? { kind: 'sent' } : refused(answer.reason);
  const name = message?.(answer.json);
  return { kind: 'sent', ...(name === undefined ? {} : { message: name }) };
}

/** A post to a person is answered with the channel that it went to. */
function nameOf(json: Json): string | undefined {
  const [channel, ts] = [textAt(json, 'channel'), textAt(json, 'ts')];
  return ts === undefined ? undefined : messageId(channel ?? '', ts);
}

const refused = (reason: string): SendResult => ({ kind: 'refused', reason });
