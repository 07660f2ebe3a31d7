// The file operations of code that must survive a power cut. The crash kit simulates them: its file system loses unsynced data, in every order that a
// disk may choose.
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

export interface FilePort {
  open(path: string, flags: 'r' | 'w', mode?: number): number;
  /** Writes the whole text, or throws. */
  write(file: number, text: string): void;
  /** Returns once the content of the file, or the names in the folder, are on the disk. */
  sync(file: number): void;
  close(file: number): void;
  rename(from: string, to: string): void;
  /** Does nothing if the file does not exist. */
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
