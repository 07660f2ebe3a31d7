// Looks at the jobs file once a second: by size, time and inode, without a watcher. A changed file is read once it stood still for a look.
import { statSync } from 'node:fs';
import { messageOf } from '../../shared/svc-error.ts';

export class JobsFileWatch {
  readonly #path: string;
  /** What was read last. */
  #read: string | undefined | null = null;
  #seen: string | undefined | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  isThere(): boolean {
    return fingerprint(this.#path) !== undefined;
  }

  /** True if the file has changed since it was read and stands still. */
  isReady(): boolean {
    const now = fingerprint(this.#path);
    const stoodStill = now === this.#seen;
    this.#seen = now;
    return now !== this.#read && stoodStill;
  }

  /** To be called before the file is read: a change after that makes the file ready again. */
  reading(): void {
    this.#read = fingerprint(this.#path);
    this.#seen = this.#read;
  }

  /** The file was not taken in for a reason of the host: it is read again. */
  unread(): void {
    this.#read = null;
  }
}

/** What a look at the file tells of a change. Undefined: nothing is there. */
function fingerprint(path: string): string | undefined {
  try {
    const { size, mtimeMs, ctimeMs, ino, dev, mode } = statSync(path);
    return `${size} ${mtimeMs} ${ctimeMs} ${ino} ${dev} ${mode}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : messageOf(error);
  }
}
