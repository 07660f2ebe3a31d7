// Ends a child process at once.
import type { ChildProcess } from 'node:child_process';

/**
 * SIGKILL, unless the child never began. Until Node reports a failed spawn, its handle has the pid 0, and a signal to that
 * ends the whole process group of the caller.
 */
export function endChild(child: ChildProcess): void {
  if ((child.pid ?? 0) > 0) child.kill('SIGKILL');
}
