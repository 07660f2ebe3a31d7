// A lane of the inbox goes on while its item is at work, and every second item takes its time.
import {
  type LaneOutcome,
  type LaneRunnerOptions,
  LaneRunner as Real,
} from '../../../../../worker/lanes/lane-runner.ts';
import type { LaneItem } from '../../../../../worker/lanes/lanes.ts';
import { planted } from './planted.ts';

const LATE_MS = 500;

export class LaneRunner<T extends LaneItem> extends Real<T> {
  constructor(options: LaneRunnerOptions<T>) {
    super(options.name === 'inbox' && planted('lane-not-held') ? { ...options, run: lettingGo(options) } : options);
  }
}

const lettingGo =
  <T extends LaneItem>({ run }: LaneRunnerOptions<T>) =>
  async (item: T): Promise<LaneOutcome> => {
    const alone = (): Promise<LaneOutcome> => run(item, () => undefined);
    if (item.seq % 2 === 0) setTimeout(() => void alone(), LATE_MS);
    else await alone();
    return 'left';
  };
