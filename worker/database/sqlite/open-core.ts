// The core of the writer as either thread makes it, with the failpoints that the crash kit asks for.
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

/** Opened again after a failure it is the same core: it remembers which file it was. */
export class OpenCore {
  readonly #core: WriterCore;
  readonly #point: Failpoint | undefined;

  constructor({ failpoints, ...target }: OpenWriter) {
    const point = FAILPOINTS ? failpointsOf(failpoints) : undefined;
    this.#point = point;
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
}
