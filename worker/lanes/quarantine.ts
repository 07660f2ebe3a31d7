// What was in hand when the process died may be what killed it. It is looked at with suspicion from its first death on: such items (or sends) start one at
// a time, so that only the guilty one's deaths go up. At the second it is set aside (who runs it says when it comes again), and runs alone from then on.
//
//   U1  While there are suspects, nothing starts beside what runs, unless that has been running for its grace: slow is not deadly.
//   U2  A suspect that has ended, or has lived through its grace, is none any more. After LIMIT_MS nobody is: a pause may hold some back.
//   U3  A death is counted for what was in hand at it, once: when it begins anew, or is set aside. What has not begun since was not in hand at the next.
//   U4  An item that costs two deaths costs no third for `quarantineMs`: whoever starts the process again has not used up its starts by then.
//   U5  Nor have many such items together: after WARY_AT deaths within that time an item is set aside at its first, and after REST_AT nothing starts
//       until the first of them is as old. What comes in is stored meanwhile.
import type { Core } from '../core/core.ts';
import type { ShareLimits } from './fair-shares.ts';

/** What a process before this one died with. */
export interface LeftInHand {
  readonly id: string;
  /** At how many deaths it was in hand, the last one included. */
  readonly deaths: number;
  /** It is set aside, or waits for another reason: it was not in hand at the last death. */
  readonly isWaiting: boolean;
}

export interface QuarantineOptions {
  /** When processes before this one have died, the earliest first, as far as they count for U5; left out: none does. */
  readonly deaths?: () => Promise<{ readonly at: readonly number[]; readonly withinMs: number }>;
  readonly read: () => Promise<readonly LeftInHand[]>;
  /** For the log. */
  readonly what: string;
  /** More may start now. */
  readonly changed: () => void;
}

/** Deaths at which it is set aside. */
const SET_ASIDE_AT = 2;
/** Both below the starts that a supervisor allows (`supervisor.restarts`). */
const WARY_AT = 3;
const REST_AT = 4;
/** A kill from outside leaves many in hand, none of them guilty: those are not held up for long. */
const GRACE_MS = 100;
const GRACE_ALONE_MS = 500;
const LIMIT_MS = 60_000;
const LATER = 2.5;

/**
 * For how long it is set aside after so many deaths; undefined where it is not. `firstMs`: after the second; 0: nothing ever is. `isWary`: one is
 * enough.
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
  /** With their grace. */
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

  /** Reads, once, what processes before this one left in their hands. */
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

  /** At how many deaths it was in hand, the last one included; undefined where it was not in hand at that, or has begun since. */
  deathsOf(id: string): number | undefined {
    return this.#left.get(id);
  }

  /** There were so many deaths that one is enough. */
  get isWary(): boolean {
    return this.#isWary;
  }

  /** The last death is counted. */
  counted(id: string): void {
    this.#left.delete(id);
  }

  /** It waits, and runs alone then. */
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

  /** U5. */
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
