// Deliveries whose id is stored already. They are counted. A known id with another body is also logged and recorded as an event.
import type { Core } from '../core/core.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import { readDelivery } from './inbox-store.ts';
import type { PreparedItem } from './prepare-item.ts';

export interface Repeat<Item> {
  readonly item: Item;
  /** True if the stored body differs. */
  readonly conflict: boolean;
}

/** The items whose delivery ids are stored already. `tell` is called for each. */
export async function findDuplicates<Item extends PreparedItem>(
  core: Core,
  items: readonly Item[],
  tell: (endpoint: string, conflict: boolean) => void,
): Promise<Repeat<Item>[]> {
  const repeats: Repeat<Item>[] = [];
  for (const item of items) {
    const { endpoint, delivery_id: delivery, sha256 } = item.row;
    const row = await readDelivery(core.reader, endpoint, delivery);
    if (row === undefined) continue;
    const conflict = row.sha256 !== sha256;
    repeats.push({ item, conflict });
    tell(endpoint, conflict);
    if (conflict) tellConflict(core, item, row.id);
  }
  return repeats;
}

function tellConflict({ clock, runtimeId, log, writer }: Core, { row }: PreparedItem, stored: string): void {
  const { endpoint, delivery_id: delivery, bytes, sha256 } = row;
  log.warn({ endpoint, item: stored }, 'delivery id was used again with another body');
  const data = { item: stored, delivery, bytes, sha256 };
  const event: NewEvent = { type: 'inbox.duplicate_conflict', at: clock.now(), runtimeId, endpoint, data };
  writer.commit({ name: 'inbox.conflict', statements: recordEvents([event]) }).catch(() => {}); // the log has the conflict
}
