// The project of a run on a disk of its own, whose power is cut while a command of an operator is at work.
import { existsSync } from 'node:fs';
import { type FileSystem, LoopDisk } from '../../../support/disk/loop-disk.ts';
import type { Cleanup } from '../../../support/temporary-project.ts';
import { until } from '../../../support/until.ts';
import { moveOnto, type Ran, type RecoveryProject } from './recovery-project.ts';

export class CutDisk {
  readonly #of: RecoveryProject;
  readonly #disk: LoopDisk;

  /** Moves the project onto the disk. */
  constructor(t: Cleanup, of: RecoveryProject, fileSystem: FileSystem) {
    this.#of = of;
    let disk: LoopDisk | undefined;
    moveOnto(of.project.path, () => {
      disk = new LoopDisk(t, of.project.path, undefined, fileSystem);
    });
    this.#disk = disk as LoopDisk;
  }

  /** The process is killed at its failpoint, and then the power is cut: nobody has synced anything between. */
  async atPoint(args: readonly string[], failpoints: string): Promise<Ran> {
    const cutPower = await this.#disk.arm();
    const ran = await this.#of.svc(args, { failpoints });
    await cutPower();
    this.#mountAgain();
    return ran;
  }

  /** Some milliseconds after a file has begun to lie there. What has ended by then was told to an operator. */
  async atMoment(
    args: readonly string[],
    { file, ms, failpoints }: { readonly file: string; readonly ms: number; readonly failpoints?: string },
  ): Promise<Ran> {
    const cutPower = await this.#disk.arm();
    const over = new AbortController();
    const running = this.#of.svc(args, { signal: over.signal, failpoints });
    let ended: Ran | undefined;
    void running.then((ran) => {
      ended = ran;
    });
    await until(() => ended !== undefined || existsSync(file), { what: file, everyMs: 1 });
    await new Promise((resolve) => setTimeout(resolve, ms));
    const told = ended;
    over.abort();
    await cutPower();
    const ran = await running;
    this.#mountAgain();
    return told ?? { ...ran, code: null };
  }

  #mountAgain(): void {
    this.#disk.unmount();
    this.#disk.mount();
  }
}
