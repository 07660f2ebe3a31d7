// Connection of a Telegram account. Polling: the next poll confirms an update to Telegram.
// That poll therefore begins only after the update and its cursor are stored. Webhook: checks Telegram's state of the webhook.
//
//   TELEGRAM-CONNECT-1  The cursor is `<bot>:<offset>`, the offset being the last update's id plus one. The offset may also go down.
//                       Ids start anew after a week of silence and on another server. Telegram then answers from the beginning.
//   TELEGRAM-CONNECT-2  A refused token ends the account. Any other failure is a lost connection, and the caller reconnects.
//   TELEGRAM-CONNECT-3  If a webhook is set while the account polls, the webhook is removed, as the configuration says polling.
//                       Waiting updates are kept.
//   TELEGRAM-CONNECT-4  A webhook is checked every ten minutes, because a revoked token or a removed address would otherwise go unnoticed.
//                       A missing address and failing deliveries make the account degraded. Checks then follow every minute.
//                       A registration also starts a check.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Update, WebhookInfo } from 'grammy/types';
import { accountFailed, type CommandInfo, type Link } from '../../sdk/index.ts';
import { askedWaitMs } from '../../sdk/platform/asked-wait.ts';
import { limitedSignal } from '../../sdk/platform/limited-signal.ts';
import { lookNow, nextLook } from '../../sdk/platform/next-look.ts';
import { type Client, clientOf, failureOf, thrown } from './client.ts';
import { type Account, accountFault, botIdOf, learnUsername, UPDATES } from './config.ts';
import { administratorsOf, arrivalsOf, contextOf } from './parse.ts';

export interface Waits {
  /** Between two checks of a working webhook. */
  readonly checkMs: number;
  /** Between two checks of a failing webhook. */
  readonly recheckMs: number;
  /** Longest time for which Telegram may hold a poll open without an update. */
  readonly pollSeconds: number;
  /** Time limit for an answer; for a poll it starts after `pollSeconds`. Exceeding it is a lost connection. */
  readonly answerMs: number;
}
export const WAITS: Waits = { checkMs: 600_000, recheckMs: 60_000, pollSeconds: 30, answerMs: 20_000 };

const MOST_COMMANDS = 100;
const MOST_DESCRIPTION = 256;
/** Telegram reports the last failure even after it is over, and retries for hours. Older failures are ignored. */
const RECENT_MS = 7_200_000;

/** grammY declares its signal with the type of an older library. */
const limited = (link: Pick<Link<Account>, 'signal'>, ms = WAITS.answerMs): never =>
  limitedSignal(link.signal, ms) as never;

/** Resolves when the link's signal aborts. Throws when the connection is lost. */
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

/** The host refused to store the updates. Not a failure of Telegram. */
class LinkFault extends Error {}

/** Checks the webhook until the link's signal aborts, and reports the account as online or degraded. */
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

/** Time of the last failure before the registration, in epoch seconds. That failure says nothing about the new address and secret. */
const settled = new WeakMap<Account, number>();

interface Times {
  readonly now: number;
  readonly settledAt: number;
}

/** Reason why deliveries fail. A past failure is over once no update waits. */
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
      await sleep(askedWaitMs(failure.afterMs), undefined, { signal: link.signal });
      return [];
    }
    if (failure.kind !== 'refused' || failure.code !== 409 || !failure.reason.includes('webhook')) throw error;
    link.log.warn({}, 'a webhook was set for this bot, but the account polls: taken away');
    await api.deleteWebhook({ drop_pending_updates: false }, limited(link));
    return [];
  }
}

/** Ends the button's progress display. A failure is harmless and only logged. */
async function answer({ api }: Client, link: Link<Account>, id: string): Promise<void> {
  try {
    await api.answerCallbackQuery({ callback_query_id: id }, limited(link));
  } catch (error) {
    link.log.debug({ error: thrown(error).message }, 'a pressed button was not answered');
  }
}

/** Sets the bot's command menu: names allowed by Telegram, in the host's order. */
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

/** Cut to Telegram's limit without a split surrogate pair, for which Telegram would refuse the whole menu. */
const described = (text: string): string => text.slice(0, MOST_DESCRIPTION).replace(/[\uD800-\uDBFF]$/, '');

/** Calls setWebhook with the first secret. */
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
