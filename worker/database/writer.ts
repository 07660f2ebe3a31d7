// The writer for the rest of the worker: takes units, and answers after the commit of their group. Units that wait during a sync form the next group,
// so groups grow with the load.
import type { ErrorCode } from '../../shared/error-codes.ts';
import { messageOf, SvcError } from '../../shared/svc-error.ts';
import { type Clock, systemClock } from '../../shared/time/clock.ts';
import type { GroupAnswer } from './sqlite/group-commit.ts';
import { GroupPacker, type PackedGroup, unpackAnswer } from './sqlite/packed-group.ts';
import type { WriterThread } from './sqlite/start-thread.ts';
import type { WriterCore, WriterTarget } from './sqlite/writer-core.ts';
import type { FromWriter, ToWriter } from './sqlite/writer-thread.ts';
import type { LogPin, SnapshotWriter, Unit, UnitAnswer, Writer } from './unit.ts';
import { type Refusals, unstorable, withRefusals } from './unstorable.ts';

/** Commits one group, in the writer thread or inline. */
export interface GroupRunner {
  open(): Promise<void>;
  run(units: readonly Unit[]): Promise<GroupAnswer>;
  /** From the next group on no checkpoint of its own runs while the WAL is shorter than so many bytes. Undefined: checkpoints run again. */
  pin(maxBytes: number | undefined): Promise<void>;
  close(): Promise<void>;
}

const LARGEST_GROUP = 512;
/** A second group waits in the thread, so that it need not wait for a turn of this event loop. */
const GROUPS_UNDER_WAY = 2;
/**
 * So many units of one turn are sent before that turn ends. Otherwise clients that were answered together come together again, and the two threads
 * wait for each other. Measured from 64 connections: a quarter more deliveries a second.
 */
const EARLY_GROUP = 21;
const EARLY_GROUPS_UNDER_WAY = 3;

/** Answers given in one turn of the event loop: what waits for them runs in that turn. Of a thousand jobs that are due at once, groups are large. */
const MOST_ANSWERED = 64;

/** A platform waits longer for the answer to a webhook. */
const LONGEST_HOLD_MS = 5_000;

interface Waiting {
  readonly unit: Unit;
  resolve(answer: UnitAnswer): void;
  reject(error: unknown): void;
}

interface Answered {
  readonly waiting: Waiting;
  readonly answer: UnitAnswer;
}

/** Reports of the writer, for readiness, metrics and logs. */
export interface WriterObserver {
  committed?(units: number, ms: number): void;
  failed?(error: SvcError): void;
  /** The WAL had been removed, replaced or altered; no acknowledged unit is lost. */
  logMended?(): void;
}

export class GroupingWriter implements Writer, SnapshotWriter {
  readonly #runner: GroupRunner;
  readonly #observer: WriterObserver;
  readonly #clock: Clock;
  readonly #listeners = new Set<(head: number) => void>();
  #waiting: Waiting[] = [];
  /** Committed or refused, and not answered yet. */
  #answered: Answered[] = [];
  #isAnswering = false;
  #underWay = 0;
  #scheduled = false;
  #head = 0;
  #isHeld = false;
  /** Ends after the holds asked for so far. */
  #holds: Promise<unknown> = Promise.resolve();
  #idle: (() => void) | undefined;
  #pin: AbortController | undefined;

  constructor(runner: GroupRunner, observer: WriterObserver = {}, clock: Clock = systemClock) {
    this.#runner = runner;
    this.#observer = observer;
    this.#clock = clock;
  }

  commit(unit: Unit): Promise<UnitAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ unit, resolve, reject });
      if (this.#waiting.length >= EARLY_GROUP && this.#underWay < EARLY_GROUPS_UNDER_WAY) void this.#runGroup();
      else this.#schedule();
    });
  }

  onHead(listener: (head: number) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  hold<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const hold = this.#holds.then(() => this.#hold(work));
    this.#holds = hold.catch(() => {});
    return hold;
  }

  async #hold<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const ended = new AbortController();
    const { signal } = ended;
    const timer = this.#clock.after(LONGEST_HOLD_MS, () => ended.abort(heldTooLong()), { background: false });
    const given = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as SvcError)),
    );
    this.#isHeld = true;
    try {
      return await Promise.race([this.#whenIdle().then(() => (signal.aborted ? given : work(signal))), given]);
    } finally {
      timer.cancel();
      this.#isHeld = false;
      this.#schedule();
    }
  }

  /** No group is under way, and each unit of the former ones is answered. */
  get #isIdle(): boolean {
    return this.#underWay === 0 && this.#answered.length === 0;
  }

  #whenIdle(): Promise<void> {
    return this.#isIdle ? Promise.resolve() : new Promise((resolve) => (this.#idle = resolve));
  }

  async pinLog({ maxBytes }: { readonly maxBytes: number }): Promise<LogPin> {
    if (this.#pin !== undefined)
      throw new SvcError('conflict', 'the database is being copied: one copy is made at a time', {
        hint: 'try again once that copy is made',
      });
    const pin = new AbortController();
    this.#pin = pin;
    try {
      await this.#runner.pin(maxBytes);
    } catch (error) {
      this.#pin = undefined;
      throw error;
    }
    return { lost: pin.signal, release: () => this.#unpin(pin) };
  }

  async #unpin(pin: AbortController, reason?: SvcError): Promise<void> {
    if (this.#pin !== pin) return;
    this.#pin = undefined;
    if (reason !== undefined) pin.abort(reason);
    await this.#runner.pin(undefined).catch(() => {}); // the writer has ended, and its pin with it
  }

  /** Resolves once every unit handed in is answered. */
  async flush(): Promise<void> {
    while (this.#underWay > 0 || this.#waiting.length > 0 || this.#answered.length > 0)
      await this.commit({ name: 'flush', statements: [] }).catch(() => {});
  }

  /** Runs a group at the end of this turn of the event loop: units that arrive together share it. */
  #schedule(): void {
    if (this.#isHeld || this.#scheduled || this.#underWay >= GROUPS_UNDER_WAY || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#runGroup(); // settles every waiting unit itself
    });
  }

  async #runGroup(): Promise<void> {
    if (this.#isHeld) return;
    const group = this.#waiting.splice(0, LARGEST_GROUP);
    if (group.length === 0) return;
    this.#underWay += 1;
    const startedAt = performance.now();
    try {
      const {
        answers,
        head,
        isLogMended = false,
        isPinBroken = false,
      } = await this.#runner.run(group.map(({ unit }) => unit));
      if (isLogMended) this.#observer.logMended?.();
      if (isPinBroken && this.#pin !== undefined) void this.#unpin(this.#pin, logTooLong());
      this.#observer.committed?.(group.length, performance.now() - startedAt);
      for (const [index, waiting] of group.entries())
        this.#answered.push({ waiting, answer: answers[index] as UnitAnswer });
      this.#answer();
      this.#tellHead(head);
    } catch (error) {
      const failure =
        error instanceof SvcError ? error : new SvcError('storage_unavailable', 'the writer failed', { cause: error });
      this.#observer.failed?.(failure);
      if (this.#pin !== undefined) void this.#unpin(this.#pin, failure); // the repair empties the WAL, which a reader would block
      for (const waiting of group) waiting.reject(failure);
    } finally {
      this.#underWay -= 1;
      if (this.#isIdle) this.#idle?.();
      this.#schedule();
    }
  }

  /** In the order of the commits. The first ones at once, the others in later turns. */
  #answer(): void {
    if (this.#isAnswering) return;
    for (const { waiting, answer } of this.#answered.splice(0, MOST_ANSWERED)) waiting.resolve(answer);
    this.#isAnswering = this.#answered.length > 0;
    if (this.#isIdle) this.#idle?.();
    if (!this.#isAnswering) return;
    setImmediate(() => {
      this.#isAnswering = false;
      this.#answer();
    });
  }

  #tellHead(head: number): void {
    if (head <= this.#head) return;
    this.#head = head;
    for (const listener of this.#listeners) listener(head);
  }
}

const heldTooLong = (): SvcError =>
  new SvcError('timeout', `the moment of the copy was not read within ${LONGEST_HOLD_MS / 1_000} s: writing went on`, {
    hint: 'look for what keeps this machine or its disk busy, and try again',
  });

const logTooLong = (): SvcError =>
  new SvcError('overloaded', 'the copy of the database took too long: its log grew beyond recovery.maxLogBytes', {
    hint: 'copy at a quieter hour or to a faster disk, or raise recovery.maxLogBytes',
  });

/** A runner in this thread, for tests and one-shot commands. */
export function inlineRunner(core: WriterCore): GroupRunner {
  return {
    async open() {
      core.open();
    },
    async run(units) {
      return core.run(units);
    },
    async pin(maxBytes) {
      core.pin(maxBytes);
    },
    async close() {
      core.close();
    },
  };
}

/** A runner in a thread that `startWriterThread` started. */
export class ThreadRunner implements GroupRunner {
  readonly #thread: WriterThread;
  readonly #target: WriterTarget;
  readonly #packer = new GroupPacker();
  readonly #calls = new Map<number, { resolve(answer: GroupAnswer | undefined): void; reject(error: unknown): void }>();
  #next = 0;
  #dead: SvcError | undefined;

  constructor(thread: WriterThread, target: WriterTarget, onDeath: (error: SvcError) => void) {
    this.#thread = thread;
    this.#target = target;
    // Answers are pending from now on: the process must not end before they arrive.
    thread.ref();
    this.#thread.on('message', (message: FromWriter) => this.#settle(message));
    const die = (cause: unknown): void => {
      if (this.#dead !== undefined) return;
      this.#dead = new SvcError('storage_unavailable', `the writer thread ended: ${messageOf(cause)}`, {
        cause,
        hint: 'the worker restarts by itself',
      });
      for (const call of this.#calls.values()) call.reject(this.#dead);
      this.#calls.clear();
      onDeath(this.#dead);
    };
    this.#thread.on('error', die);
    this.#thread.on('exit', (code) => die(new Error(`exit ${code}`)));
  }

  async open(): Promise<void> {
    await this.#call((id) => this.#post({ kind: 'open', id, ...this.#target }));
  }

  /** Resolves once the thread answers, or has ended. */
  async up(): Promise<void> {
    await this.#call((id) => this.#post({ kind: 'hello', id })).catch(() => {});
  }

  async run(units: readonly Unit[]): Promise<GroupAnswer> {
    let refused: Refusals = new Map();
    const answer = await this.#call((id) => {
      refused = this.#send(id, units);
    });
    if (answer === undefined) throw new SvcError('storage_unavailable', 'the writer gave no answer');
    return refused.size === 0 ? answer : { ...answer, answers: withRefusals(units, answer.answers, refused) };
  }

  /** Refuses units that cannot be sent. The other units of the group are sent. */
  #send(id: number, units: readonly Unit[]): Refusals {
    const send = (group: PackedGroup): void => this.#post({ kind: 'group', id, group });
    try {
      this.#packer.pack(units, send);
      return new Map();
    } catch (error) {
      const refused = unstorable(units);
      if (refused.size === 0) throw error;
      const rest = units.filter((unit) => !refused.has(unit));
      this.#packer.pack(rest, send);
      return refused;
    }
  }

  async pin(maxBytes: number | undefined): Promise<void> {
    await this.#call((id) => this.#post({ kind: 'pin', id, maxBytes }));
  }

  async close(): Promise<void> {
    if (this.#dead !== undefined) return;
    await this.#call((id) => this.#post({ kind: 'close', id }));
    this.#dead = new SvcError('storage_unavailable', 'the writer is closed');
    await this.#thread.terminate();
  }

  /** If `send` throws, the promise rejects with that error. */
  #call(send: (id: number) => void): Promise<GroupAnswer | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#dead !== undefined) return reject(this.#dead);
      this.#next += 1;
      send(this.#next);
      this.#calls.set(this.#next, { resolve, reject });
    });
  }

  #post(message: ToWriter): void {
    this.#thread.postMessage(message);
  }

  #settle(message: FromWriter): void {
    if (message.kind === 'abort') process.abort();
    const call = this.#calls.get(message.id);
    this.#calls.delete(message.id);
    if (message.kind === 'done') call?.resolve(message.answer && unpackAnswer(message.answer));
    else
      call?.reject(
        new SvcError(
          message.code as ErrorCode,
          message.message,
          message.hint === undefined ? {} : { hint: message.hint },
        ),
      );
  }
}
