// Checks Discord's setting for the interactions address every ten minutes. Accounts over HTTP need an address, accounts over the gateway must have
// none.
// With a wrong address or public key, commands and presses never arrive. The account is then `degraded` and gives the reason. Sends still work.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Link } from '../../../sdk/index.ts';
import { asObject, type Json, textAt } from '../../../sdk/platform/foreign-json.ts';
import { need } from '../client.ts';
import { type Account, opensGateway, takesInteractions } from '../config.ts';
import type { Troubles } from '../gateway/troubles.ts';
import { announceAgain } from './commands.ts';

const CHECK_MS = 600_000;

/** Marks the address of an online account as registered. */
const watched = new WeakMap<Account, () => void>();

interface Watched {
  /** The application object from a recent response of Discord. */
  readonly application: Json;
  readonly troubles: Troubles;
}

/** For an account that is online. Resolves when the account ends. Throws if Discord cannot be reached. */
export async function watchAddress(link: Link<Account>, { application: first, troubles }: Watched): Promise<void> {
  const { account, signal } = link;
  let application = first;
  watched.set(account, () => troubles.tell('address', undefined));
  for (;;) {
    troubles.tell('address', troubleOf(link, application));
    try {
      await sleep(CHECK_MS, undefined, { signal, ref: false });
      application = asObject(await need(link, { method: 'GET', path: '/applications/@me' }));
    } catch (error) {
      if (signal.aborted) return void watched.delete(account);
      if (!opensGateway(account)) throw error;
    }
  }
}

function troubleOf(link: Link<Account>, application: Json): string | undefined {
  const key = keyFault(link.account, application);
  if (key !== undefined) return `${key} (${KEY_REMEDY})`;
  const fault = addressFault(link.account, application);
  return fault === undefined ? undefined : `${fault} (${addressRemedy(link)})`;
}

export const KEY_REMEDY = 'add it to publicKeys in svc.config.yml and reload';

/** The fault in the public keys that would make every HTTP interaction fail its signature. Undefined if there is none. */
export function keyFault(account: Pick<Account, 'mode' | 'publicKeys'>, application: Json): string | undefined {
  const key = textAt(application, 'verify_key')?.toLowerCase();
  if (key === undefined || !takesInteractions(account)) return undefined;
  const isOurs = account.publicKeys.some((one) => one.toLowerCase() === key);
  return isOurs ? undefined : `the public key of the application is not among publicKeys: ${key}`;
}

/** The fault in the address setting that keeps commands and presses from arriving. Undefined if there is none. */
export function addressFault(account: Pick<Account, 'mode'>, application: Json): string | undefined {
  const isKnown = textAt(application, 'interactions_endpoint_url') !== undefined;
  if (takesInteractions(account) && !isKnown) return 'Discord knows no address for interactions: none is delivered';
  if (!takesInteractions(account) && isKnown)
    return 'commands and presses go to the Interactions Endpoint URL of the application, not over the gateway';
  return undefined;
}

export const addressRemedy = ({
  account,
  endpoint,
}: {
  readonly account: Pick<Account, 'mode'>;
  readonly endpoint: string;
}): string =>
  takesInteractions(account)
    ? `svc webhooks register ${endpoint.split(':').at(-1)}`
    : 'set mode: both and publicKeys, or take the address away in the Developer Portal, General Information';

/** Discord tests the address during this call, once with a valid and once with an invalid signature. */
export async function register(url: string, link: Link<Account>): Promise<string> {
  await need(link, { method: 'PATCH', path: '/applications/@me', body: { interactions_endpoint_url: url } });
  watched.get(link.account)?.();
  const commands = await announceAgain(link);
  const known = commands === undefined ? '' : `; ${commands} commands are registered`;
  return `Discord has asked the address and delivers interactions there${known}`;
}
