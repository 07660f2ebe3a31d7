// After the second death of the process with an item (or a send) in its hands, that item may be what kills it, and so may each of those
// that were under way beside it. They run one at a time, so that only the guilty one's attempts go up until it is a dead letter.
//
//   U1  While there are suspects, nothing starts beside what runs, unless that has been running for GRACE_MS: slow is not deadly.
//   U2  A suspect that has ended, or has lived through its grace, is none any more. After LIMIT_MS nobody is: a pause may hold some back.
import type { Core } from '../core.ts';
import type { PlaceLimits } from './places.ts';

export interface SuspectsOptions {
  /** What was in hand at two deaths or more: a single one is most often nobody's fault, then all start again at once. */
  readonly read: () => Promise<readonly { readonly id: string }[]>;
  /** For the log. */
  readonly what: string;
  /** More may start now. */
  readonly changed: () => void;
}

const GRACE_MS = 500;
const LIMIT_MS = 60_000;

export class Suspects {
  readonly #core: Core;
  readonly #options: SuspectsOptions;
  #ids = new Set<string>();
  #loading: Promise<void> | undefined;
  #slow = 0;

  constructor(core: Core, options: SuspectsOptions) {
    this.#core = core;
    this.#options = options;
  }

  /** Reads, once, what the process before this one left in its hands. */
  load(): Promise<void> {
    this.#loading ??= this.#read().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  get any(): boolean {
    return this.#ids.size > 0;
  }

  limits(usual: PlaceLimits): PlaceLimits {
    if (this.#ids.size === 0) return usual;
    const concurrency = 1 + this.#slow;
    return { concurrency, endpointConcurrency: concurrency };
  }

  async watch<T>(id: string, run: () => Promise<T>): Promise<T> {
    if (this.#ids.size === 0) return run();
    let isSlow = false;
    const grace = this.#core.clock.after(GRACE_MS, () => {
      isSlow = true;
      this.#slow += 1;
      this.#ids.delete(id);
      this.#options.changed();
    });
    try {
      return await run();
    } finally {
      grace.cancel();
      if (isSlow) this.#slow -= 1;
      this.#ids.delete(id);
    }
  }

  async #read(): Promise<void> {
    const rows = await this.#options.read();
    if (rows.length === 0) return;
    this.#ids = new Set(rows.map(({ id }) => id));
    this.#core.log.warn(
      { [this.#options.what]: this.#ids.size },
      `these ${this.#options.what} were under way at two deaths of the process: they run one at a time`,
    );
    this.#core.clock.after(LIMIT_MS, () => {
      this.#ids.clear();
      this.#options.changed();
    });
  }
}
