// Brings stored items to the handlers of the serving generation. The attempt is counted on disk before a handler runs, so that an
// item that kills the process does not come back for ever.
import type { Core } from '../core.ts';
import { LaneRunner, type LaneOutcome } from '../lanes/lane-runner.ts';
import type { LaneLimits } from '../lanes/lanes.ts';
import { claimItem, readItem, readLane, readOpen, type InboxRow, type ItemHead } from './inbox-store.ts';

/** How an item left its handlers; `retired`: its generation took no more, the next one handles it. */
export type ItemOutcome = 'done' | 'dead' | 'waiting' | 'retired';

export interface DispatcherOptions {
  readonly core: Core;
  readonly limits: () => LaneLimits;
  /** True while there is no generation to serve, or an ingress pause holds the item back. */
  readonly held: (item: ItemHead) => boolean;
  /** Handles a claimed item; its outcome is on disk when it resolves. */
  readonly handle: (row: InboxRow) => Promise<ItemOutcome>;
  /** The item left the open states. */
  readonly left: (item: ItemHead) => void;
}

export function createDispatcher({ core, limits, held, handle, left }: DispatcherOptions): LaneRunner<ItemHead> {
  const run = async (item: ItemHead): Promise<LaneOutcome> => {
    const answer = await core.writer.commit({ name: 'inbox.claim', statements: [claimItem({ id: item.id })] });
    if (answer.kind === 'refused') return 'left';
    if (FAILPOINTS) await core.point('attempt');
    const row = await readItem(core.reader, item.id);
    const outcome = row === undefined ? 'done' : await handle(row);
    if (outcome === 'retired') return 'again';
    if (outcome === 'waiting') return 'waiting';
    left(item);
    return 'left';
  };
  return new LaneRunner({
    name: 'inbox',
    core,
    limits,
    held,
    run,
    readOpen: (after, limit) => readOpen(core.reader, after, limit),
    readLane: (lane, after, limit) => readLane(core.reader, lane, after, limit),
  });
}
