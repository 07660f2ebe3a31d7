// Reads a file of `.svc/`, which must be regular and small. A FIFO or a device at its path does not block the read, and a directory is reported.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

const LARGEST_BYTES = 4 * 1024 * 1024;

/** Returns the text. Throws what the file system throws. Also throws if the file is not regular, or larger than any file that svc writes. */
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
