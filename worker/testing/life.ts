// The life of one process of the bot. When it is killed, nothing of it goes on: what it waits for never comes, what it would still
// write, read or send does not happen. So a kill in memory leaves behind what SIGKILL leaves on a disk: whole commits.
import type { Clock, Timer } from '../../shared/time/clock.ts';

/** Rejects the wait of those outside who asked a process that was killed meanwhile. */
export class Killed extends Error {}

const NEVER = new Promise<never>(() => {});

export class Life {
  /** Rejects with `Killed` at the end; never resolves. */
  readonly death: Promise<never>;
  readonly #die: (error: Killed) => void;
  #isOver = false;

  constructor() {
    let die: (error: Killed) => void = () => {};
    this.death = new Promise<never>((_, reject) => {
      die = reject;
    });
    this.#die = die;
    // Nobody has to be waiting.
    this.death.catch(() => {});
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  kill(point: string): void {
    this.#isOver = true;
    this.#die(new Killed(point));
  }

  /** Does the work and gives its result, but to no one once the life is over. */
  async guard<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#isOver) return NEVER;
    const result = await work();
    return this.#isOver ? NEVER : result;
  }

  /** Timers of this life end with it. */
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
