// The restart window of a worker in the foreground, for owners that know none: kept in the file and the form of the supervisor's own (.svc/restart-window.json).
//
//   O1  Under launchd a start that finds the window spent ends with 0, which launchd takes for done. An invalid configuration counts, too: launchd would try it for ever.
//   O2  In a container it waits, without a port, until the oldest start has left the window: an end would only be started again.
//   O3  A stop that somebody asked for empties the window; other owners have a limit of their own, and none is kept.
import { existsSync, rmSync } from 'node:fs';
import { stableJson, writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import { readOwnFile } from '../../../shared/files/own-file.ts';
import type { ProjectPaths } from '../../../shared/files/paths.ts';
import { bootClock, bootId } from '../../../shared/process/process-identity.ts';
import type { RestartOwner } from '../../database/writer-lock.ts';

export interface WindowLimits {
  /** Starts within the window, this one included. */
  readonly restarts: number;
  readonly windowSeconds: number;
}

/** Where the configuration cannot say it. */
export const DEFAULT_WINDOW: WindowLimits = { restarts: 5, windowSeconds: 120 };

export interface OwnerWindowOptions {
  readonly paths: Pick<ProjectPaths, 'stateDir' | 'restartWindow'>;
  readonly owner: RestartOwner;
  /** Monotonic milliseconds since boot. */
  readonly now?: () => number;
}

export type WindowVerdict =
  | { readonly kind: 'room' }
  /** Ends: its owner would start it again without an end. */
  | { readonly kind: 'spent'; readonly starts: number }
  | { readonly kind: 'wait'; readonly starts: number; readonly ms: number };

const ROOM: WindowVerdict = { kind: 'room' };
/** More than any configured limit is never looked at. */
const MOST_STARTS = 200;

export class OwnerWindow {
  readonly #options: OwnerWindowOptions;
  readonly #now: () => number;
  #noted: number | undefined;

  constructor(options: OwnerWindowOptions) {
    this.#options = options;
    this.#now = options.now ?? bootClock;
  }

  /** Notes this start, once, as soon as there is a folder to note it in. */
  note(): void {
    const { paths, owner } = this.#options;
    if ((owner !== 'launchd' && owner !== 'container') || this.#noted !== undefined || !existsSync(paths.stateDir))
      return;
    this.#noted = this.#now();
    this.#write([...this.#starts(), this.#noted].slice(-MOST_STARTS));
  }

  /** What the window says of this start. */
  verdict({ restarts, windowSeconds }: WindowLimits): WindowVerdict {
    if (this.#noted === undefined) return ROOM;
    const now = this.#now();
    const spanMs = windowSeconds * 1_000;
    const inside = this.#starts().filter((at) => at <= now && now - at < spanMs);
    if (inside.length <= restarts) return ROOM;
    if (this.#options.owner === 'launchd') return { kind: 'spent', starts: inside.length };
    const blocking = inside[inside.length - 1 - restarts] ?? now;
    return { kind: 'wait', starts: inside.length, ms: blocking + spanMs - now };
  }

  /** After a stop that somebody asked for. */
  empty(): void {
    if (this.#noted !== undefined) rmSync(this.#options.paths.restartWindow, { force: true });
  }

  #starts(): readonly number[] {
    try {
      const { version, boot, starts } = JSON.parse(readOwnFile(this.#options.paths.restartWindow));
      return version === 1 && boot === bootId() && Array.isArray(starts)
        ? starts.filter((at): at is number => typeof at === 'number')
        : [];
    } catch {
      return []; // none was kept, or it cannot be read: then this is the first
    }
  }

  #write(starts: readonly number[]): void {
    try {
      writeFileAtomic(
        this.#options.paths.restartWindow,
        stableJson({ version: 1, boot: bootId(), starts, crashesInRow: 0 }),
      );
    } catch {
      // a full disk stops no start
    }
  }
}
