// What a checkpoint is measured against: a copy of the same file that is synced, and nothing else.
import { rmSync } from 'node:fs';
import { copyFile, open } from 'node:fs/promises';

/** Milliseconds. The copy lies beside the file, and is removed. */
export async function copyAndSync(from: string): Promise<number> {
  const target = `${from}.bare`;
  const startedAt = performance.now();
  await copyFile(from, target);
  const file = await open(target, 'r+');
  await file.sync();
  await file.close();
  const ms = performance.now() - startedAt;
  rmSync(target);
  return ms;
}
