// Sends posts as pushes, and shows the loading animation.
//
//   LINE-SEND-1  Posts are pushes, never replies. A reply token is valid for about a minute, works once and takes no retry key. After a crash or a
//                wait, a reply would be lost or doubled. The price: pushes count against the monthly quota.
//   LINE-SEND-2  The retry key is derived from the send's idempotency key. LINE drops a repeat within 24 hours and answers 409 with the accepted
//                messages. That counts as sent, with their ids.
//   LINE-SEND-3  A quote needs the token that came with the message. If the token is unknown or refused, the reply goes without the quote. A mention
//                that LINE refuses (of a person who left) becomes a name.
//   LINE-SEND-4  During a delivery to many people LINE reserves quota. Other pushes are refused as if the month's quota were exhausted. A push that
//                fits into the rest is `later`.
//   LINE-SEND-5  A push holds five messages. Further messages go into further pushes, each with its own retry key.
import { createHash } from 'node:crypto';
import type { Link, Outgoing, SendResult } from '../../sdk/index.ts';
import { listAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { type Answer, call } from './client.ts';
import type { Account } from './config.ts';
import { messagesOf, namedIn, type Told } from './messages.ts';
import { rememberedOf } from './remembered.ts';
import { isPerson } from './text.ts';

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;
type SentMessages = readonly { readonly id?: string; readonly quoteToken?: string }[];

const TYPING_SECONDS = 20;
/** LINE's limit for one push. */
const MOST_MESSAGES = 5;
const HELD_WAIT_MS = 60_000;
/** Largest group. A push counts once for each member. */
const MOST_MEMBERS = 500;

/** Throws if the outcome is unknown. Throws `accountFailed` if LINE rejects the token. */
export async function send(out: Outgoing, link: Link<Account>): Promise<SendResult> {
  if (!/^[UCR][0-9a-f]{32}$/.test(out.conversation))
    return refused('this is not the id of a person, a group or a room of LINE');
  switch (out.kind) {
    case 'post':
      return post(out, link);
    case 'edit':
    case 'remove':
      return refused('a bot of LINE cannot change what it has said');
    case 'react':
      return refused('LINE has no reactions of bots');
    case 'typing':
      return typing(out.conversation, link);
  }
}

async function post(out: Post, link: Link<Account>): Promise<SendResult> {
  const lost = out.files.find((file) => link.fileUrl(file) === undefined);
  if (lost !== undefined) return refused(`LINE fetches pictures from http.publicUrl, and has no link to ${lost.name}`);
  await learnNames(out, link);
  const quoteToken = out.replyTo === undefined ? undefined : rememberedOf(link.account).quoteOf(out.replyTo);
  let form: Form = { quoteToken, mentions: true, images: true };
  for (;;) {
    const answer = await push(out, form, link);
    const simpler = simplerThan(form, answer);
    if (simpler === undefined) return (await heldBack(answer, out, link)) ?? resultOf(answer, link);
    form = simpler;
  }
}

type Form = Omit<Told, 'nameOf' | 'urlOf'>;

/** A form without the part that LINE refused: quote, pictures or mentions. A refused push was not sent, so its retry key is still usable. */
function simplerThan(form: Form, answer: Answer<SentMessages>): Form | undefined {
  if (answer.kind !== 'refused' || answer.status !== 400) return undefined;
  if (form.quoteToken !== undefined && /quote/i.test(answer.reason)) return { ...form, quoteToken: undefined };
  if (form.images && /(?:originalContent|previewImage)Url/i.test(answer.reason)) return { ...form, images: false };
  return form.mentions && /mention|substitution/i.test(answer.reason) ? { ...form, mentions: false } : undefined;
}

/** Returns `later` if LINE reports an exhausted quota but enough of it is left. LINE then reserves it for a delivery to many people. */
async function heldBack(answer: Answer<SentMessages>, out: Post, link: Link<Account>): Promise<SendResult | undefined> {
  if (answer.kind !== 'refused' || answer.status !== 429) return undefined;
  const left = await leftOf(link);
  const isEnough = left !== undefined && left >= (isPerson(out.conversation) ? 1 : MOST_MEMBERS);
  return isEnough ? { kind: 'later', afterMs: HELD_WAIT_MS } : undefined;
}

interface Left {
  readonly at: number;
  readonly messages: Promise<number | undefined>;
}
const known = new WeakMap<Account, Left>();

/**
 * Rest of the monthly quota, cached for a minute. Without the cache, every push would ask once the quota is exhausted. Undefined: LINE does not tell.
 */
function leftOf(link: Link<Account>): Promise<number | undefined> {
  const before = known.get(link.account);
  const now = performance.now();
  if (before !== undefined && now - before.at < HELD_WAIT_MS) return before.messages;
  const messages = askLeft(link);
  known.set(link.account, { at: now, messages });
  return messages;
}

async function askLeft(link: Link<Account>): Promise<number | undefined> {
  const quota = await call(link, 'quota', (api) => api.getMessageQuota()).catch(() => undefined);
  const used = await call(link, 'quota used', (api) => api.getMessageQuotaConsumption()).catch(() => undefined);
  if (quota?.kind === 'ok' && used?.kind === 'ok')
    return quota.value.value === undefined ? undefined : quota.value.value - used.value.totalUsage;
  known.delete(link.account);
  return undefined;
}

/** Pushes all messages, five at a time. Retry keys derive from the send's idempotency key, so LINE drops repeats. */
async function push(out: Post, form: Form, link: Link<Account>): Promise<Answer<SentMessages>> {
  const remembered = rememberedOf(link.account);
  const nameOf = (user: string): string => remembered.nameOf(user) ?? user;
  const all = messagesOf(out, { ...form, nameOf, urlOf: (file) => link.fileUrl(file) });
  let first: Answer<SentMessages> = { kind: 'refused', status: 400, reason: 'there is nothing to say' };
  for (let at = 0; at < all.length; at += MOST_MESSAGES) {
    const messages = all.slice(at, at + MOST_MESSAGES);
    const key = retryKeyOf(at === 0 ? out.key : `${out.key}/${at}`);
    const answer = await call(link, 'push', async (api) => {
      const { sentMessages } = (await api.pushMessage({ to: out.conversation, messages }, key)) ?? {};
      return sentMessages ?? [];
    });
    if (answer.kind !== 'ok' && answer.kind !== 'accepted') return answer;
    if (at === 0) first = answer;
  }
  return first;
}

/** A UUID (version 8), always the same for the same key. */
export function retryKeyOf(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function resultOf(answer: Answer<SentMessages>, link: Link<Account>): SendResult {
  if (answer.kind === 'later')
    return { kind: 'later', afterMs: answer.afterMs, ...(answer.isLimit ? { account: true } : {}) };
  if (answer.kind === 'refused') return refused(answer.reason);
  if (answer.kind === 'accepted')
    link.log.info({ accepted: answer.request }, 'LINE had accepted this message before: it is not sent again');
  const sent: SentMessages =
    answer.kind === 'ok'
      ? answer.value
      : listAt(answer.json, 'sentMessages').map((one) => {
          const [id, quoteToken] = [textAt(one, 'id'), textAt(one, 'quoteToken')];
          return { ...(id === undefined ? {} : { id }), ...(quoteToken === undefined ? {} : { quoteToken }) };
        });
  for (const { id, quoteToken } of sent) if (id !== undefined) rememberedOf(link.account).sent(id, quoteToken);
  const id = sent[0]?.id;
  return { kind: 'sent', ...(id === undefined ? {} : { message: id }) };
}

/** LINE's events contain no names, so profiles are requested. If that fails, the user id stands in for the name. */
async function learnNames(out: Post, link: Link<Account>): Promise<void> {
  const remembered = rememberedOf(link.account);
  for (const user of new Set(namedIn(out))) {
    if (remembered.nameOf(user) !== undefined) continue;
    const answer = await call(link, 'profile', (api) => api.getProfile(user)).catch(() => undefined);
    if (answer?.kind === 'ok' && answer.value.displayName !== '') remembered.named(user, answer.value.displayName);
  }
}

async function typing(chatId: string, link: Link<Account>): Promise<SendResult> {
  if (!isPerson(chatId)) return refused('LINE shows no typing in groups');
  const answer = await call(link, 'typing', (api) =>
    api.showLoadingAnimation({ chatId, loadingSeconds: TYPING_SECONDS }),
  );
  if (answer.kind === 'later') return { kind: 'later', afterMs: answer.afterMs };
  return answer.kind === 'refused' ? refused(answer.reason) : { kind: 'sent' };
}

const refused = (reason: string): SendResult => ({ kind: 'refused', reason });
