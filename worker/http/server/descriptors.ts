// How many connections the file descriptors of this process leave room for. Each connection is one; the database, the log and what the host opens
// itself need theirs, or a flood of connections would take the disk away from the messages.
import { readFileSync } from 'node:fs';

const RESERVE = 256;

let known: number | undefined;

/** Infinity where the system does not tell. The limit is read once: Node raises it at its start as far as it may. */
export function connectionsOfDescriptors(): number {
  known ??= connectionsOf(readLimit());
  return known;
}

/** All but the reserve, or half of a limit that is small. */
export const connectionsOf = (descriptors: number): number =>
  Math.max(1, descriptors - Math.min(RESERVE, Math.floor(descriptors / 2)));

function readLimit(): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY; // not Linux
  }
}
