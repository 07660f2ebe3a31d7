// Puts a tree of code on the disk. What git, npm and a build have written lies in the page cache for half a minute, and an exchange renames it within a
// second: after a power cut the new names would hold empty files.
import { syncTree } from '../../../shared/files/move-across.ts';
import type { TreeOptions } from './repository.ts';

/** Returns once every file and every name below the folder is on the disk. */
export async function syncCode(folder: string, options: Pick<TreeOptions, 'env' | 'signal'>): Promise<void> {
  if (process.platform === 'linux' && (await syncFileSystem(folder, options))) return;
  syncTree(folder);
}

/** One call for a tree of ten thousands of files. False where no program of that name takes this option. */
async function syncFileSystem(folder: string, { env, signal }: Pick<TreeOptions, 'env' | 'signal'>): Promise<boolean> {
  const { execa } = await import('execa');
  const { failed } = await execa('sync', ['-f', folder], {
    env,
    extendEnv: false,
    reject: false,
    cancelSignal: signal,
    stdin: 'ignore',
  });
  return !failed;
}
