// The life of one process of a test bot. After a kill, nothing of that process goes on: its waits never end, and its writes, reads and sends do not
// happen. So a kill in memory leaves the same state as SIGKILL leaves on a disk: whole commits.
import type { Clock, Timer } from '../../shared/time/clock.ts';

/** Rejects the wait of a caller whose process was killed meanwhile. */
export class Killed extends Error {}

const NEVER = new Promise<never>(() => {});

export class Life {
  /** Rejects with `Killed` at the kill; never resolves. */
  readonly death: Promise<never>;
  readonly #die: (error: Killed) => void;
  #isOver = false;

  constructor() {
    let die: (error: Killed) => void = () => {};
    this.death = new Promise<never>((_, reject) => {
      die = reject;
    });
    this.#die = die;
    // Without this, a kill that no caller awaits would be an unhandled rejection.
    this.death.catch(() => {});
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  kill(point: string): void {
    this.#isOver = true;
    this.#die(new Killed(point));
  }

  /** Runs `work`. The promise never settles once the life is over. */
  async guard<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#isOver) return NEVER;
    const result = await work();
    return this.#isOver ? NEVER : result;
  }

  /** A clock whose timers do not fire after the end of this life. */
  clock(clock: Clock): Clock {
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (delayMs: number, run: () => void): Timer =>
        clock.after(delayMs, () => {
          if (!this.#isOver) run();
        }),
    };
  }
}
