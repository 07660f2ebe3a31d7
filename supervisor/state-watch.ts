// Whether `.svc/` is still the folder that it was: without it a worker would go on acknowledging what nobody will ever find again.
import { statSync } from 'node:fs';
import { ensureStateFolder } from '../shared/state-folder.ts';

export class StateWatch {
  readonly #path: string;
  readonly #identity: string | undefined;
  #isLost = false;

  constructor(path: string) {
    this.#path = path;
    this.#identity = identityOf(path);
  }

  /** True once: when it was removed, moved or replaced. There is a folder again then, for the log to say so. */
  isLostNow(): boolean {
    if (this.#isLost || identityOf(this.#path) === this.#identity) return false;
    this.#isLost = true;
    try {
      ensureStateFolder(this.#path);
    } catch {
      // The project itself is gone, or somebody else made it: then there is no place to say it
    }
    return true;
  }
}

function identityOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}-${stat.ino}`;
}
