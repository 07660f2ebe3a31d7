// The core of the writer with the failpoints of the crash kit. The writer thread and the main thread both use it.
import { type Failpoint, failpointsOf } from '../../../shared/process/failpoints.ts';
import type { Unit } from '../unit.ts';
import type { GroupAnswer } from './group-commit.ts';
import { WriterCore } from './writer-core.ts';

/** The file to write, and the failpoints of the crash kit. */
export interface OpenWriter {
  readonly file: string;
  readonly failpoints: string | undefined;
  /** Inode of the file that this process has had open before: another file at the path is refused. */
  readonly inode?: number | undefined;
  /** Set after a failed write: so many bytes of the file were synced before. */
  readonly syncedBytes?: number | undefined;
  /** Migrations are left to another thread: `open` throws MigrationDue. */
  readonly leavesMigrations?: boolean;
}

/** A reopen after a failure keeps the core, which remembers the inode of its file. */
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

  get pinnedBytes(): number | undefined {
    return this.#core.pinnedBytes;
  }

  pin(maxBytes: number | undefined): void {
    this.#core.pin(maxBytes);
  }

  /** Opens and migrates. Throws SvcError, or MigrationDue if `leavesMigrations` is set. */
  open(): void {
    this.#core.open();
  }

  /** Throws SvcError; then nothing of the group counts as stored. */
  run(units: readonly Unit[]): GroupAnswer {
    return this.#core.run(units);
  }

  /** Call once the answer of a group is sent. */
  answered(): void {
    if (FAILPOINTS) void this.#point?.('writer.committed');
  }

  /** True if no answer has reported a repaired WAL yet. */
  close(): boolean {
    return this.#core.close();
  }
}
