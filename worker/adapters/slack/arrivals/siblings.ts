// Accounts of one app that are connected by Socket Mode. Slack sends each envelope to one of the app's sockets, whichever, so what is for another
// workspace than the account's is handed to the account of that workspace.
//
//   B1  An account is known from its first try to connect on, so that what comes for it meanwhile, or between two connections, waits.
//   B2  One that has not tried for `awayMs` is none any more: it was disabled, or taken out of the configuration. For a connection that ends nobody
//       says which of these it was, and what is left without an acknowledgement for good may have Slack turn off the app.
//   B3  One that Slack refuses waits for its operator, and is away until it is tried again: what is for it is not acknowledged, so
//       that Slack tells people that nobody answers, and sends it again to an account that is back soon. After `refusedMs` without a try B2 holds
//       for it, too.
import { errorCode } from '../../../sdk/errors.ts';
import type { Link } from '../../../sdk/index.ts';
import type { Account } from '../config.ts';
import { isFor } from '../parse.ts';

export interface AwayTimes {
  /** An account that has not tried to connect for so long is none any more (B2). */
  readonly awayMs: number;
  /** The same for one that Slack has refused (B3). */
  readonly refusedMs: number;
}
interface App {
  readonly links: Set<Link<Account>>;
  /** Monotonic ms of the last sign of an account, by its workspace. */
  readonly known: Map<string, number>;
  /** B3: monotonic ms of the refusal, by workspace. */
  readonly refused: Map<string, number>;
  /** Called when one has come. */
  readonly waiting: Set<() => void>;
}
const apps = new Map<string, App>();

function appOf({ account }: Pick<Link<Account>, 'account'>): App {
  const token = account.appToken?.reveal() ?? '';
  const app = apps.get(token) ?? { links: new Set(), known: new Map(), refused: new Map(), waiting: new Set() };
  apps.set(token, app);
  return app;
}

/** B1: a try begins. */
export function announceSibling(link: Link<Account>): void {
  const { team } = link.account;
  if (team === undefined) return;
  const { known, refused } = appOf(link);
  known.set(team, performance.now());
  refused.delete(team);
}

/** B3: what `run` throws says whether the account is refused. */
export async function watchRefusal<T>(link: Link<Account>, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const { team } = link.account;
    if (team !== undefined && errorCode(error) === 'account_failed') appOf(link).refused.set(team, performance.now());
    throw error;
  }
}

/** The account stands, and takes what is its own. Call what it returns when the connection ends. */
export function join(link: Link<Account>): () => void {
  const app = appOf(link);
  announceSibling(link);
  app.links.add(link);
  for (const come of app.waiting) come();
  return () => {
    app.links.delete(link);
    if (link.account.team !== undefined) app.known.set(link.account.team, performance.now());
  };
}

/** Calls whenever an account of the same app has come, until it is called itself. */
export function onJoined(link: Link<Account>, come: () => void): () => void {
  const { waiting } = appOf(link);
  waiting.add(come);
  return () => waiting.delete(come);
}

/** Whose this payload is. `away`: of an account that is not connected now; `nobody`: of no account. */
export function whoseIs(
  payload: unknown,
  link: Link<Account>,
  { awayMs, refusedMs }: AwayTimes,
): Link<Account> | 'away' | 'nobody' {
  if (isFor(payload, link.account)) return link;
  const { links, known, refused } = appOf(link);
  const there = [...links].find(
    ({ account, signal }) => !signal.aborted && account.team !== undefined && isFor(payload, account),
  );
  if (there !== undefined) return there;
  const now = performance.now();
  const isWithin = (at: number | undefined, ms: number): boolean => at !== undefined && now - at < ms;
  const isAway = [...known].some(
    ([team, at]) => (isWithin(refused.get(team), refusedMs) || isWithin(at, awayMs)) && isFor(payload, { team }),
  );
  return isAway ? 'away' : 'nobody';
}
