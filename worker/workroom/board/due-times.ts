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
export function announcements(item: Item, { stuckMs, remindMs }: Reminding): readonly DueNow[] {
  if (isEnded(item)) return [];
  const overdue = (of: Pick<Item, 'due' | 'overdueAt'>, blocker?: Blocker): readonly DueNow[] =>
    of.due === undefined
      ? []
      : [{ kind: 'item.overdue', blocker, at: of.overdueAt === undefined ? of.due : of.overdueAt + remindMs }];
  const stuckAt = item.stuckAt === undefined ? item.touchedAt + stuckMs : item.stuckAt + remindMs;
  return [
    ...overdue(item),
    ...openBlockers(item).flatMap((blocker) => overdue(blocker, blocker)),
    ...(stuckMs > 0 ? [{ kind: 'item.stuck', blocker: undefined, at: stuckAt } as const] : []),
  ];
}

export function nextAnnouncement(item: Item, reminding: Reminding): number | undefined {
  const times = announcements(item, reminding).map(({ at }) => at);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The due row of an item, without its time. Each item has one. */
export const dueRow = (item: string) =>
  ({ id: `workroom/${item}`, kind: 'workroom', capability: null, lane: null, data: item }) as const;
