// A clock for retention. Deletion is final, and a delivery whose id was deleted is handled again. So a temporarily wrong wall clock must
// not count.
//
//   KEPTCLOCK-1  The kept clock advances with the monotonic clock, also over restarts, and is never ahead of the wall clock.
//   KEPTCLOCK-2  A lead of the wall clock (a jump, sleep, downtime) is accepted after the trust time. Only time in which the host runs
//                counts. If the trust time equals the retention time, data stored before the jump is that old by then.
import type { Core } from '../core/core.ts';
import { readMeta, writeMeta } from '../database/project-state.ts';

export interface KeptTime {
  /** Epoch milliseconds. */
  readonly at: number;
  /** For how long the lead of the wall clock has been observed. */
  readonly lookedMs: number;
  /** The smallest lead of the wall clock in that time. */
  readonly aheadMs: number;
}

/** The state after `elapsedMs` on the monotonic clock. Pure. */
export function stepKept(
  kept: KeptTime,
  { elapsedMs, wall, trustMs }: { readonly elapsedMs: number; readonly wall: number; readonly trustMs: number },
): KeptTime {
  const at = Math.min(kept.at + elapsedMs, wall);
  const aheadMs = Math.min(kept.aheadMs, wall - at);
  const lookedMs = kept.lookedMs + elapsedMs;
  if (lookedMs < trustMs) return { at, lookedMs, aheadMs };
  return { at: at + aheadMs, lookedMs: 0, aheadMs: wall - at - aheadMs };
}

export class KeptClock {
  readonly #core: Core;
  readonly #name: string;
  readonly #trustMs: () => number;
  #kept: KeptTime | undefined;
  /** Monotonic. */
  #lookedAt: number;

  /** `name` is the key under which the state is stored. */
  constructor(core: Core, name: string, trustMs: () => number) {
    this.#core = core;
    this.#name = name;
    this.#trustMs = trustMs;
    this.#lookedAt = core.clock.monotonic();
  }

  async now(): Promise<number> {
    const before = this.#kept ?? (await this.#load());
    const { clock } = this.#core;
    const looked = clock.monotonic();
    const elapsedMs = Math.round(looked - this.#lookedAt);
    this.#lookedAt += elapsedMs;
    this.#kept = stepKept(this.#kept ?? before, { elapsedMs, wall: clock.now(), trustMs: this.#trustMs() });
    return this.#kept.at;
  }

  /** Stores the state, so the next process continues from it. */
  async keep(): Promise<number> {
    const at = await this.now();
    await this.#core.writer.commit({
      name: 'kept_clock',
      statements: [writeMeta(this.#name, JSON.stringify(this.#kept))],
    });
    return at;
  }

  async #load(): Promise<KeptTime> {
    const stored = await readMeta(this.#core.reader, this.#name);
    if (stored !== undefined) return JSON.parse(stored) as KeptTime;
    return { at: this.#core.clock.now(), lookedMs: 0, aheadMs: 0 };
  }
}
