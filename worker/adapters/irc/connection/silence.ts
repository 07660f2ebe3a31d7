// A connection is lost if the server sends nothing for a while, not even the answer to a ping.
//
//   IRC-SILENCE-1  While reading is paused by backpressure, nothing can arrive, and that is not silence. The server has its own limit for silent
//                  clients, so pings are still sent.

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

  /** Reading was paused or resumed. A pause does not count as silence. */
  reading(isReading: boolean): void {
    this.#isReading = isReading;
    this.heard();
  }
}
