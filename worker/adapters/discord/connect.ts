// Runs one account: checks that its token is valid and belongs to the application. Then holds the gateway, or waits for the end in mode
// `interactions`.

import { accountFailed, type Link } from '../../sdk/index.ts';
import { asObject, type Json, textAt } from '../../sdk/platform/foreign-json.ts';
import { call, need } from './client.ts';
import { type Account, accountFault, opensGateway } from './config.ts';
import type { GatewayTiming } from './gateway/gateway.ts';
import { holdGateway } from './gateway/shards.ts';
import { Troubles } from './gateway/troubles.ts';
import { KEY_REMEDY, keyFault, watchAddress } from './interactions/address.ts';
import { deferredOfAccount } from './interactions/deferred.ts';
import { originalOf } from './send.ts';

/** Resolves when the link's signal aborts. Throws when the connection is lost. Reconnecting is the caller's job. */
export async function connect(link: Link<Account>, timing: GatewayTiming): Promise<void> {
  const { account } = link;
  const fault = accountFault(account);
  if (fault !== undefined) throw accountFailed(fault.reason, fault.remedy);
  const application = asObject(await need(link, { method: 'GET', path: '/applications/@me' }));
  const id = textAt(application, 'id');
  if (id !== account.applicationId)
    throw accountFailed(
      `the token is of application ${id}, the account of ${account.applicationId}`,
      'correct token or applicationId and reload',
    );
  deferredOfAccount(account).onExpired((token) => {
    void call(link, { ...originalOf(account, token), method: 'DELETE' }).catch(() => {});
  });
  say(link, application);
  if (opensGateway(account)) return holdGateway(link, timing, application);
  link.online();
  await watchAddress(link, { application, troubles: new Troubles(link) });
}

function say({ account, log }: Link<Account>, application: Json): void {
  const fault = keyFault(account, application);
  if (fault !== undefined) log.warn({ remedy: KEY_REMEDY }, fault);
  log.info({ application: textAt(application, 'name'), mode: account.mode }, 'the token is good');
}
