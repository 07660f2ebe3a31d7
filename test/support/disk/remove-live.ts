/** Removing what a living process may still write into. */
import { rmSync } from 'node:fs';

const TRIES = 1_000;

/** As `rm -rf` does it, again where a file has come into the folder meanwhile. Node itself looks into a folder once, whatever `maxRetries` says. */
export function removeLive(path: string): void {
  for (let tries = 1; ; tries += 1)
    try {
      return rmSync(path, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || tries === TRIES) throw error;
    }
}
