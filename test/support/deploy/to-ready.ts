// From nothing to ready: what an operator types, and how long it takes. Told and never judged. `test/run.ts` repeats the lines at its end.
/* oxlint-disable eslint/no-restricted-properties -- seconds are printed, and nothing depends on them */

/** What a test has to say it with. */
interface Told {
  diagnostic(message: string): void;
}

export class ToReady {
  readonly #target: string;
  readonly #startedAt = performance.now();
  #commands = 0;
  #seconds: number | undefined;

  constructor(target: string) {
    this.#target = target;
  }

  /** Lines of a shell that an operator has typed. */
  typed(...lines: readonly string[]): void {
    this.#commands += lines.length;
  }

  /** The first moment at which it was ready. */
  isReady(): void {
    this.#seconds ??= (performance.now() - this.#startedAt) / 1_000;
  }

  tell(t: Told): void {
    this.isReady();
    t.diagnostic(`deploy: ${this.#target}: ${this.#commands} commands, ${Math.round(this.#seconds ?? 0)} s to ready`);
  }
}
