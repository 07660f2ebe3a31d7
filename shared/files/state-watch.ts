// Detects that `.svc/` is no longer the same folder. In another folder acknowledged deliveries would be lost, and locks would keep nobody out.
//
//   STATE-WATCH-1  A new folder often gets the inode of a removed one. The birth time tells the two apart, if the file system stores it.
//   STATE-WATCH-2  A folder that cannot be looked at (a failing disk, missing permission) does not count as lost.
import { type BigIntStats, statSync } from 'node:fs';
import { ensureStateFolder } from './state-folder.ts';

export class StateWatch {
  readonly #path: string;
  readonly #place: string | undefined;
  #bornNs: bigint | undefined;
  #isLost = false;

  constructor(path: string) {
    this.#path = path;
    const stat = look(path);
    this.#place = placeOf(stat);
    this.#bornNs = birthOf(stat);
  }

  /** The message, once, after the folder was removed, moved or replaced. The folder is made again, so that the log can tell it. */
  lostNow(): string | undefined {
    if (this.#isLost || this.isThere()) return undefined;
    this.#isLost = true;
    try {
      ensureStateFolder(this.#path);
    } catch {
      // The project is gone, or another user made the folder: the log cannot tell it
    }
    return `${this.#path} was removed, moved or replaced while running: stopping`;
  }

  /** Whether it is still the same folder. */
  isThere(): boolean {
    let stat: BigIntStats | undefined;
    try {
      stat = look(this.#path);
    } catch {
      return true; // a folder that cannot be looked at is not lost (STATE-WATCH-2)
    }
    if (placeOf(stat) !== this.#place) return false;
    const bornNs = birthOf(stat);
    this.#bornNs ??= bornNs;
    return bornNs === undefined || bornNs === this.#bornNs;
  }
}

const look = (path: string): BigIntStats | undefined => statSync(path, { bigint: true, throwIfNoEntry: false });

const placeOf = (stat: BigIntStats | undefined): string | undefined =>
  stat === undefined ? undefined : `${stat.dev}-${stat.ino}`;

/** Without a stored birth time Node gives 0, or the time of the last change, which moves. */
const birthOf = (stat: BigIntStats | undefined): bigint | undefined =>
  stat === undefined || stat.birthtimeNs === 0n || stat.birthtimeNs === stat.ctimeNs ? undefined : stat.birthtimeNs;
