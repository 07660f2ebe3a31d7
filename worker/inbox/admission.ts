// Who may put more into the inbox: nobody takes it from the others, whatever waits.
//
//   A1  All that is open fits the bound.
//   A2  Nine tenths of the bound are for whoever comes; the last is divided among the endpoints that take deliveries, a part for each. What an
//       endpoint holds above its part is of what is for all: a flood fills that and its own part, and leaves the parts of the others. Of
//       less than ten items none is kept: the bound is what the operator wrote.
//   A3  What an endpoint hands in at once while it has nothing else there is taken as long as A1 holds: a body or a page that is larger
//       than its part would never get in.
//   A4  The host's own items (tasks, jobs, events for subscribers) leave a tenth of the bound: they wait elsewhere for less than messages
//       do. The endpoints divide what those leave.
import { SvcError } from '../../shared/svc-error.ts';

export interface Amount {
  readonly items: number;
  readonly bytes: number;
}

/** What is open, with what is asked about counted already. */
export interface Waiting extends Amount {
  /** Of it, the host's own. */
  readonly own: Amount;
  /** Of it, the others by endpoint. */
  readonly held: ReadonlyMap<string, Amount>;
}

export interface Asked {
  readonly endpoint: string;
  /** What it hands in. */
  readonly batch: Amount;
}

export interface Shares {
  readonly bound: Amount;
  /** How many endpoints take deliveries; asked for only when much is open. */
  readonly endpoints: () => number;
}

/** `full`: the bound is reached (A1); `over_part`: there is room, and it is for others (A2). */
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

/** How many of the host's own items are let in (A4). */
export function roomForOwn({ items, bytes }: Amount, bound: Amount): number {
  const most = Math.max(1, Math.floor(bound.items * OWN_SHARE));
  return bytes < bound.bytes * OWN_SHARE ? Math.max(0, most - items) : 0;
}

const FULL = {
  hint: 'svc inbox list shows what waits; inbox.maxPending and inbox.maxPendingBytes bound it',
  details: { retryAfterMs: 5_000 },
} as const;

/** Why it is not taken; undefined when it is. */
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
