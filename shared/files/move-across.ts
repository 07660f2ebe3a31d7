// Moves a file or a folder to another file system, where a rename is refused. A kill leaves the old one whole, or the new one whole.
import { closeSync, cpSync, existsSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFolder } from './atomic-file.ts';

/** Suffix of a source while it is removed: the target is whole by then. */
export const MOVED = '.moved';

/** `to` may be left by an earlier attempt: it is replaced. Returns once the move is on the disk. */
export function moveAcross(from: string, to: string): void {
  const part = `${to}.part`;
  rmSync(part, { recursive: true, force: true });
  cpSync(from, part, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, errorOnExist: true });
  syncTree(part);
  rmSync(to, { recursive: true, force: true });
  renameSync(part, to);
  syncFolder(dirname(to));
  renameSync(from, `${from}${MOVED}`);
  syncFolder(dirname(from));
  rmSync(`${from}${MOVED}`, { recursive: true, force: true });
}

/** Syncs every file and folder below the path, and the path itself. Links have no content of their own. */
export function syncTree(path: string): void {
  if (!existsSync(path)) return; // a dangling link
  if (statSync(path).isDirectory())
    for (const entry of readdirSync(path, { withFileTypes: true }))
      if (!entry.isSymbolicLink()) syncTree(join(path, entry.name));
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
