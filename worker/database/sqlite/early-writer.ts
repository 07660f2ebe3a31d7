// The writer during a start. The writer thread gets ready later than all else that a start waits for. Until then the main thread commits groups, by
// the same code with the same syncs.
//
//   EARLY-WRITER-1  One thread writes at a time. The writer thread gets its first group after the last group of the main thread is answered. While
//                   the thread opens the file, nothing is committed: a commit might begin another WAL. The thread opens the file only once it runs,
//                   so the pause is short.
//   EARLY-WRITER-2  The thread opens the same file, by inode. If the file was moved or replaced meanwhile, no new one is created.
//   EARLY-WRITER-3  A migration of stored data may take long. A thread of its own runs it, so the event loop stays free.
//   EARLY-WRITER-4  A thread that cannot load SQLite gets no group. This process has it loaded, so packages were changed since the start. The main
//                   thread goes on.
import { coerceError, type SvcError } from '../../../shared/svc-error.ts';
import { MigrationDue } from '../migrate.ts';
import type { Unit } from '../unit.ts';
import { type GroupRunner, ThreadRunner } from '../writer.ts';
import type { GroupAnswer } from './group-commit.ts';
import { startWriterThread, type WriterThread } from './start-thread.ts';
import { WriterCore, type WriterTarget } from './writer-core.ts';

export class EarlyWriter implements GroupRunner {
  readonly #target: WriterTarget;
  readonly #onDeath: (error: SvcError) => void;
  readonly #here: WriterCore;
  #thread: ThreadRunner | undefined;
  /** It stays for the watch over the event loop (EARLY-WRITER-4). */
  #unused: ThreadRunner | undefined;
  #takingOver: Promise<void> | undefined;
  #opening: Promise<void> | undefined;
  #closed = false;
  #isLogMended = false;

  constructor(target: WriterTarget, thread: Promise<WriterThread>, onDeath: (error: SvcError) => void) {
    this.#target = target;
    this.#onDeath = onDeath;
    this.#here = new WriterCore({ ...target, leavesMigrations: true });
    void thread.then((worker) => {
      this.#takingOver = this.#handOver(worker); // never rejects
    });
  }

  async open(): Promise<void> {
    await this.#opening;
    if (this.#thread !== undefined) return this.#thread.open();
    try {
      this.#here.open();
    } catch (error) {
      if (!(error instanceof MigrationDue)) throw error;
      await this.#migrate();
      this.#here.open();
    }
  }

  async #migrate(): Promise<void> {
    const thread = new ThreadRunner(startWriterThread(), this.#target, () => {});
    try {
      await thread.open();
    } finally {
      await thread.close();
    }
  }

  async run(units: readonly Unit[]): Promise<GroupAnswer> {
    await this.#opening;
    if (this.#thread !== undefined) return this.#ofThread(await this.#thread.run(units));
    const answer = this.#here.run(units);
    this.#here.answered();
    return answer;
  }

  async pin(maxBytes: number | undefined): Promise<void> {
    await this.#opening;
    if (this.#thread !== undefined) return this.#thread.pin(maxBytes);
    this.#here.pin(maxBytes);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#takingOver;
    await (this.#thread ?? this.#unused)?.close();
    this.#here.close();
  }

  async #handOver(worker: WriterThread): Promise<void> {
    if (this.#closed) {
      await worker.terminate();
      return;
    }
    const thread = new ThreadRunner(worker, this.#targetOfThread(), this.#onDeath);
    await thread.up();
    let failure: SvcError | undefined;
    this.#opening = thread.open().catch((error: unknown) => {
      failure = coerceError(error); // the next group reports it
    });
    await this.#opening;
    if (failure?.code === 'modules_unusable') {
      this.#unused = thread;
      return;
    }
    this.#isLogMended = this.#here.close();
    this.#thread = thread;
    const { pinnedBytes } = this.#here;
    if (pinnedBytes !== undefined) await thread.pin(pinnedBytes).catch(() => {}); // the thread has ended: its next group reports it
  }

  /** Read when the thread opens the file: the main thread commits groups until then. */
  #targetOfThread(): WriterTarget {
    const here = this.#here;
    return {
      ...this.#target,
      get inode() {
        return here.inode;
      },
      get syncedBytes() {
        return here.syncedBytes;
      },
    };
  }

  /** The first answer reports a WAL that was repaired during the handover. */
  #ofThread(answer: GroupAnswer): GroupAnswer {
    if (!this.#isLogMended) return answer;
    this.#isLogMended = false;
    return { ...answer, isLogMended: true };
  }
}
