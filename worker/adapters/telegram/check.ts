// Checks of a Telegram account for `svc doctor --endpoint`: owner of the token, delivery address and the last failed delivery.
// The check calls only getMe and getWebhookInfo, which change nothing and take no updates from the queue.
import type { CheckResult, CheckTools } from '../../sdk/index.ts';
import { clientOf, thrown } from './client.ts';
import { type Account, accountFault, UPDATES } from './config.ts';

/** A failed delivery within this time gives a warning. */
const RECENT_MS = 3_600_000;

export async function* check(account: Account, tools: CheckTools): AsyncGenerator<CheckResult> {
  const fault = accountFault(account);
  if (fault !== undefined)
    return yield { name: 'settings', status: 'error', detail: fault.reason, remedy: fault.remedy };
  const { api } = await clientOf(account);
  // grammY declares its signal with the type of an older library.
  const signal = tools.signal as never;
  try {
    yield* tokenChecks(await api.getMe(signal), account);
    yield* webhookChecks(await api.getWebhookInfo(signal), account, tools);
  } catch (error) {
    throw thrown(error);
  }
  yield await tools.clock(account.apiUrl);
}

interface Me {
  readonly id: number;
  readonly username: string;
  readonly can_read_all_group_messages: boolean;
}

function* tokenChecks(
  { id, username, can_read_all_group_messages: readsAll }: Me,
  account: Account,
): Generator<CheckResult> {
  yield { name: 'token', status: 'ok', detail: `of @${username} (${id})` };
  if (account.username !== undefined && account.username.toLowerCase() !== username.toLowerCase())
    yield {
      name: 'username',
      status: 'error',
      detail: `the bot is @${username}, the account says @${account.username}: commands with the bot's name are not taken`,
      remedy: 'correct username in svc.config.yml, or leave it out',
    };
  yield {
    name: 'groups',
    status: 'ok',
    detail: readsAll
      ? 'everything that is said in a group comes'
      : 'of what is said in groups only commands, mentions and replies come (privacy mode; @BotFather: /setprivacy)',
  };
}

const REACH = 'is the host up, and does its address answer from outside? svc doctor --edge <url>';
/** The host answered 401, so it was reached, but Telegram has another secret. */
const SECRET_REFUSED = /\b401\b/;

interface WebhookInfo {
  readonly url?: string;
  readonly pending_update_count: number;
  readonly last_error_date?: number;
  readonly last_error_message?: string;
  readonly allowed_updates?: readonly string[];
}

function* webhookChecks(info: WebhookInfo, { mode }: Account, { url, endpoint }: CheckTools): Generator<CheckResult> {
  const remedy = `svc webhooks register ${endpoint.split(':').at(-1)}`;
  const { url: at = '', pending_update_count: waiting } = info;
  if (mode === 'polling') {
    yield at === ''
      ? { name: 'webhook', status: 'ok', detail: `none, as polling asks; ${waiting} updates wait` }
      : {
          name: 'webhook',
          status: 'warn',
          detail: `Telegram delivers to ${hostOf(at)}: when the account comes up, that is taken away`,
          remedy: 'is another program running with this token? Then stop it, or make a bot of its own for it',
        };
    return;
  }
  if (at === '')
    return yield {
      name: 'webhook',
      status: 'error',
      detail: 'Telegram knows no address: nothing is delivered',
      remedy,
    };
  yield url === undefined || at === url
    ? { name: 'webhook', status: 'ok', detail: `Telegram delivers to ${url === undefined ? hostOf(at) : at}` }
    : { name: 'webhook', status: 'error', detail: `Telegram delivers to ${hostOf(at)}, not to this host`, remedy };
  // Without a list Telegram delivers all kinds but a few, and reactions are among those few.
  const missing = UPDATES.filter((kind) => !(info.allowed_updates ?? []).includes(kind));
  if (missing.length > 0)
    yield { name: 'updates', status: 'warn', detail: `not asked for: ${missing.join(', ')}`, remedy };
  yield lastDelivery(info, remedy);
}

function lastDelivery(
  { last_error_date: at, last_error_message: why, pending_update_count: waiting }: WebhookInfo,
  register: string,
): CheckResult {
  if (at === undefined) return { name: 'deliveries', status: 'ok', detail: `none has failed; ${waiting} wait` };
  const isRecent = Date.now() - at * 1_000 < RECENT_MS || waiting > 0;
  return {
    name: 'deliveries',
    status: isRecent ? 'warn' : 'ok',
    detail: `the last failure was at ${new Date(at * 1_000).toISOString()}: ${why ?? 'for no reason given'}; ${waiting} wait`,
    ...(isRecent
      ? { remedy: SECRET_REFUSED.test(why ?? '') ? `Telegram has another secret: ${register}` : REACH }
      : {}),
  };
}

/** Only the host is shown: the path of a foreign address may hold a secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that is none';
}
