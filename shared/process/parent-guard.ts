// What ends a worker with its supervisor whatever it is doing: the kernel, where util-linux's `setpriv` can ask for it; elsewhere a thread of
// the worker looks for its parent (worker/watchdog/parent-watch.ts). Both sides have to agree about which of the two it is.
import { existsSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';

const SETPRIV = '/usr/bin/setpriv';

/** The program, to be followed by options and the command that it becomes; undefined where the kernel does not help. */
export function kernelGuard(): string | undefined {
  const usable = process.platform === 'linux' && existsSync(SETPRIV) && basename(realpathSync(SETPRIV)) === 'setpriv';
  return usable ? SETPRIV : undefined;
}
