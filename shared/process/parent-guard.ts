// Ends a worker together with its supervisor. The kernel does it if util-linux's `setpriv` is installed.
// Otherwise a thread of the worker watches for the parent. Supervisor and worker must choose the same way.
import { existsSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';

const SETPRIV = '/usr/bin/setpriv';

/** Path of `setpriv`, which is followed by options and the command to exec. Undefined if the kernel cannot help. */
export function kernelGuard(): string | undefined {
  const usable = process.platform === 'linux' && existsSync(SETPRIV) && basename(realpathSync(SETPRIV)) === 'setpriv';
  return usable ? SETPRIV : undefined;
}
