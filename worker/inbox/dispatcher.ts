// Brings stored items to the handlers of the serving generation, one of a lane at a time. The attempt is counted before anything of a
// plugin runs: with the unit that stored the item, with the one that ended its forerunner, or by whoever handles it.
import type { Core } from '../core/core.ts';
import { readCrashes } from '../database/starts-ledger.ts';
import { ClaimAhead, type NextInLane } from '../lanes/claim-ahead.ts';
import type { ShareLimits } from '../lanes/fair-shares.ts';
import { type LaneOutcome, LaneRunner } from '../lanes/lane-runner.ts';
import { Quarantine } from '../lanes/quarantine.ts';
import type { Inbox } from './inbox.ts';
import { type InboxRow, type ItemHead, readItem, readLane, readOpen } from './inbox-store.ts';
import { readLeftInHand } from './left-items-store.ts';
import type { NewRow } from './prepare-item.ts';

/** How an item left its handlers; `retired`: its generation took no more, the next one handles it; `gone`: somebody else ended it. */
export type ItemOutcome = 'done' | 'dead' | 'waiting' | 'retired' | 'gone';

export interface ClaimedItem {
  readonly row: InboxRow;
  /** True when its attempt is counted already. */
  readonly isClaimed: boolean;
  /** It was in hand when the process before this one died, and has not begun since. */
  readonly left: LeftItem | undefined;
  /** What its lane goes on with, to be claimed in the unit that ends it. */
  readonly next: () => NextInLane | undefined;
}

export interface LeftItem {
  /** At which it was in hand, the last one included. */
  readonly deaths: number;
  /** There were so many deaths that one is enough to set it aside. */
  readonly isWary: boolean;
  /** The last death is counted on disk: it begins anew. */
  counted(): void;
  /** So it is, and the item waits. */
  setAside(): void;
}

const isOpen = ({ state }: InboxRow): boolean => state === 'received' || state === 'handling' || state === 'waiting';

export interface DispatcherOptions {
  readonly core: Core;
  readonly inbox: Pick<Inbox, 'recent'>;
  readonly limits: () => ShareLimits;
  /** See `Quarantine`. */
  readonly quarantineMs: () => number;
  /** True while there is no generation to serve, or an ingress pause holds the item back. */
  readonly held: (item: ItemHead) => boolean;
  /** Claims an item, where it is not claimed yet, and handles it; its outcome is on disk when it resolves. */
  readonly handle: (item: ClaimedItem) => Promise<ItemOutcome>;
  /** The item left the open states. */
  readonly left: (item: ItemHead) => void;
}

const asClaimed = (row: NewRow | undefined, isClaimed: boolean): NewRow | undefined =>
  row !== undefined && isClaimed ? Object.assign({ ...row }, { state: 'handling', attempts: 1 } as const) : row;

export function createDispatcher(options: DispatcherOptions): LaneRunner<ItemHead> {
  const { core, inbox, limits, held, handle, left } = options;
  const quarantine = new Quarantine(core, {
    read: () => readLeftInHand(core.reader),
    deaths: async () => ({ at: await readCrashes(core.reader), withinMs: options.quarantineMs() }),
    what: 'items',
    changed: () => runner.wake(),
  });
  const followers = new ClaimAhead(inbox.recent, quarantine);
  const leftOf = (id: string): LeftItem | undefined => {
    const deaths = quarantine.deathsOf(id);
    return deaths === undefined
      ? undefined
      : {
          deaths,
          isWary: quarantine.isWary,
          counted: () => quarantine.counted(id),
          setAside: () => quarantine.setAside(id),
        };
  };
  const handled = async (item: ItemHead, next: () => ItemHead | undefined): Promise<LaneOutcome> => {
    const kept = asClaimed(inbox.recent.take(item.id), followers.take(item.id));
    const row = kept === undefined ? await readItem(core.reader, item.id) : { seq: item.seq, ...kept };
    const isClaimed = kept?.state === 'handling';
    const outcome =
      row === undefined || !isOpen(row)
        ? 'gone'
        : await handle({ row, isClaimed, left: leftOf(item.id), next: () => followers.of(next()) });
    // The page that led here may have been read before the commit was answered, and the row kept only then: it is old by now.
    inbox.recent.take(item.id);
    if (outcome === 'retired') {
      if (kept !== undefined) inbox.recent.keep(kept);
      return 'again';
    }
    if (outcome === 'waiting') return 'waiting';
    if (outcome !== 'gone') left(item);
    return 'left';
  };
  const runner = new LaneRunner<ItemHead>({
    name: 'inbox',
    core,
    limits: () => quarantine.limits(limits()),
    held,
    run: (item, next) => quarantine.watch(item.id, () => handled(item, next)),
    async readOpen(after, limit) {
      await quarantine.load();
      return readOpen(core.reader, after, limit);
    },
    readLane: (lane, after, limit) => readLane(core.reader, lane, { after, limit }),
  });
  return runner;
}
