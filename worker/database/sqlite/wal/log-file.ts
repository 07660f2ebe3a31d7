// Path and size of the WAL, and a flag in its mode that a write has failed.
import { chmodSync, existsSync, realpathSync, statSync } from 'node:fs';

/** The owner's execute bit: it has no other meaning for a WAL, and setting it works on a full disk. */
const LOST_MODE = 0o100;

/** For a symbolic link the WAL lies beside its target. */
export const logOf = (file: string): string => `${existsSync(file) ? realpathSync(file) : file}-wal`;

export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

const modeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mode ?? 0;

/** Tells the next process that a write failed. A power cut may drop the flag, but then also the page cache that it warns of. */
export function noteLost(file: string): void {
  setMode(file, (mode) => mode | LOST_MODE);
}

export function forgetLost(file: string): void {
  setMode(file, (mode) => mode & ~LOST_MODE);
}

/** A new WAL gets the mode of the database file. If that file is executable, the flag means nothing. */
export const isLostNoted = (file: string): boolean => (modeOf(logOf(file)) & ~modeOf(file) & LOST_MODE) !== 0;

function setMode(file: string, change: (mode: number) => number): void {
  try {
    const log = logOf(file);
    const mode = modeOf(log);
    if (change(mode) !== mode) chmodSync(log, change(mode));
  } catch {
    // The WAL was removed meanwhile, or the disk takes no writes at all
  }
}
