// Brings stored items to the handlers of the serving generation, one of a lane at a time. The attempt is counted by whoever handles
// the item, before anything of a plugin runs.
import type { Core } from '../core.ts';
import { type LaneOutcome, LaneRunner } from '../lanes/lane-runner.ts';
import type { LaneLimits } from '../lanes/lanes.ts';
import { Suspects } from '../lanes/suspects.ts';
import type { Inbox } from './inbox.ts';
import { type InboxRow, type ItemHead, readItem, readLane, readOpen, readSuspects } from './inbox-store.ts';

/** How an item left its handlers; `retired`: its generation took no more, the next one handles it; `gone`: somebody else ended it. */
export type ItemOutcome = 'done' | 'dead' | 'waiting' | 'retired' | 'gone';

const isOpen = ({ state }: InboxRow): boolean => state === 'received' || state === 'handling' || state === 'waiting';

export interface DispatcherOptions {
  readonly core: Core;
  readonly inbox: Pick<Inbox, 'recent'>;
  readonly limits: () => LaneLimits;
  /** True while there is no generation to serve, or an ingress pause holds the item back. */
  readonly held: (item: ItemHead) => boolean;
  /** Claims and handles an item; its outcome is on disk when it resolves. */
  readonly handle: (row: InboxRow) => Promise<ItemOutcome>;
  /** The item left the open states. */
  readonly left: (item: ItemHead) => void;
}

export function createDispatcher(options: DispatcherOptions): LaneRunner<ItemHead> {
  const { core, inbox, limits, held, handle, left } = options;
  const suspects = new Suspects(core, {
    read: () => readSuspects(core.reader),
    what: 'items',
    changed: () => runner.wake(),
  });
  const handled = async (item: ItemHead): Promise<LaneOutcome> => {
    const kept = inbox.recent.take(item.id);
    const row = kept === undefined ? await readItem(core.reader, item.id) : { ...kept, seq: item.seq };
    const outcome = row === undefined || !isOpen(row) ? 'gone' : await handle(row);
    if (outcome === 'retired') return 'again';
    if (outcome === 'waiting') return 'waiting';
    if (outcome !== 'gone') left(item);
    return 'left';
  };
  const runner = new LaneRunner<ItemHead>({
    name: 'inbox',
    core,
    limits: () => suspects.limits(limits()),
    held,
    run: (item) => suspects.watch(item.id, () => handled(item)),
    async readOpen(after, limit) {
      await suspects.load();
      return readOpen(core.reader, after, limit);
    },
    readLane: (lane, after, limit) => readLane(core.reader, lane, { after, limit }),
  });
  return runner;
}
