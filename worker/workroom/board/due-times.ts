// When the host looks at an item by itself: its deadline, the deadlines of its blockers, and how long nothing happened. Pure.
import { type Blocker, type Item, isEnded, openBlockers } from './model.ts';

export interface Reminding {
  /** An item without a fact for so long is stuck; 0: never. */
  readonly stuckMs: number;
  /** Announced again after so long. */
  readonly remindMs: number;
}

export interface DueNow {
  readonly kind: 'item.overdue' | 'item.stuck';
  readonly blocker: Blocker | undefined;
  readonly at: number;
}

/** Everything that will be announced, with its time. */
export function announcements(item: Item, reminding: Reminding): readonly DueNow[] {
  if (isEnded(item)) return [];
  const overdue = (of: Pick<Item, 'due' | 'overdueAt'>, blocker?: Blocker): readonly DueNow[] => {
    const at = overdueTime(of, reminding);
    return at === undefined ? [] : [{ kind: 'item.overdue', blocker, at }];
  };
  const stuckAt = stuckTime(item, reminding);
  return [
    ...overdue(item),
    ...openBlockers(item).flatMap((blocker) => overdue(blocker, blocker)),
    ...(stuckAt === undefined ? [] : [{ kind: 'item.stuck', blocker: undefined, at: stuckAt } as const]),
  ];
}

/** The earliest time of `announcements`. Each event of an item asks for it, so no list is made. */
export function nextAnnouncement(item: Item, reminding: Reminding): number | undefined {
  if (isEnded(item)) return undefined;
  let next = earlier(overdueTime(item, reminding), stuckTime(item, reminding));
  for (const blocker of item.blockers)
    if (blocker.resolved === undefined) next = earlier(next, overdueTime(blocker, reminding));
  return next;
}

function overdueTime({ due, overdueAt }: Pick<Item, 'due' | 'overdueAt'>, { remindMs }: Reminding): number | undefined {
  return due === undefined || overdueAt === undefined ? due : overdueAt + remindMs;
}

function stuckTime({ touchedAt, stuckAt }: Item, { stuckMs, remindMs }: Reminding): number | undefined {
  if (stuckMs === 0) return undefined;
  return stuckAt === undefined ? touchedAt + stuckMs : stuckAt + remindMs;
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

/** The due row of an item, without its time. Each item has one. */
export const dueRow = (item: string) =>
  ({ id: `workroom/${item}`, kind: 'workroom', capability: null, lane: null, data: item }) as const;
