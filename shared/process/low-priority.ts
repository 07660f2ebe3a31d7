// Lets other processes go first, as heavy work beside a host does.
import { constants, setPriority } from 'node:os';

/** The units of systemd take the system call away, and so do other sandboxes: then the process runs as it is. */
export function lowerPriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // EPERM
  }
}
