// A folder that is not synced: a rename is in the page cache alone when it is taken for done.
import { fstatSync } from 'node:fs';
import { nodeFiles as Real } from '../../../../../shared/files/file-port.ts';
import { planted } from './planted.ts';

export type { FilePort } from '../../../../../shared/files/file-port.ts';

export const nodeFiles: typeof Real = {
  ...Real,
  sync(file) {
    if (!planted('folder-without-sync') || !fstatSync(file).isDirectory()) Real.sync(file);
  },
};
