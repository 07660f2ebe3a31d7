// A connection on which nothing is heard of the server, not even the answer to a ping, is lost.
//
//   N1  While we do not read (arrival-queue.ts) nothing can be heard, and that is no silence. The server has a limit of its own for clients that
//       say nothing and answer no ping: it is told now and then that we are there.

export interface SilenceOptions {
  readonly pingMs: number;
  readonly silentMs: number;
  after(delayMs: number, run: () => void): void;
  ping(): void;
  lost(error: Error): void;
}

export class Silence {
  readonly #options: SilenceOptions;
  #heardAt = performance.now();
  #isReading = true;

  constructor(options: SilenceOptions) {
    this.#options = options;
  }

  watch(): void {
    const { pingMs, silentMs, after, ping, lost } = this.#options;
    const leftMs = this.#isReading ? this.#heardAt + silentMs - performance.now() : pingMs;
    if (leftMs <= 0) return lost(new Error(`nothing was heard of the server for ${silentMs} ms`));
    after(Math.min(leftMs, pingMs), () => {
      if (!this.#isReading) ping();
      this.watch();
    });
  }

  heard(): void {
    this.#heardAt = performance.now();
  }

  /** N1. */
  reading(isReading: boolean): void {
    this.#isReading = isReading;
    this.heard();
  }
}
