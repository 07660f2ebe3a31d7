// New code that is exchanged while it lies in the page cache alone.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncCode as Real } from '../../../../../supervisor/cli/release/sync-code.ts';
import { planted } from './planted.ts';

export const syncCode: typeof Real = async (...args) => {
  if (planted('code-without-sync')) makeAnew(args[0]);
  else await Real(...args);
};

/** Linux writes by itself what is older than half a minute, and a busy machine takes that long for a check. */
function makeAnew(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') makeAnew(path);
    if (!entry.isFile()) continue;
    const [bytes, { mode }] = [readFileSync(path), statSync(path)];
    rmSync(path);
    writeFileSync(path, bytes, { mode });
  }
}
