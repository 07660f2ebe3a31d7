// Whether this process may have so many files open: sockets are files.
import { readFileSync } from 'node:fs';

/** Why a test that needs as many cannot run here; false where it can. Node raises the limit at its start as far as it may. */
export function tooFewFiles(needed: number): string | false {
  try {
    const most = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return most !== undefined && Number(most) < needed && `a process may have ${most} files open here, not ${needed}`;
  } catch {
    return false; // not Linux: it is tried
  }
}
