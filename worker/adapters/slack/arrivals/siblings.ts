// Accounts of one app in Socket Mode. Slack sends each envelope to any one of the app's sockets.
// An envelope for another workspace is passed to the account of that workspace.
//
//   SLACK-SIBLINGS-1  An account is known from its first attempt to connect. While an account connects or reconnects, its envelopes wait.
//   SLACK-SIBLINGS-2  An account without an attempt for `awayMs` is forgotten, as it was disabled or removed.
//                     The end of a connection does not tell which, and Slack may turn off an app that never acknowledges.
//   SLACK-SIBLINGS-3  An account that Slack refuses stays known for `refusedMs`, since its operator may repair it.
//                     Envelopes for it stay unacknowledged, so Slack repeats them and shows people that the app does not answer.
import { errorCode } from '../../../sdk/errors.ts';
import type { Link } from '../../../sdk/index.ts';
import type { Account } from '../config.ts';
import { isFor } from '../parse.ts';

export interface AwayTimes {
  /** After this time without an attempt to connect, an account is forgotten. */
  readonly awayMs: number;
  /** After this time without an attempt to connect, an account refused by Slack is forgotten. */
  readonly refusedMs: number;
}
interface App {
  readonly links: Set<Link<Account>>;
  /** Monotonic ms of the last attempt or connection, by workspace. */
  readonly known: Map<string, number>;
  /** Monotonic ms of Slack's refusal, by workspace. */
  readonly refused: Map<string, number>;
  /** Called when an account has connected. */
  readonly waiting: Set<() => void>;
}
const apps = new Map<string, App>();

function appOf({ account }: Pick<Link<Account>, 'account'>): App {
  const token = account.appToken?.reveal() ?? '';
  const app = apps.get(token) ?? { links: new Set(), known: new Map(), refused: new Map(), waiting: new Set() };
  apps.set(token, app);
  return app;
}

/** Marks the start of an attempt to connect. */
export function announceSibling(link: Link<Account>): void {
  const { team } = link.account;
  if (team === undefined) return;
  const { known, refused } = appOf(link);
  known.set(team, performance.now());
  refused.delete(team);
}

/** Records a refusal if `run` throws `account_failed`. */
export async function watchRefusal<T>(link: Link<Account>, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const { team } = link.account;
    if (team !== undefined && errorCode(error) === 'account_failed') appOf(link).refused.set(team, performance.now());
    throw error;
  }
}

/** Registers a connected account. Call the returned function when the connection ends. */
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

/** Calls `come` whenever an account of the same app connects. The returned function ends that. */
export function onJoined(link: Link<Account>, come: () => void): () => void {
  const { waiting } = appOf(link);
  waiting.add(come);
  return () => waiting.delete(come);
}

/** The account for a payload. `away`: that account is not connected now. `nobody`: this host has no such account. */
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
