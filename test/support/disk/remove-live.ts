/** Removing what a living process may still write into. */
import { rmSync } from 'node:fs';

/** As `rm -rf` does it, again where a file has come into the folder meanwhile (ENOTEMPTY). */
export const removeLive = (path: string) =>
  rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 5 });
