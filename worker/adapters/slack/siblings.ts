// Accounts of one app that are connected by Socket Mode. Slack sends each envelope to one of the app's sockets, whichever, so what is for another
// workspace than the account's is handed to the account of that workspace.
import type { Link } from '../../sdk/index.ts';
import type { Account } from './config.ts';
import { isFor } from './parse.ts';

const apps = new Map<string, Set<Link<Account>>>();

const appOf = ({ account }: Link<Account>): string => account.appToken?.reveal() ?? '';

/** Call what it returns when the connection ends. */
export function join(link: Link<Account>): () => void {
  const app = appOf(link);
  const links = apps.get(app) ?? new Set();
  apps.set(app, links.add(link));
  return () => {
    links.delete(link);
    if (links.size === 0 && apps.get(app) === links) apps.delete(app);
  };
}

/** Whose this payload is; the account itself where no other one is known to want it. */
export function whoseIs(payload: unknown, link: Link<Account>): Link<Account> {
  if (isFor(payload, link.account)) return link;
  const others = [...(apps.get(appOf(link)) ?? [])];
  return others.find((one) => one.account.team !== undefined && isFor(payload, one.account)) ?? link;
}
