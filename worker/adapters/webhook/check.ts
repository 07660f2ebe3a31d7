// What can be found out about a signed webhook without sending a message (`svc doctor --endpoint`): its settings, and whether anybody answers
// at its address. Whether the other side takes our signatures, and signs as we ask, shows in the first delivery alone.
import type { CheckResult, CheckTools } from '../../sdk/index.ts';
import { callPlatform } from '../../sdk/platform/platform-call.ts';
import { type Account, accountFault } from './config.ts';

export async function* check(account: Account, tools: CheckTools): AsyncGenerator<CheckResult> {
  const fault = accountFault(account);
  if (fault !== undefined)
    return yield { name: 'settings', status: 'error', detail: fault.reason, remedy: fault.remedy };
  const { url, secrets, outgoingSecrets } = account;
  const own = outgoingSecrets === undefined ? '' : `, ${outgoingSecrets.length} to sign with`;
  yield { name: 'secrets', status: 'ok', detail: `${secrets.length} to verify with${own}` };
  if (url === undefined)
    return yield { name: 'platform', status: 'ok', detail: 'nothing is sent: the account has no url' };
  // The way of what is sent: where nobody is there it says where, and why.
  const { status } = await callPlatform(url, { method: 'HEAD', signal: tools.signal });
  yield reachCheck(url, status);
  yield await tools.clock(url);
}

/** Any answer but a redirect (which is not followed) or one of a proxy without a server behind it will do: HEAD is no message. */
function reachCheck(url: string, status: number): CheckResult {
  const { host } = new URL(url);
  if (status >= 300 && status < 400)
    return {
      name: 'platform',
      status: 'error',
      detail: `${host} answers ${status}: redirects are not followed`,
      remedy: 'put the final address into url and reload',
    };
  if (status >= 502 && status <= 504)
    return {
      name: 'platform',
      status: 'error',
      detail: `${host} answers ${status}: nobody is behind its proxy`,
      remedy: 'is the receiver up?',
    };
  return { name: 'platform', status: 'ok', detail: `${host} answers (${status} to HEAD)` };
}
