// Writes a file that is either old or new as a whole, even after a power cut. Steps: temporary file, fsync, rename, fsync of the folder.
import { dirname } from 'node:path';
import { type FilePort, nodeFiles } from './file-port.ts';

export interface AtomicWrite {
  /** Mode of the new file. Default 0600. */
  readonly mode?: number;
  /**
   * False: each reader sees a whole file, but nothing is synced. A power cut may leave the file old, empty or gone. Meant for facts about processes,
   * which a power cut ends too. Without an inode for the temporary file the old file is overwritten. Default true.
   */
  readonly durable?: boolean;
  /** Runs once the new file is on the disk, before it takes the name. An error keeps the old file. */
  readonly beforeRename?: () => void;
  readonly files?: FilePort;
}

/**
 * Replaces `path` as a whole, and returns once the new file is on the disk (unless `durable` is false). Throws what the file system throws; then the
 * old file is untouched.
 */
export function writeFileAtomic(
  path: string,
  text: string,
  { mode = 0o600, durable = true, beforeRename, files = nodeFiles }: AtomicWrite = {},
): void {
  const temporary = `${path}.${process.pid}.tmp`;
  let file: number | undefined;
  try {
    file = files.open(temporary, 'w', mode);
    writeWhole(files, file, { text, durable });
    beforeRename?.();
    files.rename(temporary, path);
  } catch (error) {
    if (file === undefined && !durable && (error as NodeJS.ErrnoException).code === 'ENOSPC')
      return writeWhole(files, files.open(path, 'w', mode), { text, durable });
    files.remove(temporary);
    throw error;
  }
  if (durable) syncFolder(dirname(path), files);
}

function writeWhole(
  files: FilePort,
  file: number,
  { text, durable }: { readonly text: string; readonly durable: boolean },
): void {
  try {
    files.write(file, text);
    if (durable) files.sync(file);
  } finally {
    files.close(file);
  }
}

/** Makes a rename or a new name in the folder survive a power cut. */
export function syncFolder(folder: string, files: FilePort = nodeFiles): void {
  const handle = files.open(folder, 'r');
  try {
    files.sync(handle);
  } finally {
    files.close(handle);
  }
}

/** JSON as files on disk hold it: sorted keys, two spaces, a final newline. */
export function stableJson(value: unknown): string {
  return `${JSON.stringify(sorted(value), null, 2)}\n`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(record).sort(); // not entries: those make four times the garbage, and the supervisor writes often
  return Object.fromEntries(keys.map((key) => [key, sorted(record[key])]));
}
