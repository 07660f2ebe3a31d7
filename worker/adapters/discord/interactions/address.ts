// The address for interactions: where they come to it, Discord is asked every ten minutes whether it knows one; where they come over the gateway,
// whether it knows none. Otherwise commands and presses would be silence, as with the public key of another application: the account is
// `degraded`, it sends and says why.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Link } from '../../../sdk/index.ts';
import { asObject, type Json, textAt } from '../../../sdk/platform/foreign-json.ts';
import { need } from '../client.ts';
import { type Account, opensGateway, takesInteractions } from '../config.ts';
import type { Troubles } from '../gateway/troubles.ts';
import { announceAgain } from './commands.ts';

const CHECK_MS = 600_000;

/** Says of an account that is online that its address is known. */
const watched = new WeakMap<Account, () => void>();

interface Watched {
  /** As Discord told it of late. */
  readonly application: Json;
  readonly troubles: Troubles;
}

/** For an account that is online. Resolves when it ends; throws when Discord is not reached. */
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

/** What would have all interactions over HTTP refused. */
export function keyFault(account: Pick<Account, 'mode' | 'publicKeys'>, application: Json): string | undefined {
  const key = textAt(application, 'verify_key')?.toLowerCase();
  if (key === undefined || !takesInteractions(account)) return undefined;
  const isOurs = account.publicKeys.some((one) => one.toLowerCase() === key);
  return isOurs ? undefined : `the public key of the application is not among publicKeys: ${key}`;
}

/** What keeps commands and presses from coming. */
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

/** Discord asks the address at once: signed well, and signed badly. */
export async function register(url: string, link: Link<Account>): Promise<string> {
  await need(link, { method: 'PATCH', path: '/applications/@me', body: { interactions_endpoint_url: url } });
  watched.get(link.account)?.();
  const commands = await announceAgain(link);
  const known = commands === undefined ? '' : `; ${commands} commands are registered`;
  return `Discord has asked the address and delivers interactions there${known}`;
}
