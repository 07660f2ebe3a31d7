// From a known state to ready: what an operator types, and how long that takes. Told and never judged. `test/run.ts` repeats the lines at its end.
/* oxlint-disable eslint/no-restricted-properties -- seconds are printed, and nothing depends on them */

/** What a test has to say it with. */
interface Told {
  diagnostic(message: string): void;
}

export class ToReady {
  readonly #target: string;
  readonly #from: string;
  #commands = 0;
  #ms = 0;

  /** `from`: what is there before the first command, and was made by the test. */
  constructor(target: string, from: string) {
    this.#target = target;
    this.#from = from;
  }

  /** Counts the lines of a shell that an operator types, and the time until they have their effect. Steps beside these are not counted. */
  async typed<T>(lines: readonly string[], work: () => Promise<T>): Promise<T> {
    this.#commands += lines.length;
    return this.waited(work);
  }

  /** Counts time in which an operator only waits. */
  async waited<T>(work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const value = await work();
    this.#ms += performance.now() - startedAt;
    return value;
  }

  tell(t: Told): void {
    const seconds = Math.round(this.#ms / 1_000);
    t.diagnostic(`deploy: ${this.#target}: ${this.#commands} commands, ${seconds} s from ${this.#from} to ready`);
  }
}
