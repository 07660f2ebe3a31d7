// The account's webhooks at GitHub: made by `svc webhooks register`, and asked for what they could not deliver.
//
//   W1  Registering again changes nothing but the secret and the events: the webhook is known by its address.
//   W2  GitHub never repeats a failed delivery by itself. When the account comes up it is asked to repeat those of its repositories that
//       failed since the last time, at most three days (it keeps them no longer), oldest first. They come with their own ids: what was
//       taken already is taken once.
//   W3  A token that may not see webhooks catches nothing up: a line of log, and the account works. Anything else that goes wrong is
//       thrown: the host asks again, and nothing counts as looked at.
import { setTimeout as wait } from 'node:timers/promises';
import type { Link } from '../../sdk/index.ts';
import { type Api, callBy, isRefusal } from './client.ts';
import type { Account } from './config.ts';
import { EVENTS } from './payload.ts';
import { verifyLogin } from './whose-token.ts';

const KEPT_MS = 3 * 86_400_000;
/** Looked at again the next time: GitHub may still have been trying. */
const OVERLAP_MS = 600_000;
const MOST_PAGES = 10;
/** GitHub asks for a second between requests that change something. */
export const BETWEEN_MS = 1_000;

interface Of {
  readonly owner: string;
  readonly repo: string;
}
export const ofName = (repository: string): Of => {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
};

/** Resolves to a line for the operator. */
export async function register(url: string, link: Link<Account>): Promise<string> {
  const { repositories, secrets } = link.account;
  if (repositories.length === 0)
    throw new Error('no repository is named: list them under repositories in svc.config.yml and reload');
  const config = { url, content_type: 'json', secret: secrets[0]?.reveal() ?? '', insecure_ssl: '0' };
  const wanted = { active: true, events: [...EVENTS], config };
  const done: string[] = [];
  for (const repository of repositories) {
    done.push(
      await callBy(link, async ({ request }) => {
        const of = ofName(repository);
        const known = (await hooksOf(request, of)).find(({ config: at }) => at.url === url);
        if (known === undefined) {
          const { data } = await request('POST /repos/{owner}/{repo}/hooks', { ...of, name: 'web', ...wanted });
          return `${repository}: webhook ${data.id} made`;
        }
        await request('PATCH /repos/{owner}/{repo}/hooks/{hook_id}', { ...of, hook_id: known.id, ...wanted });
        return `${repository}: webhook ${known.id} set again`;
      }),
    );
  }
  return done.join(', ');
}

/** All of a repository's, up to a hundred. */
export async function hooksOf(request: Api['request'], of: Of) {
  return (await request('GET /repos/{owner}/{repo}/hooks', { ...of, per_page: 100 })).data;
}

/** W2. The cursor is the time up to which deliveries were looked at. */
export async function redeliver(link: Link<Account>, betweenMs = BETWEEN_MS): Promise<void> {
  const { repositories } = link.account;
  await verifyLogin(link);
  if (repositories.length === 0) return;
  const now = Date.now();
  const since = lookedTo(link.cursor, now);
  let count = 0;
  for (const repository of repositories) {
    try {
      count += await redeliverOf(ofName(repository), { link, since, betweenMs });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      link.log.warn(
        { repository, err: error },
        'failed deliveries could not be asked for: is the token allowed to see webhooks?',
      );
    }
  }
  await link.receive([], new Date(now - OVERLAP_MS).toISOString());
  if (count > 0) link.log.info({ count }, 'GitHub was asked for deliveries that had failed');
}

/** From where on deliveries are looked at. A clock that was ahead has looked at nothing of now. */
export function lookedTo(cursor: string | undefined, now: number): number {
  const looked = Date.parse(cursor ?? '') || 0;
  return Math.max(looked > now ? 0 : looked, now - KEPT_MS);
}

interface Since {
  readonly link: Link<Account>;
  /** Epoch ms. */
  readonly since: number;
  readonly betweenMs: number;
}

async function redeliverOf(of: Of, { link, since, betweenMs }: Since): Promise<number> {
  const hooks = await callBy(link, ({ request }) => hooksOf(request, of));
  let count = 0;
  for (const { id: hook_id, config } of hooks) {
    if (!isOurs(config.url, link.endpoint)) continue;
    const failed = await failedSince({ ...of, hook_id }, link, since);
    for (const delivery_id of failed) {
      const route = 'POST /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts';
      await callBy(link, ({ request }) => request(route, { ...of, hook_id, delivery_id }));
      count += 1;
      await wait(betweenMs, undefined, { signal: link.signal });
    }
  }
  return count;
}

/** The host's own path ends so, whatever stands before it. */
export const isOurs = (url: string | undefined, endpoint: string): boolean =>
  url?.endsWith(`/webhooks/${endpoint.slice(endpoint.indexOf(':') + 1).replace('~', '/')}`) === true;

/** One delivery for each id of which no attempt succeeded, oldest first. */
async function failedSince(
  of: Of & { readonly hook_id: number },
  link: Link<Account>,
  since: number,
): Promise<number[]> {
  const failed = new Map<string, number>();
  const succeeded = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { data, headers } = await callBy(link, ({ request }) =>
      request('GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries', {
        ...of,
        per_page: 100,
        ...(cursor === undefined ? {} : { cursor }),
      }),
    );
    const recent = data.filter(({ delivered_at }) => Date.parse(delivered_at) >= since);
    for (const { guid, id, status_code } of recent) {
      if (status_code >= 200 && status_code < 300) succeeded.add(guid);
      else failed.set(guid, Number(id));
    }
    cursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(headers.link ?? '')?.[1];
    if (cursor === undefined || recent.length < data.length) break;
  }
  return [...failed].flatMap(([guid, id]) => (succeeded.has(guid) ? [] : [id])).toReversed();
}
