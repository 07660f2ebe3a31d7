// The life of an account. Polling: one long poll after the other; an update is confirmed to Telegram by the next poll, which begins only once
// it is stored with its cursor. Webhook: says whether Telegram knows an address, and stays.
//
//   L1  The cursor is `<bot>:<offset>`, the offset one more than the update that came last, also when it is lower than before: ids start anew
//       after a week of silence and on another server, and Telegram then answers an offset that it does not know from the beginning.
//   L2  A token that Telegram refuses ends the account; everything else is a lost connection, and coming back is the caller's.
//   L3  A webhook that is set while the account polls is taken away: the configuration says that it polls. What waits is kept.
//   L4  A webhook is asked about every ten minutes: a token that was revoked, an address that was taken away and deliveries that fail would
//       otherwise be silence. The last two make the account degraded, and it is asked every minute until they are over, and once it is
//       registered.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Update, WebhookInfo } from 'grammy/types';
import { accountFailed, type CommandInfo, type Link } from '../../sdk/index.ts';
import { limitedSignal } from '../../sdk/platform/limited-signal.ts';
import { lookNow, nextLook } from '../../sdk/platform/next-look.ts';
import { type Client, clientOf, failureOf, thrown } from './client.ts';
import { type Account, accountFault, botIdOf, learnUsername, UPDATES } from './config.ts';
import { administratorsOf, arrivalsOf, contextOf } from './parse.ts';

export interface Waits {
  /** Of a webhook that is well. */
  readonly checkMs: number;
  /** Of one that is not well. */
  readonly recheckMs: number;
  /** How long Telegram may keep a poll without an update. */
  readonly pollSeconds: number;
  /** For the answer to a call; to a poll once its time is over. One that does not come is a lost connection. */
  readonly answerMs: number;
}
export const WAITS: Waits = { checkMs: 600_000, recheckMs: 60_000, pollSeconds: 30, answerMs: 20_000 };

const MOST_COMMANDS = 100;
const MOST_DESCRIPTION = 256;
/** Telegram keeps the last failure after it is over, and tries again for hours. */
const RECENT_MS = 7_200_000;

/** grammY's own type of a signal is that of an older library. */
const limited = (link: Pick<Link<Account>, 'signal'>, ms = WAITS.answerMs): never =>
  limitedSignal(link.signal, ms) as never;

/** Resolves when the link's signal ends it; throws when the connection is lost. */
export async function connect(link: Link<Account>, waits = WAITS): Promise<void> {
  const fault = accountFault(link.account);
  if (fault !== undefined) throw accountFailed(fault.reason, fault.remedy);
  const client = await clientOf(link.account);
  const ask = async (chat: string): Promise<readonly string[]> =>
    (await client.api.getChatAdministrators({ chat_id: chat }, limited(link))).map(({ user }) => String(user.id));
  administratorsOf(link.account).open(ask);
  try {
    const { username } = await client.api.getMe(limited(link));
    learnUsername(link.account, username);
    if (link.account.mode === 'webhook') await stay(client, link, waits);
    else await poll(client, link, waits);
  } catch (error) {
    if (!link.signal.aborted) throw error instanceof LinkFault ? error.cause : thrown(error);
  } finally {
    administratorsOf(link.account).close(ask);
  }
}

/** The host's own refusal to store, which is no answer of Telegram. */
class LinkFault extends Error {}

/** L4. */
async function stay({ api }: Client, link: Link<Account>, { checkMs, recheckMs }: Waits): Promise<void> {
  const remedy = `svc webhooks register ${link.endpoint.split(':').at(-1)}`;
  let said = '';
  link.online();
  while (!link.signal.aborted) {
    const info = await api.getWebhookInfo(limited(link));
    const fault = faultOf(info, { now: Date.now(), settledAt: settled.get(link.account) ?? 0 });
    const { pending_update_count: waiting } = info;
    if (fault !== undefined && fault !== said) link.log.warn({ error: fault, waiting, remedy }, 'webhook of Telegram');
    said = fault ?? '';
    if (fault === undefined) link.online();
    else link.degraded(`${fault} (${remedy}; svc doctor --endpoint tells more)`);
    await nextLook(link.account, fault === undefined ? checkMs : recheckMs, link.signal);
  }
}

/** The last failure, in Telegram's seconds, when the address was registered: it says nothing of that address and its secret. */
const settled = new WeakMap<Account, number>();

interface Times {
  readonly now: number;
  readonly settledAt: number;
}

/** Why nothing is delivered. What failed before is over once nothing waits. */
function faultOf(info: WebhookInfo, { now, settledAt }: Times): string | undefined {
  const { url, last_error_message: why, last_error_date: at = 0, pending_update_count: waiting } = info;
  if (!url) return 'Telegram knows no address for this bot: nothing will be delivered';
  const isFailing = waiting > 0 && why !== undefined && at > settledAt && now - at * 1_000 < RECENT_MS;
  return isFailing ? `Telegram could not deliver: ${why}` : undefined;
}

async function poll(client: Client, link: Link<Account>, { pollSeconds, answerMs }: Waits): Promise<void> {
  const bot = botIdOf(link.account);
  let offset = offsetIn(link.cursor, bot);
  let isOnline = false;
  while (!link.signal.aborted) {
    const updates = await nextUpdates(client, link, { offset, answerMs, seconds: isOnline ? pollSeconds : 0 });
    if (!isOnline) link.online();
    isOnline = true;
    const last = updates.at(-1);
    if (last === undefined) continue;
    offset = last.update_id + 1;
    const now = Date.now();
    await administratorsOf(link.account).prepare(updates, performance.now());
    const context = contextOf(link.account, now);
    try {
      await link.receive(
        updates.flatMap((update) => arrivalsOf(update, context)),
        `${bot}:${offset}`,
      );
    } catch (cause) {
      throw new LinkFault('not stored', { cause });
    }
    for (const { callback_query: pressed } of updates) if (pressed !== undefined) void answer(client, link, pressed.id);
  }
}

function offsetIn(cursor: string | undefined, bot: string): number | undefined {
  const [, of, offset] = /^(\d+):(\d+)$/.exec(cursor ?? '') ?? [];
  return of === bot ? Number(offset) : undefined;
}

interface Poll {
  readonly offset: number | undefined;
  readonly seconds: number;
  readonly answerMs: number;
}

async function nextUpdates(
  { api }: Client,
  link: Link<Account>,
  { offset, seconds, answerMs }: Poll,
): Promise<readonly Update[]> {
  const allowed_updates = [...UPDATES];
  const from = offset === undefined ? {} : { offset };
  try {
    return await api.getUpdates(
      { ...from, timeout: seconds, limit: 100, allowed_updates },
      limited(link, answerMs + seconds * 1_000),
    );
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind === 'later') {
      await sleep(failure.afterMs, undefined, { signal: link.signal });
      return [];
    }
    if (failure.kind !== 'refused' || failure.code !== 409 || !failure.reason.includes('webhook')) throw error;
    link.log.warn({}, 'a webhook was set for this bot, but the account polls: taken away (L3)');
    await api.deleteWebhook({ drop_pending_updates: false }, limited(link));
    return [];
  }
}

/** So that the button stops waiting. One that is too old, or a network that is gone, does no harm. */
async function answer({ api }: Client, link: Link<Account>, id: string): Promise<void> {
  try {
    await api.answerCallbackQuery({ callback_query_id: id }, limited(link));
  } catch (error) {
    link.log.debug({ error: thrown(error).message }, 'a pressed button was not answered');
  }
}

/** The menu of commands: names that Telegram takes, in the order of the host. */
export async function announce(commands: readonly CommandInfo[], link: Link<Account>): Promise<void> {
  const { api } = await clientOf(link.account);
  const shown = commands
    .filter(({ name }) => /^[a-z0-9_]{1,32}$/.test(name))
    .slice(0, MOST_COMMANDS)
    .map(({ name, summary }) => ({ command: name, description: described(summary || name) }));
  try {
    await api.setMyCommands({ commands: shown }, limited(link));
  } catch (error) {
    throw thrown(error);
  }
}

/** As long as Telegram takes it, without half a character at the end: it refuses the whole menu for one. */
const described = (text: string): string => text.slice(0, MOST_DESCRIPTION).replace(/[\uD800-\uDBFF]$/, '');

/** setWebhook with the first secret. */
export async function register(url: string, link: Link<Account>): Promise<string> {
  const { api } = await clientOf(link.account);
  const [secret] = link.account.secrets;
  if (secret === undefined) throw new Error('a webhook needs secrets');
  try {
    await api.setWebhook({ url, secret_token: secret.reveal(), allowed_updates: [...UPDATES] }, limited(link));
    const { pending_update_count: waiting, last_error_date: failedAt } = await api.getWebhookInfo(limited(link));
    if (failedAt !== undefined) settled.set(link.account, failedAt);
    lookNow(link.account);
    return `Telegram delivers there, with the first of secrets; ${waiting} updates wait`;
  } catch (error) {
    throw thrown(error);
  }
}
