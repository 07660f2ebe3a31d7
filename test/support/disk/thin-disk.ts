// A disk that has less room than it says, as root on Linux: ext4 in a sparse file over a loop device, whose blocks are taken from a small file
// system in memory only when they are written. Where that is full, a write is taken, as on every disk, and it is the sync after it that fails
// (EIO): so do a thin volume that has run out and a disk with bad blocks. `loopDiskMissing` says where there can be none.
// Linux 6.18 says of a write that there was room for only at first, in this small file system, that all of it was written: no disk does, and so
// each write to the device is of one page.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Cleanup } from '../temporary-project.ts';

/** Also for what was removed, which takes its room until `runOut`. */
const ROOM_MB = 192;
const TOLD_MB = 1_024;
const TABLES_MB = 5;
const PAGE_KB = '4';

export class ThinDisk {
  readonly #room = join(tmpdir(), `svc-room-${randomUUID()}`);
  readonly #folder: string;
  /** Of the device that is used now, to be put back: it outlasts the disk. */
  #largestWrite: { readonly file: string; readonly kilobytes: string } | undefined;

  /**
   * Mounts a new one on the folder, with the rights of a state folder. Whose journal has no room either takes no writes any more once that could not be
   * written, until it is mounted anew; one whose journal and tables have theirs goes on, and only what files hold cannot be written.
   */
  constructor(t: Cleanup, folder: string, { roomForJournal = false } = {}) {
    this.#folder = folder;
    for (const path of [this.#room, folder]) mkdirSync(path, { recursive: true, mode: 0o700 });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${ROOM_MB}m`, 'none', this.#room]);
    t.after(() => {
      this.#allowLargeWrites();
      for (const path of [folder, this.#room]) spawnSync('umount', ['-l', path]);
      rmSync(this.#room, { recursive: true, force: true });
    });
    execFileSync('truncate', ['-s', `${TOLD_MB}M`, this.#image]);
    const layout = ['-m', '0', '-b', '4096', '-N', '1024', '-J', 'size=4,location=0'];
    execFileSync('mkfs.ext4', ['-q', '-F', ...layout, this.#image]);
    if (roomForJournal) this.#fillFirst(TABLES_MB);
    this.#mount();
    execFileSync('chmod', ['700', folder]);
    rmSync(join(folder, 'lost+found'), { recursive: true, force: true });
  }

  /** Blocks that were never written have their room as well: tables and journal lie at the beginning. */
  #fillFirst(megabytes: number): void {
    const options = ['bs=1M', `count=${megabytes}`, 'conv=notrunc', 'status=none'];
    execFileSync('dd', [`if=${this.#image}`, `of=${this.#image}`, ...options]);
  }

  get #image(): string {
    return join(this.#room, 'disk.img');
  }

  get #filler(): string {
    return join(this.#room, 'filler');
  }

  /** From now on no block can be written that no file has. */
  runOut(): void {
    execFileSync('sync', ['-f', this.#folder]); // what was removed is free only then
    execFileSync('fstrim', [this.#folder]);
    for (let block = 1_048_576; block >= 4_096; block /= 2) {
      try {
        for (;;) writeFileSync(this.#filler, Buffer.alloc(block), { flag: 'a' });
      } catch {
        // no room for a block of this size: a smaller one
      }
    }
  }

  /** There is room again. */
  refill(): void {
    rmSync(this.#filler);
  }

  /** What was not synced is gone, as after a crash of the machine: nothing that uses the disk may be alive. */
  remount(): void {
    this.#allowLargeWrites();
    execFileSync('umount', [this.#folder]);
    this.#mount();
  }

  #mount(): void {
    execFileSync('mount', ['-o', 'loop', this.#image, this.#folder]);
    this.#writeByPages();
  }

  #writeByPages(): void {
    const device = basename(execFileSync('findmnt', ['-n', '-o', 'SOURCE', this.#folder], { encoding: 'utf8' }).trim());
    const file = `/sys/block/${device}/queue/max_sectors_kb`;
    this.#largestWrite = { file, kilobytes: readFileSync(file, 'utf8') };
    writeFileSync(file, PAGE_KB);
  }

  #allowLargeWrites(): void {
    if (this.#largestWrite !== undefined) writeFileSync(this.#largestWrite.file, this.#largestWrite.kilobytes);
    this.#largestWrite = undefined;
  }
}
