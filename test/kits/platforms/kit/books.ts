// The host's own books at the end: items and sends of each account by state.
import type { HostApi } from '../../crash/kit/host-api.ts';
import type { Books } from './judge.ts';
import type { OpenPlatform } from './platform.ts';

interface Entry {
  readonly endpoint: string;
  readonly state: string;
  readonly kind?: string;
}

export async function readBooks(api: HostApi): Promise<(platform: OpenPlatform) => Books> {
  const [items, sends] = [await listed(api, 'inbox'), await listed(api, 'outbox')];
  return ({ slot, account }) => {
    const endpoint = `root/${slot}:${slot}${account === undefined ? '' : `~${String(account['id'])}`}`;
    return { items: byState(items, endpoint), sends: byState(sends, endpoint) };
  };
}

async function listed(api: HostApi, store: 'inbox' | 'outbox'): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = (await api.get(`/api/${store}?limit=200${after === '' ? '' : `&after=${after}`}`)) as {
      readonly items: readonly Entry[];
      readonly next?: string;
    };
    all.push(...page.items);
    after = page.next;
  }
  return all;
}

function byState(entries: readonly Entry[], endpoint: string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const entry of entries) if (entry.endpoint === endpoint) counts[entry.state] = (counts[entry.state] ?? 0) + 1;
  return counts;
}
