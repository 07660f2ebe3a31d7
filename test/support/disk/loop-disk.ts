// A small disk of one's own, as root on Linux: ext4 or xfs in a file over a loop device, or memory. It can lose its power, and be full.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cleanup } from '../temporary-project.ts';

/** EXT4_IOC_SHUTDOWN, which is the number of XFS_IOC_GOINGDOWN too, with NOLOGFLUSH: from now on nothing reaches the disk, and what had not been synced is gone. */
const POWER_CUT =
  '$| = 1; open(my $f, "<", $ARGV[0]) or die "$!"; my $flag = pack("L", 2); print "armed\\n"; <STDIN>; ioctl($f, 0x8004587D, $flag) or die "$!";';

export type FileSystem = 'ext4' | 'xfs';
/** xfs takes no disk that is smaller than 300 MiB; the file is sparse. */
const MEGABYTES: Readonly<Record<FileSystem, number>> = { ext4: 96, xfs: 320 };
const MAKE: Readonly<Record<FileSystem, readonly string[]>> = {
  ext4: ['mkfs.ext4', '-q', '-F', '-m', '0'],
  xfs: ['mkfs.xfs', '-q', '-f'],
};
/** A copy of an xfs has the id of the one before, which somebody else may still see. */
const MOUNT: Readonly<Record<FileSystem, string>> = { ext4: 'loop', xfs: 'loop,nouuid' };

/** Why there can be no such disk here, or false. Throws where there has to be one. */
export function loopDiskMissing(kind: FileSystem = 'ext4'): string | false {
  const missing = reasonWithout(kind);
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (missing !== false && process.env['SVC_REQUIRE_ROOT'] === '1')
    throw new Error(`SVC_REQUIRE_ROOT=1, but ${missing}`);
  return missing;
}

function reasonWithout(kind: FileSystem): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'mounting needs root on Linux';
  if (!existsSync('/dev/loop-control')) return 'there is no loop device: it needs a privileged container';
  const tools = [`mkfs.${kind}`, 'mount', 'umount', 'perl'].filter(
    (tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0,
  );
  return tools.length > 0 && `these programs are missing: ${tools.join(', ')}`;
}

const imageFile = (): string => join(tmpdir(), `svc-disk-${randomUUID()}.img`);

export class LoopDisk {
  #image = imageFile();
  readonly #folder: string;
  readonly #kind: FileSystem;

  /** Mounts a new disk on the folder, with the rights of a state folder. */
  constructor(t: Cleanup, folder: string, megabytes?: number, kind: FileSystem = 'ext4') {
    this.#folder = folder;
    this.#kind = kind;
    execFileSync('truncate', ['-s', `${megabytes ?? MEGABYTES[kind]}M`, this.#image]);
    const [make = '', ...options] = MAKE[kind];
    execFileSync(make, [...options, this.#image]);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.mount();
    execFileSync('chmod', ['700', folder]);
    rmSync(join(folder, 'lost+found'), { recursive: true, force: true });
    t.after(() => {
      spawnSync('umount', ['-l', folder]);
      rmSync(this.#image, { force: true });
    });
  }

  mount(): void {
    execFileSync('mount', ['-o', MOUNT[this.#kind], this.#image, this.#folder]);
  }

  /**
   * A mount namespace that somebody else has made meanwhile keeps the file system, and with it a disk that is dead: what lies on the disk goes
   * to another one.
   */
  unmount(): void {
    spawnSync('sync', ['-f', this.#folder]); // fails without power
    execFileSync('umount', [this.#folder]);
    const former = this.#image;
    this.#image = imageFile();
    execFileSync('cp', ['--sparse=always', former, this.#image]);
    rmSync(former);
  }

  /** Gets ready to cut the power; the function that it gives does it at once, and resolves when it is done. */
  async arm(): Promise<() => Promise<void>> {
    const cutter = spawn('perl', ['-e', POWER_CUT, this.#folder], { stdio: ['pipe', 'pipe', 'inherit'] });
    const done = new Promise<void>((resolve, reject) =>
      cutter.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the power was not cut: ${code}`)))),
    );
    await Promise.race([new Promise((resolve) => cutter.stdout.once('data', resolve)), done]);
    return () => {
      cutter.stdin.end('\n');
      return done;
    };
  }

  async cutPower(): Promise<void> {
    await (await this.arm())();
  }
}
