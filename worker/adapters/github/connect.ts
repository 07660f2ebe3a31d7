// Asks GitHub to repeat failed deliveries to the account's repositories. GitHub never repeats one by itself.
//
//   GITHUB-CONNECT-1  When the account comes online, all failed deliveries since the last time are requested, oldest first. GitHub keeps them for
//                     three days. A repeat has the original id, so the inbox drops duplicates.
//   GITHUB-CONNECT-2  Every `lookMs` after, deliveries that hit an unreachable or failing host are requested. While the newest attempt of a webhook
//                     fails, only one is requested, as a probe. A delivery that keeps failing is given up after MOST_TRIES.
//   GITHUB-CONNECT-3  The cursor is the time up to which every failed delivery was handled. The cursor stays where a look could not continue.
//   GITHUB-CONNECT-4  A token without access to webhooks recovers no deliveries. That is logged, and the account works otherwise. Any other error
//                     throws or makes the account `degraded`. The look is repeated, and the cursor stays.
//   GITHUB-CONNECT-5  Webhooks arrive even without the API. If GitHub cannot confirm the token's owner, the account is `degraded`, and asks again.
//                     Sends wait until then.
import { setTimeout as wait } from 'node:timers/promises';
import { accountFailed, type Link } from '../../sdk/index.ts';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';
import { callBy, isRefusal } from './client.ts';
import { type Account, accountFault } from './config.ts';
import { type Deliveries, deliveriesSince, type Failed, isTrouble } from './deliveries.ts';
import { hooksOf, isOurs, type Of, ofName } from './webhooks.ts';
import { verifyLogin } from './whose-token.ts';

export interface Waits {
  /** Pause between two requests that change something. */
  readonly betweenMs: number;
  readonly lookMs: number;
  /** Interval while GitHub does not confirm the token's owner. */
  readonly recheckMs: number;
}
/** GitHub asks for one second between changes. A look takes two requests for each repository. */
export const WAITS: Waits = { betweenMs: 1_000, lookMs: 600_000, recheckMs: 30_000 };

const KEPT_MS = 3 * 86_400_000;
/** Overlap of two looks, because GitHub may still have been trying a delivery. */
const OVERLAP_MS = 600_000;
/** Attempts for one delivery while others succeed, and deliveries whose attempts are counted. */
const MOST_TRIES = 3;
const MOST_TRIED = 10_000;

interface Tried {
  /** Epoch ms. */
  readonly since: number;
  readonly count: number;
}
interface Look {
  readonly link: Link<Account>;
  readonly waits: Waits;
  /** Selects the deliveries of a webhook to request, oldest first, and the first one left for later. */
  readonly choose: (deliveries: Deliveries) => Chosen;
  /** Repositories with hidden webhooks that were logged already. */
  readonly told: Set<string>;
}
interface Chosen {
  readonly asked: readonly Failed[];
  readonly left: Failed | undefined;
}

/** Endpoints with a look in progress. */
const looking = new Set<string>();

/** Requests all failed deliveries since the last time. Called when the account comes online. */
export async function redeliver(link: Link<Account>, waits: Waits): Promise<void> {
  refuseFault(link);
  await verifyLogin(link);
  await look({ link, waits, choose: ({ failed }) => ({ asked: failed, left: undefined }), told: new Set() });
}

/** Looks for failed deliveries at intervals, until the link's signal aborts. */
export async function watch(link: Link<Account>, waits: Waits): Promise<void> {
  refuseFault(link);
  await stand(link, waits);
  if (link.signal.aborted) return;
  const tried = new Map<string, Tried>();
  const told = new Set<string>();
  for (;;) {
    await pause(waits.lookMs, link);
    if (link.signal.aborted) return;
    if (looking.has(link.endpoint)) continue;
    try {
      await look({ link, waits, choose: (deliveries) => worthAsking(deliveries, tried, Date.now()), told });
      link.online();
    } catch (error) {
      if (link.signal.aborted) return;
      if ((error as { readonly code?: unknown }).code === 'account_failed') throw error;
      link.degraded(`what could not be delivered was not asked for: ${(error as Error).message}`);
    }
  }
}

/** Brings the account online. The account is `degraded` until GitHub confirms the token's owner. Throws if GitHub refuses the token. */
async function stand(link: Link<Account>, { recheckMs }: Waits): Promise<void> {
  for (let isFirst = true; !link.signal.aborted; isFirst = false) {
    try {
      await verifyLogin(link);
      return link.online();
    } catch (error) {
      if (link.signal.aborted) return;
      if ((error as { readonly code?: unknown }).code === 'account_failed') throw error;
      if (isFirst) link.online();
      link.degraded(`deliveries come, and the API does not answer: ${(error as Error).message}`);
    }
    await pause(recheckMs, link);
  }
}

const pause = (ms: number, { signal }: Pick<Link<Account>, 'signal'>): Promise<void> =>
  wait(ms, undefined, { signal, ref: false }).catch(() => {});

function refuseFault({ account }: Link<Account>): void {
  const fault = accountFault(account);
  if (fault !== undefined) throw accountFailed(fault.reason, fault.remedy);
}

function worthAsking({ failed, isReached }: Deliveries, tried: Map<string, Tried>, now: number): Chosen {
  const wanted = failed.filter(isTrouble).filter(({ guid }) => {
    const { since, count } = tried.get(guid) ?? { since: now, count: 0 };
    return count < MOST_TRIES && now - since < KEPT_MS;
  });
  const asked = isReached ? wanted : wanted.slice(0, 1);
  for (const { guid } of asked) {
    const { since, count } = tried.get(guid) ?? { since: now, count: 0 };
    keepNewest(tried, [guid, { since, count: isReached ? count + 1 : count }], MOST_TRIED);
  }
  return { asked, left: wanted[asked.length] };
}

async function look(of: Look): Promise<void> {
  const { link } = of;
  const { repositories } = link.account;
  if (repositories.length === 0) return;
  const now = Date.now();
  const since = lookedTo(link.cursor, now);
  let count = 0;
  let to = now - OVERLAP_MS;
  looking.add(link.endpoint);
  try {
    for (const repository of repositories) {
      const done = await redeliverOf(repository, since, of);
      count += done.count;
      to = Math.min(to, done.to);
    }
    await link.receive([], new Date(Math.max(to, since)).toISOString());
  } finally {
    looking.delete(link.endpoint);
  }
  if (count > 0) link.log.info({ count }, 'GitHub was asked for deliveries that had failed');
}

/** Start of the next look. A cursor in the future is ignored: the clock was ahead when it was stored. */
export function lookedTo(cursor: string | undefined, now: number): number {
  const looked = Date.parse(cursor ?? '') || 0;
  return Math.max(looked > now ? 0 : looked, now - KEPT_MS);
}

interface Done {
  readonly count: number;
  /** Time up to which this repository's failed deliveries were handled. */
  readonly to: number;
}

async function redeliverOf(repository: string, since: number, look: Look): Promise<Done> {
  const { link } = look;
  const done = { count: 0, to: Number.POSITIVE_INFINITY };
  try {
    const hooks = await callBy(link, ({ request }) => hooksOf(request, ofName(repository)));
    for (const { id: hook_id, config } of hooks) {
      if (!isOurs(config.url, link.endpoint)) continue;
      const of = { ...ofName(repository), hook_id };
      const deliveries = await deliveriesSince(of, link, since);
      if (!deliveries.isWhole) {
        link.log.warn({ repository, hook: hook_id }, 'more was delivered than is looked through for what failed');
        done.to = since;
      }
      const { asked, left } = look.choose(deliveries);
      for (const { id } of asked) await askFor(of, id, look);
      done.count += asked.length;
      done.to = Math.min(done.to, left?.at ?? done.to);
    }
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (!look.told.has(repository))
      link.log.warn(
        { repository, err: error },
        'failed deliveries could not be asked for: is the token allowed to see webhooks?',
      );
    look.told.add(repository);
  }
  return done;
}

async function askFor(
  of: Of & { readonly hook_id: number },
  delivery: Failed['id'],
  { link, waits }: Look,
): Promise<void> {
  const route = `POST /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/${delivery}/attempts`;
  try {
    await callBy(link, ({ request }) => request(route, { ...of }));
  } catch (error) {
    if (!isRefusal(error) || !isGone(error as Error)) throw error;
    link.log.warn({ err: error, delivery: String(delivery) }, 'GitHub does not repeat this delivery');
  }
  await wait(waits.betweenMs, undefined, { signal: link.signal });
}

/** True if only this delivery is unavailable. False if the token lacks the permission. */
const isGone = ({ cause }: { readonly cause?: unknown }): boolean =>
  [404, 410, 422].includes(Number((cause as { readonly status?: unknown } | undefined)?.status));
