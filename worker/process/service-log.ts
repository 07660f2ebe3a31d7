// The log of a service whose owner writes stdout to a file and never looks at it again, as launchd does: `.svc/service.log`, kept within the limits of
// `log`. The owner holds the file open for appending, so that it is copied and cut, not moved; between the two nothing of this thread is written.
//
//   V1  Only where stdout of this process is that very file.
//   V2  Together with its copies it takes `maxFiles` files; each is at most `maxBytes` and what a minute brings.
import { copyFileSync, existsSync, fstatSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import type { Log } from '../../shared/log/logger.ts';

export interface ServiceLogLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

export interface ServiceLogOptions {
  readonly file: string;
  readonly log: Pick<Log['logger'], 'warn'>;
  /** Default: that of this process. */
  readonly stdout?: number;
}

const LOOK_MS = 60_000;

export class ServiceLog {
  readonly #options: ServiceLogOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ServiceLogOptions) {
    this.#options = options;
  }

  /** Looks now, and from now on each minute. */
  keep(limits: ServiceLogLimits): void {
    if (!this.#isOurs()) return;
    this.look(limits);
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.look(limits), LOOK_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  look({ maxBytes, maxFiles }: ServiceLogLimits): void {
    const { file, log } = this.#options;
    try {
      if (statSync(file).size <= maxBytes) return;
      for (let n = maxFiles - 1; n > 1; n -= 1)
        if (existsSync(`${file}.${n - 1}`)) renameSync(`${file}.${n - 1}`, `${file}.${n}`);
      if (maxFiles > 1) this.#copy();
      truncateSync(file);
    } catch (error) {
      log.warn({ err: error }, 'the log of the service could not be cut');
    }
  }

  #copy(): void {
    const { file } = this.#options;
    try {
      copyFileSync(file, `${file}.1`);
    } catch {
      rmSync(`${file}.1`, { force: true }); // no room for it: then the oldest lines are lost, and the disk is not
    }
  }

  #isOurs(): boolean {
    const { file, stdout = 1 } = this.#options;
    try {
      const [ours, theirs] = [fstatSync(stdout), statSync(file)];
      return ours.ino === theirs.ino && ours.dev === theirs.dev;
    } catch {
      return false; // no such file, or no stdout
    }
  }
}
