// What a webhook has delivered, as GitHub keeps it for three days: which deliveries came to nothing, and whether the host is reached now.
import type { Link } from '../../sdk/index.ts';
import { callBy } from './client.ts';
import type { Account } from './config.ts';
import type { Of } from './webhooks.ts';

/** A hundred thousand deliveries of one webhook. */
const MOST_PAGES = 1_000;

export interface Failed {
  /** Of its first attempt in that time; GitHub's own have more digits than a number holds, and its client reads those as bigint. */
  readonly id: number | bigint;
  /** The same for all its attempts. */
  readonly guid: string;
  /** Epoch ms. */
  readonly at: number;
  /** Of the last attempt. */
  readonly status: number;
}
export interface Deliveries {
  /** One for each id of which no attempt succeeded, oldest first. */
  readonly failed: readonly Failed[];
  /** The newest attempt of all succeeded. */
  readonly isReached: boolean;
  /** False where there are more than are read. */
  readonly isWhole: boolean;
}

/** Not reached, too slow, or in trouble: a refusal of the host would be one again. */
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
    // Newest first.
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
