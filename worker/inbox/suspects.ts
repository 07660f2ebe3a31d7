// After the second death of the process in a row with an item in its hands, that item may be what kills it, and so may each of those that
// were being handled beside it. They run one at a time, so that only the guilty one's attempts go up until it is a dead letter.
//
//   U1  While there are suspects, nothing starts beside what runs, unless that has been running for GRACE_MS: slow is not deadly.
//   U2  A suspect that has ended, or has lived through its grace, is none any more. After LIMIT_MS nobody is: a pause may hold some back.
import type { Core } from '../core.ts';
import { sql } from '../database/statement.ts';
import type { LaneLimits } from '../lanes/lanes.ts';

/** A single death is most often nobody's fault: then all start again at once. */
const DEATHS = 2;
const GRACE_MS = 500;
const LIMIT_MS = 60_000;

export class Suspects {
  readonly #core: Core;
  readonly #changed: () => void;
  #ids = new Set<string>();
  #loading: Promise<void> | undefined;
  #slow = 0;

  /** `changed`: more may start now. */
  constructor(core: Core, changed: () => void) {
    this.#core = core;
    this.#changed = changed;
  }

  /** Reads, once, what the process before this one left in its hands. */
  load(): Promise<void> {
    this.#loading ??= this.#read().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  limits(usual: LaneLimits): LaneLimits {
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
      this.#changed();
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
    const rows = await this.#core.reader.all(
      sql.selectFrom('inbox').select('id').where('state', '=', 'handling').where('attempts', '>=', DEATHS),
    );
    if (rows.length === 0) return;
    this.#ids = new Set(rows.map(({ id }) => id));
    this.#core.log.warn(
      { items: this.#ids.size },
      'these items were being handled at two deaths of the process: they run one at a time',
    );
    this.#core.clock.after(LIMIT_MS, () => {
      this.#ids.clear();
      this.#changed();
    });
  }
}
