// Brings stored items to the handlers of the serving generation, one item of a lane at a time. The attempt is counted on disk before plugin code
// runs. The count joins the transaction that stored the item or ended the item before it. Otherwise it is a transaction of its own.
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

/**
 * How an item left its handlers. `retired`: the generation takes no more items, so the next generation handles it. `gone`: an operator ended the item
 * meanwhile.
 */
export type ItemOutcome = 'done' | 'dead' | 'waiting' | 'retired' | 'gone';

export interface ClaimedItem {
  readonly row: InboxRow;
  /** True if this attempt is already counted on disk. */
  readonly isClaimed: boolean;
  /** Set if the item was in hand when the previous process died and has not begun since. */
  readonly left: LeftItem | undefined;
  /** The next item of the lane. It may be claimed in the transaction that ends this one. */
  readonly next: () => NextInLane | undefined;
}

export interface LeftItem {
  /** Number of process deaths with this item in hand, the last one included. */
  readonly deaths: number;
  /** True if the process died so often that one death suffices to set the item aside. */
  readonly isWary: boolean;
  /** To be called once the last death is counted on disk and the item begins again. */
  counted(): void;
  /** To be called once the item is set aside on disk. */
  setAside(): void;
}

const isOpen = ({ state }: InboxRow): boolean => state === 'received' || state === 'handling' || state === 'waiting';

export interface DispatcherOptions {
  readonly core: Core;
  readonly inbox: Pick<Inbox, 'recent'>;
  readonly limits: () => ShareLimits;
  /** How long an item waits after two process deaths with it in hand, in milliseconds. 0 turns the quarantine off. */
  readonly quarantineMs: () => number;
  /** True while no generation serves, or while an ingress pause holds the item back. */
  readonly held: (item: ItemHead) => boolean;
  /** Claims the item if it is not claimed yet, and handles it. The outcome is on disk when the promise resolves. */
  readonly handle: (item: ClaimedItem) => Promise<ItemOutcome>;
  /** Called when the item has left the open states. */
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
  const claimAhead = new ClaimAhead(inbox.recent, quarantine);
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
    const kept = asClaimed(inbox.recent.take(item.id), claimAhead.take(item.id));
    const row = kept === undefined ? await readItem(core.reader, item.id) : { seq: item.seq, ...kept };
    const isClaimed = kept?.state === 'handling';
    const outcome =
      row === undefined || !isOpen(row)
        ? 'gone'
        : await handle({ row, isClaimed, left: leftOf(item.id), next: () => claimAhead.of(next()) });
    // A page read before the commit may have led here, and the row may have been kept afterwards. That row is stale now.
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
