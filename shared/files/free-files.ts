// Free inodes of a file system. Without any no file can be made, however many bytes are free: no socket, no log of the database.
import { type StatsFs, statfsSync } from 'node:fs';

/** For a log of the database and its index, a file that replaces another, and a socket. */
const LEAST_FREE = 4;

export const INODES_REMEDY = 'remove files there (df -i shows it)';

/** Why no more files can be made; undefined if they can. A file system without a fixed number of inodes reports none at all. */
export function fewFilesLeft({ files, ffree }: Pick<StatsFs, 'files' | 'ffree'>): string | undefined {
  if (files <= 0 || ffree < 0 || ffree >= LEAST_FREE) return undefined;
  return `${ffree} of ${files} inodes are free: new files need some`;
}

/** The same of the folder's file system; undefined if it cannot be looked at. */
export function fewFilesLeftIn(folder: string): string | undefined {
  try {
    return fewFilesLeft(statfsSync(folder));
  } catch {
    return undefined;
  }
}
