// The log of the database as a file, and the note in its mode that a write has failed.
import { chmodSync, existsSync, realpathSync, statSync } from 'node:fs';

/** The owner may execute it: nobody means anything by that for a file like this, and to note it a full disk has room. */
const LOST_MODE = 0o100;

/** Beside the file itself, where its path is a link to it. */
export const logOf = (file: string): string => `${existsSync(file) ? realpathSync(file) : file}-wal`;

export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

const modeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mode ?? 0;

/** For the next process; it is there as long as the kernel has what the disk may lack. */
export function noteLost(file: string): void {
  setMode(file, (mode) => mode | LOST_MODE);
}

export function forgetLost(file: string): void {
  setMode(file, (mode) => mode & ~LOST_MODE);
}

/** A log gets the mode of the file when it is begun: where somebody has made that executable nothing is told. */
export const isLostNoted = (file: string): boolean => (modeOf(logOf(file)) & ~modeOf(file) & LOST_MODE) !== 0;

function setMode(file: string, change: (mode: number) => number): void {
  try {
    const log = logOf(file);
    const mode = modeOf(log);
    if (change(mode) !== mode) chmodSync(log, change(mode));
  } catch {
    // Removed meanwhile, or of a disk that takes nothing at all any more
  }
}
