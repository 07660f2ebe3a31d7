// What the event stream told of items: the host's own account of what happened, against which the driver's record is held.
import { keyOf } from './record.ts';
import type { SeenEvent } from './stream-follower.ts';

export class History {
  /** Items by endpoint and delivery id; more than one would be a delivery taken twice. */
  readonly received = new Map<string, string[]>();
  readonly done = new Map<string, number>();
  /** Positions of items in the history. */
  readonly receivedAt = new Map<string, number>();
  readonly doneAt = new Map<string, number>();
  readonly sent = new Map<string, number>();
  /** Dead and unknown ends, with their reason. */
  readonly failed: string[] = [];
  starts = 0;

  readonly take = ({ seq, type, endpoint, data }: SeenEvent): void => {
    const item = String(data['item'] ?? '');
    switch (type) {
      case 'runtime.started':
        this.starts += 1;
        return;
      case 'inbox.received': {
        const key = keyOf(endpoint ?? '', String(data['delivery']));
        const items = this.received.get(key);
        if (items === undefined) this.received.set(key, [item]);
        else items.push(item);
        this.receivedAt.set(item, seq);
        return;
      }
      case 'inbox.done':
        this.done.set(item, (this.done.get(item) ?? 0) + 1);
        this.doneAt.set(item, seq);
        return;
      case 'outbox.sent':
        this.sent.set(item, (this.sent.get(item) ?? 0) + 1);
        return;
      case 'inbox.dead':
      case 'outbox.dead':
      case 'outbox.unknown':
        this.failed.push(`${type} ${item}: ${String(data['reason'])}`);
        return;
    }
  };

  item(endpoint: string, deliveryId: string): string | undefined {
    return this.received.get(keyOf(endpoint, deliveryId))?.[0];
  }
}
