// The writer of a start. Its thread takes longer to get ready than anything else that a start waits for; so until it is there, groups are
// committed in the main thread: by the same code with the same settings, answered after the same syncs.
//
//   E1  One writes at a time: the thread gets its first group after the last one here has its answer, and while it opens the file none is committed
//       here, which might begin another log. It is asked to open only once it is up, so that this takes no time.
//   E2  The thread takes over the very file that was open here: one that was moved or replaced meanwhile is not made anew (W3).
//   E3  Migrations of what is stored may take long: a thread of their own runs them, so that the main thread hears and answers meanwhile.
import type { SvcError } from '../../../shared/svc-error.ts';
import { MigrationDue } from '../migrate.ts';
import type { Unit } from '../unit.ts';
import { type GroupRunner, ThreadRunner } from '../writer.ts';
import type { GroupAnswer } from './group-commit.ts';
import { OpenCore, type OpenWriter } from './open-core.ts';
import { startWriterThread, type WriterThread } from './start-thread.ts';

export class EarlyWriter implements GroupRunner {
  readonly #target: OpenWriter;
  readonly #onDeath: (error: SvcError) => void;
  readonly #here: OpenCore;
  #thread: ThreadRunner | undefined;
  #takingOver: Promise<void> | undefined;
  #opening: Promise<void> | undefined;
  #closed = false;
  #isLogMended = false;

  constructor(target: OpenWriter, thread: Promise<WriterThread>, onDeath: (error: SvcError) => void) {
    this.#target = target;
    this.#onDeath = onDeath;
    this.#here = new OpenCore({ ...target, leavesMigrations: true });
    void thread.then((worker) => {
      this.#takingOver = this.#handOver(worker); // never fails
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

  async close(): Promise<void> {
    this.#closed = true;
    await this.#takingOver;
    await this.#thread?.close();
    this.#here.close();
  }

  async #handOver(worker: WriterThread): Promise<void> {
    if (this.#closed) {
      await worker.terminate();
      return;
    }
    const thread = new ThreadRunner(worker, this.#targetOfThread(), this.#onDeath);
    await thread.up();
    this.#opening = thread.open().catch(() => {}); // what it cannot open is told to the group that comes next, as ever
    await this.#opening;
    this.#isLogMended = this.#here.close();
    this.#thread = thread;
  }

  /** Read when the thread opens the file: until then groups are committed here. */
  #targetOfThread(): OpenWriter {
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

  /** The first one tells of a log that was mended while the thread took over. */
  #ofThread(answer: GroupAnswer): GroupAnswer {
    if (!this.#isLogMended) return answer;
    this.#isLogMended = false;
    return { ...answer, isLogMended: true };
  }
}
