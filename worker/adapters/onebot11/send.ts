// Turns a post, removal or reaction into calls of the implementation. A post is one message with its pictures. Other files are separate messages.
// A retry in the same process continues after the last sent message.
//
//   ONEBOT11-SEND-1  OneBot has no idempotency keys, and a post has no mark to find it by. So a post may appear twice after a lost answer. The option
//                    `unsure` of a post decides whether it is retried.
//   ONEBOT11-SEND-2  A message that is already gone counts as removed, so a retry succeeds.
//   ONEBOT11-SEND-3  A call waits here for its slot of the rate limit. If the connection ends meanwhile, the call was not made.
//   ONEBOT11-SEND-4  Pictures of one message are held in memory up to the limit of one file. Further pictures become further messages.
//   ONEBOT11-SEND-5  Removing a post of several messages removes all of them. Replies and reactions refer to the first.
import { SvcError } from '../../../shared/svc-error.ts';
import type { FileRef, FilesApart, Link, Outgoing, SendResult } from '../../sdk/index.ts';
import { isObject } from '../../sdk/platform/foreign-json.ts';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';
import type { Answer } from './calls/answer.ts';
import { type Caller, callerOf } from './calls/caller.ts';
import { placeInLine } from './calls/pace.ts';
import type { Account } from './config.ts';
import { imagePiece, isPicture, MOST_SENT_BYTES, sendFile, withSources } from './files.ts';
import { type Piece, parseCq, textPiece } from './message/cq-code.ts';
import { toEmojiId } from './message/emoji.ts';
import { idAt, idOut } from './message/json.ts';
import { messageTo, type Place, readPlace } from './place.ts';

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;

const MOST_KEPT = 1_000;
/** Sent messages of incomplete posts, by endpoint and key. Not by account object, because a reload creates a new one. */
const begun = new Map<string, string[]>();

export async function send(call: Outgoing, link: Link<Account>): Promise<SendResult> {
  const place = readPlace(call.conversation);
  if (place === undefined) return refused('this is not the name of a conversation: private:<user> or group:<group>');
  if (call.kind === 'edit') return refused('OneBot changes no messages');
  if (call.kind === 'typing') return refused('OneBot shows no typing');
  const caller = callerOf(link);
  const line = placeInLine(link.account, call.key, performance.now());
  if ('afterMs' in line) return { kind: 'later', afterMs: line.afterMs };
  await waited(line.waitMs, link.signal);
  switch (call.kind) {
    case 'post':
      return post(call, { place, caller, link });
    case 'remove':
      return remove(idsIn(call.message), caller);
    case 'react':
      return react(call, { place, caller, link });
  }
}

interface Target {
  readonly place: Place;
  readonly caller: Caller;
  readonly link: Link<Account>;
}

async function post(call: Post, target: Target): Promise<SendResult> {
  const name = `${target.link.endpoint} ${call.key}`;
  const steps = stepsOf(call, target);
  const done = begun.get(name) ?? [];
  for (const step of steps.slice(done.length)) {
    const answer = await step();
    if (answer.kind !== 'ok') return resultOf(answer);
    done.push((isObject(answer.data) ? idAt(answer.data, 'message_id') : undefined) ?? '');
    if (steps.length > 1) keepNewest(begun, [name, done], MOST_KEPT);
  }
  begun.delete(name);
  const messages = done.filter((id) => id !== '');
  return { kind: 'sent', ...(messages.length === 0 ? {} : { message: messages.join(BESIDE) }) };
}

/** Removes all messages of a post. */
async function remove(ids: readonly string[], caller: Caller): Promise<SendResult> {
  for (const id of ids) {
    const result = resultOf(await caller.call('delete_msg', { message_id: idOut(id) }), { isGone: true });
    if (result.kind !== 'sent') return result;
  }
  return { kind: 'sent' };
}

/** Separates the ids of a post. Ids never contain this character. */
const BESIDE = ',';
const idsIn = (message: string): readonly string[] => message.split(BESIDE);
const firstOf = (message: string): string => idsIn(message)[0] ?? '';

type Words = Pick<Post, 'text'> & { readonly replyTo?: string | undefined };

/** The message with its pictures comes first, because its id identifies the post. */
function stepsOf(call: Post, target: Target): readonly (() => Promise<Answer>)[] {
  const pictures = call.files.filter(isPicture);
  const others = call.files.filter((file) => !isPicture(file));
  const [first = [], ...more] = inMessages(pictures);
  const steps = [
    ...more.map((some) => () => say({ ...call, text: '', replyTo: undefined }, some, target)),
    ...others.map((file) => () => sendFile(file, target)),
  ];
  if (call.text === '' && first.length === 0) return steps;
  return [() => say(call, first, target), ...steps];
}

/** Pictures go with the text, as many as one call holds. Each further call is counted as a post of its own. */
export function apart(text: string, files: readonly FileRef[]): FilesApart {
  const [first, ...more] = inMessages(files.filter(isPicture));
  const behind = [...more, ...files.filter((file) => !isPicture(file)).map((file) => [file])];
  if (first !== undefined) return { withText: first, behind };
  return text === '' ? { withText: behind[0] ?? [], behind: behind.slice(1) } : { withText: [], behind };
}

/** Groups pictures so that one message holds no more bytes than one file may have. */
function inMessages(pictures: readonly FileRef[]): readonly (readonly FileRef[])[] {
  const messages: FileRef[][] = [];
  let bytes = 0;
  for (const picture of pictures) {
    const last = messages.at(-1);
    bytes += picture.bytes;
    if (last !== undefined && bytes <= MOST_SENT_BYTES) last.push(picture);
    else {
      messages.push([picture]);
      ({ bytes } = picture);
    }
  }
  return messages;
}

async function say(call: Words, pictures: readonly FileRef[], { place, caller, link }: Target): Promise<Answer> {
  const reply: readonly Piece[] =
    call.replyTo === undefined ? [] : [{ type: 'reply', data: { id: firstOf(call.replyTo) } }];
  const words = [...reply, ...wordsFor(call.text, place)];
  return withSources(pictures, link, (sources) =>
    caller.call(...messageTo(place, [...words, ...sources.map(imagePiece)])),
  );
}

/** In private a mention becomes a name, since no other person is present. */
function wordsFor(text: string, place: Place): readonly Piece[] {
  const pieces = parseCq(text);
  if (place.kind === 'group') return pieces;
  return pieces.map((piece) => (piece.type === 'at' ? textPiece(`@${idAt(piece.data, 'qq') ?? ''}`) : piece));
}

/**
 * Reactions are an extension with several forms. NapCat and LLOneBot share one call, older versions remove reactions by another, and Lagrange has a
 * call for groups.
 */
async function react(
  { emoji, message, on }: Extract<Outgoing, { readonly kind: 'react' }>,
  { caller, place }: Target,
): Promise<SendResult> {
  const code = toEmojiId(emoji);
  if (code === undefined) return refused(`QQ has no reaction ${emoji}: an emoji, or face:<number>`);
  const of = { message_id: idOut(firstOf(message)) };
  const ways: readonly (readonly [action: string, params: object])[] = [
    ...(on ? [] : [['unset_msg_emoji_like', { ...of, emoji_id: code }] as const]),
    ['set_msg_emoji_like', { ...of, emoji_id: code, set: on }],
    ...(place.kind === 'group'
      ? [['set_group_reaction', { ...of, group_id: idOut(place.group), code, is_add: on }] as const]
      : []),
  ];
  let result: SendResult = refused('the implementation has no reactions');
  for (const [action, params] of ways) {
    const answer = await caller.call(action, params);
    result = resultOf(answer);
    if (answer.kind !== 'refused' || answer.isMissing !== true) break;
  }
  return result;
}

function resultOf(answer: Answer, { isGone = false }: { readonly isGone?: boolean } = {}): SendResult {
  switch (answer.kind) {
    case 'ok':
      return { kind: 'sent' };
    case 'later':
      return { ...answer, account: true }; // the whole account waits for the end of the rate limit
    case 'refused':
      return isGone && /not (?:found|exist)|不存在|已撤回/i.test(answer.reason)
        ? { kind: 'sent' }
        : refused(answer.reason);
  }
}

/** Waits for a slot. If the connection ends meanwhile, throws `endpoint_unavailable`, because the call was not made. */
async function waited(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return;
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new SvcError('endpoint_unavailable', 'the connection ended before the call was made'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}

const refused = (reason: string): SendResult => ({ kind: 'refused', reason });
