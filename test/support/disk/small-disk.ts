// A file system in memory with little room, as root on Linux; and how to use it up.
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import type { Cleanup } from '../temporary-project.ts';

export interface SmallDisk {
  readonly kilobytes: number;
  /** Files and folders that it can hold. */
  readonly inodes?: number;
  /** It is mounted: only its size changes. */
  readonly remount?: boolean;
}

/** Why there can be no such disk here, or false. Throws where there has to be one. */
export function smallDiskMissing(): string | false {
  const missing =
    process.platform !== 'linux' || process.getuid?.() !== 0
      ? 'mounting needs root on Linux'
      : spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs none "$d" && umount "$d"; e=$?; rmdir "$d"; exit $e'])
          .status !== 0 && 'this container may not mount';
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (missing !== false && process.env['SVC_REQUIRE_ROOT'] === '1')
    throw new Error(`SVC_REQUIRE_ROOT=1, but ${missing}`);
  return missing;
}

/** Mounts it on the folder, with the rights of a state folder; gone with the test. */
export function smallDisk(t: Cleanup, folder: string, { kilobytes, inodes, remount = false }: SmallDisk): void {
  const size = [`size=${kilobytes}k`, 'mode=0700', ...(inodes === undefined ? [] : [`nr_inodes=${inodes}`])].join(',');
  if (remount) execFileSync('mount', ['-o', `remount,${size}`, folder]);
  else {
    execFileSync('sh', ['-c', 'mkdir -p -m 700 "$1" && mount -t tmpfs -o "$2" none "$1"', 'sh', folder, size]);
    t.after(() => void spawnSync('umount', ['-l', folder]));
  }
}

/** Makes files until no inode is left. Returns what gives them back. */
export function takeInodes(folder: string): () => void {
  const made: string[] = [];
  for (;;) {
    const file = `${folder}/of-somebody-else-${made.length}`;
    try {
      writeFileSync(file, '');
    } catch {
      return () => made.forEach((name) => rmSync(name));
    }
    made.push(file);
  }
}

/** Writes until nothing more goes in. */
export function fillDisk(file: string): void {
  for (let block = 1_048_576; block >= 512; block /= 2) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(block), { flag: 'a' });
    } catch {
      // no room for a block of this size: a smaller one
    }
  }
}
