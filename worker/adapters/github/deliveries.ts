// Reads a webhook's deliveries, which GitHub keeps for three days. Finds those that failed, and whether the host is reachable now.
import type { Link } from '../../sdk/index.ts';
import { callBy } from './client.ts';
import type { Account } from './config.ts';
import type { Of } from './webhooks.ts';

/** Enough for 100,000 deliveries of one webhook. */
const MOST_PAGES = 1_000;

export interface Failed {
  /** Id of the first attempt in that time. Ids may exceed the range of a number, and GitHub's client then reads a bigint. */
  readonly id: number | bigint;
  /** The same in all attempts of a delivery. */
  readonly guid: string;
  /** Epoch ms. */
  readonly at: number;
  /** HTTP status of the last attempt. */
  readonly status: number;
}
export interface Deliveries {
  /** One for each delivery without a successful attempt, oldest first. */
  readonly failed: readonly Failed[];
  /** Whether the newest attempt of all succeeded. */
  readonly isReached: boolean;
  /** False if there are more deliveries than were read. */
  readonly isWhole: boolean;
}

/** True if the host was unreachable, too slow or failing. A delivery that the host refused would be refused again. */
export const isTrouble = ({ status }: Failed): boolean => status < 100 || status >= 500 || [408, 429].includes(status);

export async function deliveriesSince(
  of: Of & { readonly hook_id: number },
  link: Link<Account>,
  since: number,
): Promise<Deliveries> {
  const failed = new Map<string, Failed>();
  const succeeded = new Set<string>();
  let isReached: boolean | undefined;
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { data, headers } = await callBy(link, ({ request }) =>
      request('GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries', {
        ...of,
        per_page: 100,
        ...(cursor === undefined ? {} : { cursor }),
      }),
    );
    // GitHub lists the newest first.
    const recent = data.filter(({ delivered_at }) => Date.parse(delivered_at) >= since);
    for (const { guid, id, status_code: status, delivered_at } of recent) {
      const isTaken = status >= 200 && status < 300;
      isReached ??= isTaken;
      if (isTaken) succeeded.add(guid);
      else keepOldest(failed, { guid, id, at: Date.parse(delivered_at), status });
    }
    cursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(headers.link ?? '')?.[1];
    if (recent.length < data.length) cursor = undefined;
    if (cursor === undefined) break;
  }
  return {
    failed: [...failed.values()].filter(({ guid }) => !succeeded.has(guid)).toReversed(),
    isReached: isReached ?? true,
    isWhole: cursor === undefined,
  };
}

function keepOldest(failed: Map<string, Failed>, one: Failed): void {
  const { status } = failed.get(one.guid) ?? one;
  failed.delete(one.guid);
  failed.set(one.guid, { ...one, status });
}
