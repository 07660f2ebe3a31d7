// The state store of one worker: writer, reader, and whether both are usable. The store never ends a process: a failed open is retried each second,
// and readiness tells the reason. The store is unusable once a later start writes to the database.
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { LOST_REMEDY } from '../../shared/files/database-remedies.ts';
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import type { Clock, Timer } from '../../shared/time/clock.ts';
import { AUTHORITY, authorityGone } from './authority.ts';
import { OTHER_LOG, SqliteReader } from './reader.ts';
import { openReadOnly, sqliteCode } from './sqlite/connection.ts';
import { EarlyWriter } from './sqlite/early-writer.ts';
import { startWriterThread, type WriterThread } from './sqlite/start-thread.ts';
import type { WriterTarget } from './sqlite/writer-core.ts';
import { storageFault } from './storage-fault.ts';
import type { LogPin, SnapshotWriter, Statement, Unit, UnitAnswer, Writer } from './unit.ts';
import { GroupingWriter, type GroupRunner, ThreadRunner, type WriterObserver } from './writer.ts';

export type DatabaseState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open' }
  | { readonly kind: 'failed'; readonly code: string; readonly reason: string; readonly hint: string | undefined };

export interface DatabaseHostOptions {
  readonly file: string;
  readonly clock: Clock;
  readonly makeRunner: (onDeath: (error: SvcError) => void) => GroupRunner;
  /** The writer thread has ended and cannot be replaced: the process must end. */
  readonly onDeath?: (error: SvcError) => void;
  /** A later start has the authority to write: this process must end. */
  readonly onFencedOut?: (reason: string) => void;
  readonly observer?: WriterObserver;
  /** Called at each change between usable and unusable. */
  onState(state: DatabaseState): void;
}

const PROBE_EVERY_MS = 1_000;
/** A write without effect. Its value changes each time: SQLite does not write a page that stays the same. */
const touch = (value: string): Statement => ({
  sql: "INSERT INTO meta (key, value) VALUES ('probe', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  parameters: [value],
});

const probe = (statements: readonly Statement[]): Unit => ({ name: 'database.probe', statements });

export class DatabaseHost implements Writer, SnapshotWriter {
  readonly reader: SqliteReader;
  readonly #options: DatabaseHostOptions;
  readonly #writer: GroupingWriter;
  readonly #runner: GroupRunner;
  #state: DatabaseState = { kind: 'opening' };
  #timer: Timer | undefined;
  #closed = false;
  /** Number of this start; infinite until `holds` is called. */
  #authority = Number.POSITIVE_INFINITY;

  constructor(options: DatabaseHostOptions) {
    this.#options = options;
    this.#runner = options.makeRunner((error) => {
      this.#fail(error);
      if (!this.#closed) options.onDeath?.(error);
    });
    this.reader = new SqliteReader(() => openReadOnly(options.file));
    const observer: WriterObserver = {
      ...options.observer,
      logMended: () => {
        this.reader.close(); // the reader may have read altered pages
        options.observer?.logMended?.();
      },
      failed: (error) => {
        options.observer?.failed?.(error);
        this.#fail(error);
      },
    };
    this.#writer = new GroupingWriter(this.#runner, observer, options.clock);
  }

  get state(): DatabaseState {
    return this.#state;
  }

  /** From now on each probe also looks for the number of a later start. */
  holds(authority: number): void {
    this.#authority = authority;
  }

  /** Resolves with the first outcome, and retries in the background. */
  async open(): Promise<DatabaseState> {
    await this.#tryOpen();
    this.#watch();
    return this.#state;
  }

  commit(unit: Unit): Promise<UnitAnswer> {
    return this.#writer.commit(unit);
  }

  onHead(listener: (head: number) => void): () => void {
    return this.#writer.onHead(listener);
  }

  hold<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#writer.hold(work);
  }

  pinLog(limit: { readonly maxBytes: number }): Promise<LogPin> {
    return this.#writer.pinLog(limit);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#writer.flush();
    // The last connection to close checkpoints the WAL, which a read-only one cannot. `end` keeps later reads from opening one.
    this.reader.end();
    await this.#runner.close();
  }

  async #tryOpen(): Promise<DatabaseState> {
    try {
      await this.#runner.open();
      this.#set({ kind: 'open' });
    } catch (error) {
      this.#fail(coerceError(error));
    }
    return this.#state;
  }

  #watch(): void {
    this.#timer = this.#options.clock.after(PROBE_EVERY_MS, () => {
      void this.#probe().finally(() => {
        if (!this.#closed) this.#watch();
      });
    });
  }

  /** Reads the file through a new connection, so that a damaged or missing file shows within two seconds. */
  async #probe(): Promise<void> {
    const { file } = this.#options;
    const wasOpen = this.#state.kind === 'open';
    try {
      if (wasOpen)
        await this.#writer.commit(probe([])); // reports a foreign lock, and repairs a removed WAL
      else {
        this.reader.close();
        await this.#runner.open();
      }
      if (statSync(file, { throwIfNoEntry: false }) === undefined)
        throw new SvcError('storage_unavailable', `the database file ${file} is gone`, {
          hint: LOST_REMEDY,
        });
      await this.#look();
      // After a failure only a page that is written and synced proves that the fault is gone.
      if (!wasOpen) await this.#writer.commit(probe([touch(randomUUID())]));
      this.#set({ kind: 'open' });
    } catch (error) {
      this.#fail(error instanceof SvcError ? error : unreadable(error));
    }
  }

  /** Tries again if the WAL was removed since the last commit: the writer repairs that. */
  async #look(): Promise<void> {
    try {
      this.#readAuthority();
    } catch (error) {
      if (sqliteCode(error) !== OTHER_LOG) throw error;
      await this.#writer.commit(probe([]));
      this.#readAuthority();
    }
  }

  #readAuthority(): void {
    const connection = openReadOnly(this.#options.file);
    try {
      this.#compare(connection.prepare(AUTHORITY).pluck().get());
    } finally {
      connection.close();
    }
  }

  /** A lower number is that of an older copy of the file. The writer may still have the newer pages: it repairs the file, or refuses fenced units. */
  #compare(authority: unknown): void {
    if (typeof authority !== 'number' || authority <= this.#authority) return;
    const error = authorityGone();
    this.#fail(error);
    if (!this.#closed) this.#options.onFencedOut?.(error.message);
    throw error;
  }

  #fail(error: SvcError): void {
    this.#set({ kind: 'failed', code: error.code, reason: error.message, hint: error.hint });
  }

  #set(state: DatabaseState): void {
    const before = this.#state;
    this.#state = state;
    const same =
      before.kind === state.kind &&
      (before.kind !== 'failed' || state.kind !== 'failed' || before.reason === state.reason);
    if (!same) this.#options.onState(state);
  }
}

function unreadable(error: unknown): SvcError {
  const { message, hint } = storageFault(error);
  return new SvcError('storage_unavailable', `the database cannot be read: ${message}`, { cause: error, hint });
}

/** A runner over the writer thread: a given one, one that starts once the host is up, or a new one. */
export function threadRunner(
  target: WriterTarget,
  thread: WriterThread | Promise<WriterThread> = startWriterThread(),
): (onDeath: (error: SvcError) => void) => GroupRunner {
  return (onDeath) =>
    thread instanceof Promise ? new EarlyWriter(target, thread, onDeath) : new ThreadRunner(thread, target, onDeath);
}
