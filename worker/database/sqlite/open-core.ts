// The core of the writer as either thread makes it, with the failpoints and planted faults that the crash kit asks for.
import { type Failpoint, failpointsOf } from '../../../shared/process/failpoints.ts';
import type { Unit } from '../unit.ts';
import type { GroupAnswer } from './group-commit.ts';
import { WriterCore } from './writer-core.ts';

/** The file to write, and what the crash kit asks for. */
export interface OpenWriter {
  readonly file: string;
  readonly failpoints: string | undefined;
  /** The file as this process has had it open: no other one is opened in its place. */
  readonly inode?: number | undefined;
  /** These see WriterCoreOptions. */
  readonly syncedBytes?: number | undefined;
  readonly leavesMigrations?: boolean;
}

const OLD_NUMBER = `DELETE FROM event_log WHERE seq > (SELECT value FROM counters WHERE name = 'event') - 40;
  UPDATE counters SET value = max(value - 40, 0) WHERE name = 'event'`;

/** Opened again after a failure it is the same core: it remembers which file it was. */
export class OpenCore {
  readonly #core: WriterCore;
  readonly #isFirst: boolean;
  readonly #point: Failpoint | undefined;

  constructor({ failpoints, ...target }: OpenWriter) {
    const point = FAILPOINTS ? failpointsOf(failpoints) : undefined;
    this.#point = point;
    this.#isFirst = target.inode === undefined;
    this.#core = new WriterCore({
      ...target,
      now: Date.now,
      ...(FAILPOINTS ? { beforeCommit: () => void point?.('writer.sync') } : {}),
    });
  }

  get inode(): number | undefined {
    return this.#core.inode;
  }

  get syncedBytes(): number | undefined {
    return this.#core.syncedBytes;
  }

  /** Opens and migrates. Throws SvcError, or MigrationDue where migrations are left to others. */
  open(): void {
    this.#core.open();
    if (FAILPOINTS) this.#plantFaults();
  }

  /** Throws SvcError; then nothing of the group may be taken as stored. */
  run(units: readonly Unit[]): GroupAnswer {
    return this.#core.run(units);
  }

  /** The answer of a group is on its way. */
  answered(): void {
    if (FAILPOINTS) void this.#point?.('writer.committed');
  }

  /** True as of `WriterCore.close`. */
  close(): boolean {
    return this.#core.close();
  }

  /** Faults that prove the oracle of the crash kit. */
  #plantFaults(): void {
    if (FAILPOINTS && this.#point?.('plant.commit-without-sync') === 'on')
      this.#core.open().pragma('synchronous = OFF');
    // A counter that lives in memory and is stored now and then: a restart goes on from an old number.
    if (FAILPOINTS && this.#isFirst && this.#point?.('plant.seq-from-memory') === 'on')
      this.#core.open().exec(OLD_NUMBER);
  }
}
