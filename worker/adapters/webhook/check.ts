// Checks of a signed webhook for `svc doctor --endpoint` that send no message: its settings, and whether its address answers.
// Only a real delivery shows whether the other side accepts our signatures and signs its own.
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
  // Sends use this HTTP client too, so the check reports the same errors.
  const { status } = await callPlatform(url, { method: 'HEAD', signal: tools.signal });
  yield reachCheck(url, status);
  yield await tools.clock(url);
}

/** HEAD delivers no message, so any answer is fine but a redirect, which is not followed, or a proxy's error. */
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
