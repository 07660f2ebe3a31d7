// Another user than root, for tests of what the rights of files and of processes decide.
import { spawnSync } from 'node:child_process';
import { CLI } from '../process/built-svc.ts';

/** Nobody. */
export const OTHER_USER = 65_534;

/** Why no process of another user can be had here: who is not root starts none, and the checkout may be in a folder of root alone. */
export function otherUserMissing(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'other users need root on Linux';
  const look = `require('node:fs').accessSync(${JSON.stringify(CLI)})`;
  const { status } = spawnSync(process.execPath, ['-e', look], { uid: OTHER_USER, gid: OTHER_USER, cwd: '/' });
  return status === 0 ? false : 'another user cannot read this checkout, or run this Node';
}
