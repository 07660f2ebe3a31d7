// The clock by which things are kept. What is erased is gone, and a delivery whose id is gone is handled again: so a wall clock that is
// wrong for a while must not count.
//
//   K1  It runs with the monotonic clock, over restarts, and is never ahead of the wall clock.
//   K2  What the wall clock is ahead of it (a jump, the time that the host was down) is taken over once it has stood for as long as ids are
//       kept, counted while the host runs: what was stored before the jump is that old by then, whatever the wall clock says.
import type { Core } from '../core.ts';
import { readMeta, writeMeta } from './project-state.ts';

export interface KeptTime {
  /** Epoch milliseconds. */
  readonly at: number;
  /** For so long it has been looked at how far the wall clock is ahead. */
  readonly lookedMs: number;
  /** The least that it was ahead by then. */
  readonly aheadMs: number;
}

const KEY = 'kept_clock';

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
  readonly #trustMs: () => number;
  #kept: KeptTime | undefined;
  /** Monotonic. */
  #lookedAt: number;

  constructor(core: Core, trustMs: () => number) {
    this.#core = core;
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
    await this.#core.writer.commit({ name: 'kept_clock', statements: [writeMeta(KEY, JSON.stringify(this.#kept))] });
    return at;
  }

  async #load(): Promise<KeptTime> {
    const stored = await readMeta(this.#core.reader, KEY);
    if (stored !== undefined) return JSON.parse(stored) as KeptTime;
    return { at: this.#core.clock.now(), lookedMs: 0, aheadMs: 0 };
  }
}
