// Reads a file of `.svc/`: regular and small. A FIFO or a device that lies under its name is not waited for, and a directory is named.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

const LARGEST_BYTES = 4 * 1024 * 1024;

/** Its text. Throws what the file system throws, and where it is no regular file or larger than any that svc writes. */
export function readOwnFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error(`${path} is not a regular file: move it away, svc makes its own`);
    if (stats.size > LARGEST_BYTES) throw new Error(`${path} has more than ${LARGEST_BYTES} bytes: move it away`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
