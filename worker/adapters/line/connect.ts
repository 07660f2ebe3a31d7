// Runs one account. LINE delivers to the host's address, and every ten minutes a check asks LINE whether it still does.
//
//   LINE-CONNECT-1  A token that LINE rejects fails the account. Any other error is a lost connection, and reconnecting is the caller's job.
//   LINE-CONNECT-2  A missing, foreign or disabled webhook address would be silent. The account is then `degraded`: it sends, but hears nothing. LINE
//                   is asked more often. `svc webhooks register` is the remedy.
//   LINE-CONNECT-3  LINE offers no way to request failed deliveries. LINE redelivers by itself if the channel enables that.
import { accountFailed, type Link } from '../../sdk/index.ts';
import { lookNow, nextLook } from '../../sdk/platform/next-look.ts';
import { call, need } from './client.ts';
import { type Account, accountFault } from './config.ts';
import { rememberedOf } from './remembered.ts';

/** Intervals between checks, with and without deliveries from LINE. */
const WAITS = { checkMs: 600_000, silentMs: 30_000 };

/** Resolves when the link's signal aborts. Throws when the connection is lost. */
export async function connect(link: Link<Account>, { checkMs, silentMs } = WAITS): Promise<void> {
  const fault = accountFault(link.account);
  if (fault !== undefined) throw accountFailed(fault.reason, fault.remedy);
  let said: string | undefined;
  try {
    while (!link.signal.aborted) {
      const { userId, basicId } = await need(link, 'info', (api) => api.getBotInfo());
      rememberedOf(link.account).bot = userId;
      const silence = await silenceOf(link);
      if (said === undefined || silence === undefined) link.online();
      if (silence !== undefined && silence !== said) {
        link.log.warn({ bot: basicId, remedy: remedyOf(link) }, `nothing will be delivered by LINE: ${silence}`);
        link.degraded(`nothing will be delivered by LINE: ${silence} (${remedyOf(link)})`);
      }
      said = silence ?? '';
      await nextLook(link.account, silence === undefined ? checkMs : silentMs, link.signal);
    }
  } catch (error) {
    if (!link.signal.aborted) throw error;
  }
}

const nameOf = ({ endpoint }: Link<Account>): string => endpoint.split(':').at(-1) ?? '';
const remedyOf = (link: Link<Account>): string => `svc webhooks register ${nameOf(link)}`;

/** The reason why LINE does not deliver here. Undefined if it does, or does not tell. */
async function silenceOf(link: Link<Account>): Promise<string | undefined> {
  const known = await call(link, 'webhook', (api) => api.getWebhookEndpoint());
  if (known.kind === 'refused' && known.status === 404) return 'it knows no address';
  if (known.kind !== 'ok') return undefined;
  if (!known.value.active) return '"Use webhook" is off (Messaging API tab of the channel)';
  const path = `/webhooks/${nameOf(link).replace('~', '/')}`;
  return known.value.endpoint.endsWith(path) ? undefined : `it delivers to another address than ${path}`;
}

/** Sets the address and lets LINE test it. Resolves to a line of output for the operator. */
export async function register(url: string, link: Link<Account>): Promise<string> {
  await need(link, 'set webhook', (api) => api.setWebhookEndpoint({ endpoint: url }));
  lookNow(link.account);
  const tried = await need(link, 'test webhook', (api) => api.testWebhookEndpoint({ endpoint: url }));
  // The host answers 401 if the signature was made with another secret.
  if (tried.success !== true && tried.statusCode === 401)
    throw new Error(
      'the address is set and LINE reaches it, but 401 is answered there: the channel has another channel secret (Basic settings tab) than channelSecrets, unless a proxy answers; put it into .env, reload and register again',
    );
  if (tried.success !== true)
    throw new Error(
      `the address is set, but LINE does not reach it: ${tried.reason} (${tried.statusCode}) ${tried.detail}`.trim(),
    );
  const { active } = await need(link, 'webhook', (api) => api.getWebhookEndpoint());
  return active
    ? 'LINE delivers there; its test was answered'
    : 'LINE knows the address and its test was answered, but "Use webhook" is off: switch it on (Messaging API tab of the channel)';
}
