// The file system as code that must survive a power cut sees it. The crash kit puts a simulated one here, which loses what was not
// synced, in every order that a disk may choose.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

export interface FilePort {
  open(path: string, flags: 'r' | 'w', mode?: number): number;
  /** All of the text, or it throws. */
  write(file: number, text: string): void;
  /** Returns when the file's content (a folder's names) is on the disk. */
  sync(file: number): void;
  close(file: number): void;
  rename(from: string, to: string): void;
  /** Nothing when it is not there. */
  remove(path: string): void;
}

export const nodeFiles: FilePort = {
  open: (path, flags, mode) => openSync(path, flags, mode),
  write: (file, text) => writeFileSync(file, text),
  sync: (file) => fsyncSync(file),
  close: (file) => closeSync(file),
  rename: (from, to) => renameSync(from, to),
  remove: (path) => rmSync(path, { force: true }),
};
