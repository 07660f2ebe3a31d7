// One timer over the due table. It wakes at the earliest row, and at most 60 s later (clock steps, suspended machines). Each due row goes to the
// handler of its kind.
//
//   TIMER-1  A row is removed in the unit of its effect. So the row fires once, even over a crash.
//   TIMER-2  The wall clock is read at each wake. A clock that is set back never fires a row twice: the row is gone. Retries are not delayed by that,
//            even if the clock was set back while the host was down. A row for a time of day fires at that time.
//   TIMER-3  A row that cannot fire now (no storage, inbox full) stays and is tried again.
//   TIMER-4  Tasks of a disabled plugin stay in the due table until it is enabled. In the inbox they would take room from other items.
//   TIMER-5  While ingress is paused, tasks, cron, jobs and deadlines of the Workroom stay in the due table, also those that were read before the
//            pause began. `wake` tells of the end of the pause.

import { messageOf } from '../../shared/svc-error.ts';
import type { Timer } from '../../shared/time/clock.ts';
import { ClockSteps } from '../../shared/time/clock-steps.ts';
import type { Core } from '../core/core.ts';
import { turns } from '../core/turns.ts';
import type { DueKind } from '../database/tables.ts';
import { type DueRow, readDue, readLastSeen, readNextDue, type SetBack } from './due-store.ts';

/** `false`: not now, the row stays. */
export type FireDue = (row: DueRow) => Promise<boolean | void>;

const LONGEST_SLEEP_MS = 60_000;
/** Smaller differences of the clock count as no step. */
const LEAST_STEP_MS = 1_000;
const RETRY_MS = 1_000;
const PAGE = 200;
/** Rows of one round, which are under way together. */
const MOST_FIRING = 1_000;
/** Kinds that become items of the inbox. */
const ITEMS: readonly DueKind[] = ['task', 'cron', 'job'];
/** Kinds that begin an effect: items, and events of the Workroom that plugins hear. */
const EFFECTS: readonly DueKind[] = [...ITEMS, 'workroom'];

export interface TimerLimits {
  /** Plugins whose rows must not fire. */
  readonly disabled: () => readonly string[];
  /** How many items the inbox takes. While it is full, tasks and cron jobs wait in the due table. */
  readonly room: () => number;
  /** True while nothing may begin (TIMER-5). */
  readonly holds: () => boolean;
}

export class TimerService {
  readonly #core: Core;
  readonly #limits: TimerLimits;
  readonly #kinds = new Map<DueKind, { readonly fire: FireDue; readonly isReady: () => boolean }>();
  readonly #steps: ClockSteps;
  /** Time in ms by which waiting rows must still be brought forward. */
  #setBackMs = 0;
  /** Whether the time before this process was checked for a clock step. */
  #knowsBefore = false;
  readonly #onSetBack: ((by: SetBack) => Promise<void>)[] = [];
  #timer: Timer | undefined;
  /** On the monotonic clock: a step of the wall clock must not hide a row that is due earlier. */
  #wakeAt = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;
  #stopped = true;
  #again = false;

  constructor(core: Core, limits: TimerLimits) {
    this.#core = core;
    this.#limits = limits;
    this.#steps = new ClockSteps(core.clock);
  }

  /** While `isReady` returns false, due rows of this kind stay in the table. */
  on(kind: DueKind, fire: FireDue, isReady: () => boolean = () => true): void {
    this.#kinds.set(kind, { fire, isReady });
  }

  /**
   * Registers a correction of stored rows after the clock was set back: waits become shorter, next times are computed anew. Called again if it fails.
   */
  onSetBack(putRight: (by: SetBack) => Promise<void>): void {
    this.#onSetBack.push(putRight);
  }

  start(): void {
    this.#stopped = false;
    this.wake();
  }

  /** Announces a stored row that is due at `at`. Cheap if the timer wakes earlier anyway. */
  expect(at: number): void {
    const { clock } = this.#core;
    if (clock.monotonic() + (at - clock.now()) < this.#wakeAt) this.#sleepUntil(at);
  }

  /** Looks at the table now. */
  wake(): void {
    if (this.#stopped) return;
    if (this.#running !== undefined) {
      this.#again = true;
      return;
    }
    this.#running = this.#pass().finally(() => {
      this.#running = undefined;
      if (this.#again && !this.#stopped) {
        this.#again = false;
        this.wake();
      }
    });
  }

  get idle(): boolean {
    return this.#running === undefined;
  }

  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  async #pass(): Promise<void> {
    this.#timer?.cancel();
    this.#wakeAt = Number.POSITIVE_INFINITY;
    const core = this.#core;
    try {
      await this.#lookAtClock();
      while ((await this.#fireRound()) && !this.#stopped);
      const next = await readNextDue(core.reader, { except: this.#limits.disabled(), without: this.#held });
      const now = core.clock.now();
      // A row that is still due could not be fired: it is tried again later, not at once.
      this.#sleepUntil(
        next === undefined ? now + LONGEST_SLEEP_MS : Math.max(next.at, next.at <= now ? now + RETRY_MS : 0),
      );
    } catch (error) {
      core.log.warn({ error: messageOf(error) }, 'due table could not be read');
      this.#sleepUntil(core.clock.now() + RETRY_MS);
    }
  }

  /**
   * Fires what is due, in pages. A page does not wait for the commits of the one before: of many rows that are due at once the last would start late.
   * Returns whether there may be more.
   */
  async #fireRound(): Promise<boolean> {
    const firing = new Map<string, Promise<boolean>>();
    let fired: readonly boolean[] = [];
    let isFull: boolean;
    try {
      isFull = await this.#fireAll(firing);
    } finally {
      // Fired together and in order: many rows share one sync. A page that cannot be read leaves none running.
      fired = await Promise.all(firing.values());
    }
    return isFull && !fired.includes(false);
  }

  /** Begins to fire, page by page. Returns whether there may be more. */
  async #fireAll(firing: Map<string, Promise<boolean>>): Promise<boolean> {
    let room = this.#limits.room();
    let after: DueRow | undefined;
    let isFull = true;
    while (isFull && !this.#stopped && firing.size < MOST_FIRING) {
      const limit = room > 0 ? Math.min(room, PAGE) : PAGE;
      const due = {
        until: this.#core.clock.now(),
        limit,
        except: this.#limits.disabled(),
        without: this.#waiting(room),
        after,
      };
      const rows = await readDue(this.#core.reader, due);
      isFull = rows.length === limit;
      after = rows.at(-1);
      // A row that its handler has put again meanwhile has its turn in the next round.
      for (const row of rows) if (!firing.has(row.id)) firing.set(row.id, this.#fireRow(row));
      if (room > 0 && room <= rows.length) break; // the next round knows how much room is left
      room -= rows.length;
      await turns(1);
    }
    return isFull;
  }

  /** Kinds that do not fire now. */
  #waiting(room: number): readonly DueKind[] {
    const unready = [...this.#kinds].filter(([, { isReady }]) => !isReady()).map(([kind]) => kind);
    return [...unready, ...this.#held, ...(room > 0 ? [] : ITEMS)];
  }

  get #held(): readonly DueKind[] {
    return this.#limits.holds() ? EFFECTS : [];
  }

  async #lookAtClock(): Promise<void> {
    const { clock, log } = this.#core;
    const beforeMs = this.#knowsBefore ? 0 : await this.#setBackBefore();
    this.#knowsBefore = true;
    const byMs = beforeMs + this.#steps.setBack();
    if (byMs > 0) log.warn({ byMs }, 'the wall clock was set back: what waits for its next attempt is not held up');
    this.#setBackMs += byMs;
    if (this.#setBackMs === 0) return;
    const by: SetBack = { byMs: this.#setBackMs, after: clock.now() + this.#setBackMs / 2 };
    for (const putRight of this.#onSetBack) await putRight(by);
    this.#setBackMs = 0;
  }

  /** The clock was set back while the host was down: a stored event cannot be later than now. */
  async #setBackBefore(): Promise<number> {
    const { reader, runtimeId, clock } = this.#core;
    const byMs = ((await readLastSeen(reader, runtimeId))?.at ?? 0) - clock.now();
    return byMs < LEAST_STEP_MS ? 0 : byMs;
  }

  async #fireRow(row: DueRow): Promise<boolean> {
    if (this.#held.includes(row.kind)) return false;
    try {
      return (await this.#kinds.get(row.kind)?.fire(row)) !== false;
    } catch (error) {
      this.#core.log.warn({ due: row.id, err: error }, 'due row could not be fired');
      return false;
    }
  }

  #sleepUntil(at: number): void {
    if (this.#stopped) return;
    this.#timer?.cancel();
    const { clock } = this.#core;
    const waitMs = Math.min(Math.max(0, at - clock.now()), LONGEST_SLEEP_MS);
    this.#wakeAt = clock.monotonic() + waitMs;
    this.#timer = clock.after(waitMs, () => this.wake());
  }
}
