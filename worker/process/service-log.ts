// Limits `.svc/service.log`, for owners such as launchd that redirect stdout to a file and never rotate it.
// The owner holds the file open for appending, so it is copied and truncated, not renamed. This thread writes nothing in between.
//
//   SERVICELOG-1  Active only if stdout of this process is that file.
//   SERVICELOG-2  With its copies it uses at most `maxFiles` files. Each has at most `maxBytes` plus the output of a minute.
import { copyFileSync, existsSync, fstatSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import type { Log } from '../../shared/log/logger.ts';

export interface ServiceLogLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

export interface ServiceLogOptions {
  readonly file: string;
  readonly log: Pick<Log['logger'], 'warn'>;
  /** Default: stdout of this process. */
  readonly stdout?: number;
}

const LOOK_MS = 60_000;

export class ServiceLog {
  readonly #options: ServiceLogOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ServiceLogOptions) {
    this.#options = options;
  }

  /** Checks now, then once a minute. */
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
      rmSync(`${file}.1`, { force: true }); // no room for a copy: the lines are lost, but the disk does not fill up
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
