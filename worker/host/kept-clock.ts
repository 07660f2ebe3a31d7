// A clock by which things are kept. What is erased is gone, and a delivery whose id is gone is handled again: so a wall clock that is
// wrong for a while must not count.
//
//   K1  It runs with the monotonic clock, over restarts, and is never ahead of the wall clock.
//   K2  What the wall clock is ahead of it (a jump, sleep, the time that the host was down) is taken over once it has stood for the time of
//       trust, counted while the host runs. Where that is as long as things are kept, whatever was stored before the jump is that old by then.
import type { Core } from '../core/core.ts';
import { readMeta, writeMeta } from '../database/project-state.ts';

export interface KeptTime {
  /** Epoch milliseconds. */
  readonly at: number;
  /** For so long it has been looked at how far the wall clock is ahead. */
  readonly lookedMs: number;
  /** The least that it was ahead by then. */
  readonly aheadMs: number;
}

/** So much later by the monotonic clock. Pure. */
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

  /** Stored as `name`. */
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

  /** So that the next process goes on from here. */
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
