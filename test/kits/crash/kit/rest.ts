// When a run is over: nothing is open in the stores, every follower is at the head, every reminder is out.
import { until } from '../../../support/until.ts';
import type { HostApi } from './host-api.ts';
import type { Evidence } from './oracle.ts';

/** Rejects when the host has not come to rest within the limit. */
export async function untilRest(evidence: Evidence, api: HostApi, timeoutMs: number): Promise<void> {
  const isAtRest = async (): Promise<boolean> => {
    const { inbox } = (await api.get('/api/system/status')) as { inbox?: { items?: number } };
    const open = (await api.unfinished()) + Number(inbox?.items ?? 0);
    const heads = new Set(evidence.followers.map(({ last }) => last));
    return open === 0 && heads.size === 1 && remindersAreOut(evidence);
  };
  await until(isAtRest, { what: 'the host to come to rest', timeoutMs, everyMs: 100 });
}

/** Each stored reminder has said both its messages. */
function remindersAreOut({ record, history, platform }: Evidence): boolean {
  const shown = new Map<string, number>();
  for (const { conversation } of platform.posts.values()) shown.set(conversation, (shown.get(conversation) ?? 0) + 1);
  return [...record.deliveries.values()].every(
    ({ kind, endpoint, deliveryId, conversation }) =>
      kind !== 'remind' || history.item(endpoint, deliveryId) === undefined || (shown.get(conversation) ?? 0) >= 2,
  );
}
