// A file that is either its old self or its new one, also after a power cut: temp, sync, rename, sync of the folder.
import { dirname } from 'node:path';
import { type FilePort, nodeFiles } from './file-port.ts';

export interface AtomicWrite {
  /** Rights of the new file. Default 0600. */
  readonly mode?: number;
  /** False: whole for every reader, but not waited for until it is on the disk, so that a power cut may leave it old, empty or gone: for facts about processes, which end with it. Default true. */
  readonly durable?: boolean;
  readonly files?: FilePort;
}

/** Replaces `path` as a whole; it is on the disk when this returns, unless `durable` is false. Throws what the file system throws, with the old file untouched. */
export function writeFileAtomic(
  path: string,
  text: string,
  { mode = 0o600, durable = true, files = nodeFiles }: AtomicWrite = {},
): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = files.open(temporary, 'w', mode);
    try {
      files.write(file, text);
      if (durable) files.sync(file);
    } finally {
      files.close(file);
    }
    files.rename(temporary, path);
  } catch (error) {
    files.remove(temporary);
    throw error;
  }
  if (durable) syncFolder(dirname(path), files);
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
  const keys = Object.keys(record).sort(); // not pairs: taking them apart makes four times the garbage, and the supervisor writes often
  return Object.fromEntries(keys.map((key) => [key, sorted(record[key])]));
}
