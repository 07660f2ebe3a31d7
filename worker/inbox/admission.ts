// Admission to the inbox. A flood from one endpoint cannot take the room of the others.
//
//   ADMISSION-1  All open items together stay within the bound.
//   ADMISSION-2  Nine tenths of the bound are shared. The last tenth is split evenly among the endpoints that take deliveries. An endpoint uses its
//                own part first; only the excess counts against the shared room. A bound below ten items reserves nothing.
//   ADMISSION-3  An endpoint with nothing else open may hand in one batch larger than its part, within the bound. Otherwise a large body or page
//                could never get in.
//   ADMISSION-4  The host's own items (tasks, jobs, events for subscribers) leave a tenth of the bound free. Messages are more urgent. The endpoints
//                divide the rest.
import { SvcError } from '../../shared/svc-error.ts';

export interface Amount {
  readonly items: number;
  readonly bytes: number;
}

/** Open items. The batch in question is already included. */
export interface Waiting extends Amount {
  /** The host's own items among them. */
  readonly own: Amount;
  /** The other items, by endpoint. */
  readonly held: ReadonlyMap<string, Amount>;
}

export interface Asked {
  readonly endpoint: string;
  /** Size of the batch that the endpoint hands in. */
  readonly batch: Amount;
}

export interface Shares {
  readonly bound: Amount;
  /** Number of endpoints that take deliveries. Called only when much is open. */
  readonly endpoints: () => number;
}

/** `full`: the bound is reached. `over_part`: the remaining room is reserved for other endpoints. */
export type Admission = 'admitted' | 'full' | 'over_part';

const FOR_ALL = 0.9;
const OWN_SHARE = 0.9;
const MEASURES = ['items', 'bytes'] as const;

export function admission(waiting: Waiting, { endpoint, batch }: Asked, { bound, endpoints }: Shares): Admission {
  if (MEASURES.some((measure) => waiting[measure] > bound[measure])) return 'full';
  const mine = waiting.held.get(endpoint);
  const fits = MEASURES.every((measure) => {
    const most = bound[measure] - waiting.own[measure];
    const forAll = Math.ceil(most * FOR_ALL);
    if (waiting[measure] - waiting.own[measure] <= forAll) return true;
    const held = mine?.[measure] ?? 0;
    const part = (most - forAll) / Math.max(1, endpoints());
    if (held <= part || held <= batch[measure]) return true;
    return abovePart(waiting, measure, part) <= forAll;
  });
  return fits ? 'admitted' : 'over_part';
}

function abovePart({ held }: Waiting, measure: keyof Amount, part: number): number {
  let sum = 0;
  for (const amount of held.values()) sum += Math.max(0, amount[measure] - part);
  return sum;
}

/** How many of the host's own items are let in. They leave a tenth of the bound to messages. */
export function roomForOwn({ items, bytes }: Amount, bound: Amount): number {
  const most = Math.max(1, Math.floor(bound.items * OWN_SHARE));
  return bytes < bound.bytes * OWN_SHARE ? Math.max(0, most - items) : 0;
}

const FULL = {
  hint: 'svc inbox list shows what waits; inbox.maxPending and inbox.maxPendingBytes bound it',
  details: { retryAfterMs: 5_000 },
} as const;

/** The refusal; undefined if the batch is admitted. */
export function refusal(waiting: Waiting, asked: Asked, shares: Shares): SvcError | undefined {
  switch (admission(waiting, asked, shares)) {
    case 'admitted':
      return undefined;
    case 'full':
      return new SvcError(
        'inbox_full',
        `${waiting.items} items of ${waiting.bytes} bytes would wait in the inbox`,
        FULL,
      );
    case 'over_part': {
      const { items, bytes } = waiting.held.get(asked.endpoint) ?? asked.batch;
      const what = `${items} items of ${bytes} bytes of this endpoint would wait in the inbox`;
      return new SvcError('inbox_full', `${what}: what is left is for the others`, FULL);
    }
  }
}
