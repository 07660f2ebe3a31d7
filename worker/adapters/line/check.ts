// Asks LINE about an account for `svc doctor --endpoint`: the token's owner, whether deliveries come here, and the rest of the month's quota.
// The check changes nothing. Only `svc webhooks register` tests the address, because that test sends a delivery.
import type { CheckResult, CheckTools, Link } from '../../sdk/index.ts';
import { call, need } from './client.ts';
import { type Account, accountFault } from './config.ts';

/** Share of the quota from which the check warns. */
const MUCH = 0.9;

export async function* check(account: Account, tools: CheckTools): AsyncGenerator<CheckResult> {
  const fault = accountFault(account);
  if (fault !== undefined)
    return yield { name: 'settings', status: 'error', detail: fault.reason, remedy: fault.remedy };
  const { displayName, basicId } = await need({ account, signal: tools.signal }, 'info', (api) => api.getBotInfo());
  yield { name: 'token', status: 'ok', detail: `of ${displayName} (${basicId})` };
  yield await webhookCheck(account, tools);
  yield await quotaCheck({ account, signal: tools.signal });
  yield await tools.clock(account.apiUrl);
}

async function webhookCheck(account: Account, { url, endpoint, signal }: CheckTools): Promise<CheckResult> {
  const name = 'webhook';
  const remedy = `svc webhooks register ${endpoint.split(':').at(-1)}`;
  const known = await call({ account, signal }, 'webhook', (api) => api.getWebhookEndpoint());
  if (known.kind === 'refused' && known.status === 404)
    return { name, status: 'error', detail: 'LINE knows no address: nothing is delivered', remedy };
  if (known.kind !== 'ok') return { name, status: 'skip', detail: 'LINE does not tell it now' };
  const { endpoint: at, active } = known.value;
  if (url !== undefined && at !== url)
    return { name, status: 'error', detail: `LINE delivers to ${hostOf(at)}, not to this host`, remedy };
  if (!active) {
    const detail = '"Use webhook" is off: nothing is delivered';
    return { name, status: 'error', detail, remedy: 'switch it on in the Messaging API tab of the channel' };
  }
  return { name, status: 'ok', detail: `LINE delivers to ${url === undefined ? hostOf(at) : at}` };
}

async function quotaCheck(caller: Pick<Link<Account>, 'account' | 'signal'>): Promise<CheckResult> {
  const name = 'quota';
  const quota = await call(caller, 'quota', (api) => api.getMessageQuota());
  const used = await call(caller, 'quota used', (api) => api.getMessageQuotaConsumption());
  if (quota.kind !== 'ok' || used.kind !== 'ok') return { name, status: 'skip', detail: 'LINE does not tell it now' };
  const { value } = quota.value;
  const { totalUsage } = used.value;
  if (value === undefined) return { name, status: 'ok', detail: `${totalUsage} messages this month, without a limit` };
  const detail = `${totalUsage} of ${value} messages of this month are sent`;
  if (totalUsage < value * MUCH) return { name, status: 'ok', detail };
  return {
    name,
    status: totalUsage < value ? 'warn' : 'error',
    detail,
    remedy:
      'raise the plan of the account (LINE Official Account Manager); what is refused can be replayed: svc outbox',
  };
}

/** Shows the host only. The path of a foreign address may contain a secret. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'an address that is none');
