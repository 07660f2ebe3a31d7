// The restart window of a worker in the foreground, for owners without a limit of their own. File and format are the supervisor's
// (.svc/restart-window.json).
//
//   OWNERWINDOW-1  Under launchd, a start with a spent window exits with 0, which launchd treats as finished. An invalid configuration
//                  counts too, because launchd would retry for ever.
//   OWNERWINDOW-2  In a container, such a start waits without a port until the oldest start leaves the window. An exit would only cause
//                  another start.
//                  A start beside a host that holds the writer lock (a second pod on one volume) is not counted: the window is that host's.
//   OWNERWINDOW-3  A requested stop empties the window. Other owners have their own limit, and no window is kept for them.
import { existsSync, rmSync } from 'node:fs';
import { stableJson, writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import { readOwnFile } from '../../../shared/files/own-file.ts';
import type { ProjectPaths } from '../../../shared/files/paths.ts';
import { bootClock, bootId } from '../../../shared/process/process-identity.ts';
import type { RestartOwner } from '../../database/writer-lock.ts';

export interface WindowLimits {
  /** Maximum number of starts within the window, including this one. */
  readonly restarts: number;
  readonly windowSeconds: number;
}

/** Used when the configuration cannot be read. */
export const DEFAULT_WINDOW: WindowLimits = { restarts: 5, windowSeconds: 120 };

export interface OwnerWindowOptions {
  readonly paths: Pick<ProjectPaths, 'stateDir' | 'restartWindow'>;
  readonly owner: RestartOwner;
  /** Whether another process has the state, whose window this is. */
  readonly isTaken?: () => boolean;
  /** Monotonic milliseconds since boot. */
  readonly now?: () => number;
}

export type WindowVerdict =
  | { readonly kind: 'room' }
  /** The start must end, because its owner would restart it without limit. */
  | { readonly kind: 'spent'; readonly starts: number }
  | { readonly kind: 'wait'; readonly starts: number; readonly ms: number };

const ROOM: WindowVerdict = { kind: 'room' };
/** More than any configured limit. */
const MOST_STARTS = 200;

export class OwnerWindow {
  readonly #options: OwnerWindowOptions;
  readonly #now: () => number;
  #noted: number | undefined;

  constructor(options: OwnerWindowOptions) {
    this.#options = options;
    this.#now = options.now ?? bootClock;
  }

  /** Records this start once, as soon as the state folder exists. */
  note(): void {
    const { paths, owner } = this.#options;
    if ((owner !== 'launchd' && owner !== 'container') || this.#noted !== undefined || !existsSync(paths.stateDir))
      return;
    if (owner === 'container' && this.#options.isTaken?.() === true) return;
    this.#noted = this.#now();
    this.#write([...this.#starts(), this.#noted].slice(-MOST_STARTS));
  }

  /** Whether this start has room in the window. */
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

  /** After a requested stop. */
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
      return []; // a missing or unreadable file counts as no starts
    }
  }

  #write(starts: readonly number[]): void {
    try {
      writeFileAtomic(
        this.#options.paths.restartWindow,
        stableJson({ version: 1, boot: bootId(), starts, crashesInRow: 0 }),
      );
    } catch {
      // a full disk must not prevent a start
    }
  }
}
