// Waits for an adapter, and gives up once nothing has happened for too long.
//
//   SILENCE-1  Every event begins the wait anew: a request to the platform, a call that begins or ends, a commit, a log line, a connection that comes
//              up or ends.
//   SILENCE-2  A moment counts for at most MOST_MOMENT_MS, so a machine that stands still does not look like a silent adapter.
//   SILENCE-3  After the silence every wait of this promise fails, and the suite tries no further promise. The same holds for an adapter that is
//              never silent and never done: a promise takes at most MOST_SILENCES times as long.

const DEFAULT_MS = 10_000;
const EVERY_MS = 25;
const MOST_MOMENT_MS = 100;
const MOST_SILENCES = 6;
const ANY_CALL = 'the end of a call of the adapter';

export class Silence {
  readonly #limitMs: number;
  /** A number that grows with each event that nobody reports by `note`. */
  readonly #seen: () => number;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #over: Promise<never>;
  #before = 0;
  #quietMs = 0;
  #wholeMs = 0;
  #last = performance.now();
  #what = ANY_CALL;
  #error: Error | undefined;

  constructor(limitMs: number | undefined, seen: () => number) {
    this.#limitMs = limitMs ?? DEFAULT_MS;
    this.#seen = seen;
    const { promise, reject } = settled();
    promise.catch(() => {}); // there may be nobody who waits
    this.#over = promise;
    this.#timer = setInterval(() => this.#look(reject), EVERY_MS);
  }

  get isOver(): boolean {
    return this.#error !== undefined;
  }

  /** Something happened. */
  note(): void {
    this.#quietMs = 0;
  }

  /** The result of the call, or the error of the silence. Both the beginning and the end of the call are events. */
  async during<T>(call: () => Promise<T>): Promise<T> {
    this.note();
    try {
      return await call();
    } finally {
      this.note();
    }
  }

  /** The result of the promise. Rejects once the silence is too long. */
  guard<T>(run: Promise<T>): Promise<T> {
    return Promise.race([run, this.#over]);
  }

  /** Resolves once `isSo` is true. */
  async until(isSo: () => boolean, what: string): Promise<void> {
    this.#what = what;
    while (!isSo()) {
      if (this.#error !== undefined) throw this.#error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    this.#what = ANY_CALL;
    this.note();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(reject: (error: Error) => void): void {
    const now = performance.now();
    const seen = this.#seen();
    const moment = Math.min(now - this.#last, MOST_MOMENT_MS);
    this.#quietMs = seen === this.#before ? this.#quietMs + moment : 0;
    this.#wholeMs += moment;
    this.#before = seen;
    this.#last = now;
    const isSilent = this.#quietMs >= this.#limitMs;
    const mostMs = this.#limitMs * MOST_SILENCES;
    if (this.isOver || (!isSilent && this.#wholeMs < mostMs)) return;
    const seconds = (isSilent ? this.#limitMs : mostMs) / 1_000;
    const message = `${isSilent ? 'nothing happened for' : 'the promise was not kept in'} ${seconds} s, and the suite waited for ${this.#what}`;
    this.#error = Object.assign(new Error(message), { code: SILENT });
    reject(this.#error);
  }
}

const SILENT = 'ERR_ADAPTER_SILENT';

/** True for the error of a silence. */
export const isSilence = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | undefined)?.code === SILENT;

function settled(): { readonly promise: Promise<never>; readonly reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<never>((_, no) => {
    reject = no;
  });
  return { promise, reject };
}
