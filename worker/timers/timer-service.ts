// One timer over the due table. It wakes at the earliest row, at most 60 s later (clock steps, suspended machines), and hands each
// due row to the one who knows its kind.
//
//   T1  A row is taken away in the unit of what it causes: it fires once, also over a crash.
//   T2  The wall clock is read at each wake; a step back never fires a row twice, since it is gone.
//       What waits for its next attempt waits no longer for it, also where the clock was set back while the host was down; what is meant
//       for a time of day comes at that time.
//   T3  A row that cannot be fired now (no storage, inbox full) stays and is tried again.
//   T4  Tasks of a plugin whose slot is disabled stay until it is enabled: in the inbox they would take the room of others.

import { messageOf } from '../../shared/svc-error.ts';
import type { Timer } from '../../shared/time/clock.ts';
import { ClockSteps } from '../../shared/time/clock-steps.ts';
import type { Core } from '../core/core.ts';
import type { DueKind } from '../database/tables.ts';
import { type DueRow, readDue, readLastSeen, readNextDue, type SetBack } from './due-store.ts';

/** `false`: not now, the row stays. */
export type FireDue = (row: DueRow) => Promise<boolean | void>;

const LONGEST_SLEEP_MS = 60_000;
/** As in clock-steps.ts. */
const LEAST_STEP_MS = 1_000;
const RETRY_MS = 1_000;
const PAGE = 200;
/** What becomes an item of the inbox. */
const ITEMS: readonly DueKind[] = ['task', 'cron'];

export class TimerService {
  readonly #core: Core;
  /** Owners of what is not to fire. */
  readonly #disabled: () => readonly string[];
  /** How many items the inbox takes: tasks and jobs wait here, not there, while it is full. */
  readonly #room: () => number;
  readonly #kinds = new Map<DueKind, { readonly fire: FireDue; readonly isReady: () => boolean }>();
  readonly #steps: ClockSteps;
  /** By how much waits are still to be brought forward. */
  #setBackMs = 0;
  /** The time before this process has been looked at, too. */
  #knowsBefore = false;
  readonly #onSetBack: ((by: SetBack) => Promise<void>)[] = [];
  #timer: Timer | undefined;
  /** Monotonic: a wall clock that steps does not hide a row that is due before. */
  #wakeAt = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;
  #stopped = true;
  #again = false;

  constructor(core: Core, disabled: () => readonly string[] = () => [], room: () => number = () => PAGE) {
    this.#core = core;
    this.#disabled = disabled;
    this.#room = room;
    this.#steps = new ClockSteps(core.clock);
  }

  /** While it is not ready, what is due of a kind waits in the table. */
  on(kind: DueKind, fire: FireDue, isReady: () => boolean = () => true): void {
    this.#kinds.set(kind, { fire, isReady });
  }

  /** What was stored before is put right: waits are shortened, next times found anew. Called again where it fails. */
  onSetBack(putRight: (by: SetBack) => Promise<void>): void {
    this.#onSetBack.push(putRight);
  }

  start(): void {
    this.#stopped = false;
    this.wake();
  }

  /** A row was stored that is due at `at`; cheap when the timer is earlier anyway. */
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
      for (;;) {
        const room = this.#room();
        const limit = room > 0 ? Math.min(room, PAGE) : PAGE;
        const due = { until: core.clock.now(), limit, except: this.#disabled(), without: this.#waiting(room) };
        const rows = await readDue(core.reader, due);
        // Handed in together, in order: one sync for many.
        const fired = await Promise.all(rows.map((row) => this.#fireRow(row)));
        if (rows.length < limit || this.#stopped || fired.includes(false)) break;
      }
      const next = await readNextDue(core.reader, this.#disabled());
      const now = core.clock.now();
      // What is still due could not be fired: tried again, not at once.
      this.#sleepUntil(
        next === undefined ? now + LONGEST_SLEEP_MS : Math.max(next.at, next.at <= now ? now + RETRY_MS : 0),
      );
    } catch (error) {
      core.log.warn({ error: messageOf(error) }, 'due table could not be read');
      this.#sleepUntil(core.clock.now() + RETRY_MS);
    }
  }

  /** Kinds of which nothing is fired now. */
  #waiting(room: number): readonly DueKind[] {
    const unready = [...this.#kinds].filter(([, { isReady }]) => !isReady()).map(([kind]) => kind);
    return room > 0 ? unready : [...unready, ...ITEMS];
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

  /** While the host was down: what stands in the history cannot have happened later than now. */
  async #setBackBefore(): Promise<number> {
    const { reader, runtimeId, clock } = this.#core;
    const byMs = ((await readLastSeen(reader, runtimeId))?.at ?? 0) - clock.now();
    return byMs < LEAST_STEP_MS ? 0 : byMs;
  }

  async #fireRow(row: DueRow): Promise<boolean> {
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
