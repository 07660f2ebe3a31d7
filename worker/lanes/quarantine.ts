// Quarantine of poison items. An item (or send) that was in hand when the process died may have caused the death.
// From the first death on, such suspects start one at a time, so that only the guilty item collects deaths.
// At its second death an item is set aside for a time and afterwards runs alone.
//
//   QUARANTINE-1  While suspects remain, nothing starts beside a running item until that item has run for its grace period. A slow item does not
//                 block.
//   QUARANTINE-2  An item is no longer suspect once it has ended or has outlived its grace period. After LIMIT_MS nothing is suspect, because a pause
//                 may hold some back.
//   QUARANTINE-3  A death is counted once for each item in hand, when the item begins again or is set aside. An item that has not begun since was not
//                 in hand at the next death.
//   QUARANTINE-4  An item with two deaths causes no third for `quarantineMs`. The restart budget of the supervisor is therefore not used up.
//   QUARANTINE-5  Many such items together do not use up the restart budget either. After WARY_AT deaths within `quarantineMs`, an item is set aside
//                 at its first death. After REST_AT deaths nothing starts until the oldest death is out of that window. Deliveries are stored
//                 meanwhile.
import type { Core } from '../core/core.ts';
import type { ShareLimits } from './fair-shares.ts';

/** An item that was in hand when an earlier process died. */
export interface LeftInHand {
  readonly id: string;
  /** Number of deaths with the item in hand, the last one included. */
  readonly deaths: number;
  /** True if the item is set aside or waits for a retry. It was not in hand at the last death. */
  readonly isWaiting: boolean;
}

export interface QuarantineOptions {
  /** Times of recent process deaths, oldest first, and the window within which they count. Left out: no deaths count. */
  readonly deaths?: () => Promise<{ readonly at: readonly number[]; readonly withinMs: number }>;
  readonly read: () => Promise<readonly LeftInHand[]>;
  /** Name of the items in log lines. */
  readonly what: string;
  /** Called when more items may start. */
  readonly changed: () => void;
}

/** Number of deaths at which an item is set aside. */
const SET_ASIDE_AT = 2;
/** Both are below the number of starts that the supervisor allows (`supervisor.restarts`). */
const WARY_AT = 3;
const REST_AT = 4;
/** A kill from outside leaves many innocent items in hand. A short grace keeps their delay small. */
const GRACE_MS = 100;
const GRACE_ALONE_MS = 500;
const LIMIT_MS = 60_000;
const LATER = 2.5;

/**
 * How long an item is set aside after this many deaths, in milliseconds; undefined if it is not. `firstMs`: the time after the second death; 0 turns
 * the quarantine off. `isWary`: one death suffices.
 */
export function quarantineMs(deaths: number, firstMs: number, isWary = false): number | undefined {
  if (firstMs === 0 || deaths < (isWary ? 1 : SET_ASIDE_AT)) return undefined;
  return deaths <= SET_ASIDE_AT ? firstMs : firstMs * LATER;
}

export const quarantineReason = (deaths: number): string =>
  `in hand at ${deaths} ${deaths === 1 ? 'death' : 'deaths'} of the process`;

export class Quarantine {
  readonly #core: Core;
  readonly #options: QuarantineOptions;
  /** Grace periods by item, in milliseconds. */
  #suspects = new Map<string, number>();
  readonly #left = new Map<string, number>();
  readonly #alone = new Set<string>();
  #loading: Promise<void> | undefined;
  #slow = 0;
  #rests = false;
  #isWary = false;

  constructor(core: Core, options: QuarantineOptions) {
    this.#core = core;
    this.#options = options;
  }

  /** Reads once the items that earlier processes left in hand. */
  load(): Promise<void> {
    this.#loading ??= this.#read().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  get any(): boolean {
    return this.#suspects.size > 0;
  }

  limits(usual: ShareLimits): ShareLimits {
    if (this.#rests) return { concurrency: 0, endpointConcurrency: 0 };
    if (this.#suspects.size === 0) return usual;
    const concurrency = 1 + this.#slow;
    return { concurrency, endpointConcurrency: concurrency };
  }

  /** Number of deaths with the item in hand, the last one included. Undefined if the item was not in hand at the last death or has begun since. */
  deathsOf(id: string): number | undefined {
    return this.#left.get(id);
  }

  /** True if the process died so often that one death suffices to set an item aside. */
  get isWary(): boolean {
    return this.#isWary;
  }

  /** The last death of this item is counted on disk. */
  counted(id: string): void {
    this.#left.delete(id);
  }

  /** The item waits on disk. Afterwards it runs alone. */
  setAside(id: string): void {
    this.counted(id);
    this.#alone.add(id);
  }

  async watch<T>(id: string, run: () => Promise<T>): Promise<T> {
    if (this.#alone.delete(id)) this.#suspects.set(id, GRACE_ALONE_MS);
    if (this.#suspects.size === 0) return run();
    let isSlow = false;
    const grace = this.#core.clock.after(this.#suspects.get(id) ?? GRACE_ALONE_MS, () => {
      isSlow = true;
      this.#slow += 1;
      this.#suspects.delete(id);
      this.#options.changed();
    });
    try {
      return await run();
    } finally {
      grace.cancel();
      if (isSlow) this.#slow -= 1;
      this.#suspects.delete(id);
    }
  }

  async #read(): Promise<void> {
    const rows = await this.#options.read();
    for (const { id, deaths, isWaiting } of rows) {
      const isKnown = deaths >= SET_ASIDE_AT;
      if (!isWaiting) this.#left.set(id, deaths);
      if (isWaiting && isKnown) this.#alone.add(id);
      else if (!isWaiting) this.#suspects.set(id, isKnown ? GRACE_ALONE_MS : GRACE_MS);
    }
    if (this.#suspects.size === 0) return;
    this.#core.log.warn(
      { [this.#options.what]: this.#suspects.size },
      `these ${this.#options.what} were in hand when the process died: they start one at a time`,
    );
    const restMs = await this.#restMs();
    if (restMs > 0) this.#rest(restMs);
    this.#core.clock.after(restMs + LIMIT_MS, () => {
      this.#suspects.clear();
      this.#options.changed();
    });
  }

  /** How long nothing may start, in milliseconds, after many recent deaths. Also decides whether one death suffices. */
  async #restMs(): Promise<number> {
    const { at = [], withinMs = 0 } = (await this.#options.deaths?.()) ?? {};
    const now = this.#core.clock.now();
    const recent = at.filter((one) => one <= now && now - one < withinMs);
    this.#isWary = recent.length >= WARY_AT;
    return recent.length < REST_AT ? 0 : Math.min(...recent) + withinMs - now;
  }

  #rest(ms: number): void {
    this.#rests = true;
    this.#core.log.warn(
      { ms },
      `the process died ${REST_AT} times or more with ${this.#options.what} in hand: none starts for ${Math.ceil(ms / 1_000)} s, svc inbox list`,
    );
    this.#core.clock.after(ms, () => {
      this.#rests = false;
      this.#options.changed();
    });
  }
}
