// Whether `.svc/` is still the folder that it was: without it a worker would go on acknowledging what nobody will ever find again, and its
// locks would keep nobody out.
//
//   W1  A folder that took the place of a removed one often gets its inode: the time of its birth tells them apart, where the file system has one.
//   W2  What cannot be looked at (a disk that fails, rights) is not lost.
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

  /** What to say of it, once, when it was removed, moved or replaced. There is a folder again then, for the log to say so. */
  lostNow(): string | undefined {
    if (this.#isLost || this.isThere()) return undefined;
    this.#isLost = true;
    try {
      ensureStateFolder(this.#path);
    } catch {
      // The project itself is gone, or somebody else made it: then there is no place to say it
    }
    return `${this.#path} was removed, moved or replaced while running: stopping`;
  }

  /** Whether it is the same folder still. */
  isThere(): boolean {
    let stat: BigIntStats | undefined;
    try {
      stat = look(this.#path);
    } catch {
      return true; // W2
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

/** Where there is none, Node gives 0, or the time of the last change: that one moves. */
const birthOf = (stat: BigIntStats | undefined): bigint | undefined =>
  stat === undefined || stat.birthtimeNs === 0n || stat.birthtimeNs === stat.ctimeNs ? undefined : stat.birthtimeNs;
