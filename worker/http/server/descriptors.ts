// How many connections the process's file descriptors allow. Each connection takes one.
// A reserve is kept for the database, the log and outgoing connections. Otherwise a flood of connections would stop the storing of
// messages.
import { readFileSync } from 'node:fs';

const RESERVE = 256;

let known: number | undefined;

/** Infinity if the system does not report a limit. Read once: Node raises the soft limit at its start. */
export function connectionsOfDescriptors(): number {
  known ??= connectionsOf(readLimit());
  return known;
}

/** The limit without the reserve, or half of a small limit. */
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
