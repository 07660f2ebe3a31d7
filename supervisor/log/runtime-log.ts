// Owns .svc/runtime.log: opens it for the worker, adds the supervisor's own lines, and rotates it by size.
//
//   RUNTIME-LOG-1  Each process writes whole lines with one O_APPEND write, so lines of supervisor and worker never mix.
//   RUNTIME-LOG-2  Rotation renames the file and opens a new one. The worker's logger follows by message, its stdout and stderr at its next start.
//   RUNTIME-LOG-3  A rotated file that is still the worker's stdout is kept until the worker ends. It may hold Node's last output.
//   RUNTIME-LOG-4  A log that takes no lines (full disk, missing folder, no file descriptors) stops nothing. A line about it follows on recovery.
//   RUNTIME-LOG-5  The new file is created before the old one is renamed. If that fails, the log is not rotated, and a warning says so once.
//   RUNTIME-LOG-6  If another program moved the log, it is reopened, either on a signal or when the move is noticed.
//   RUNTIME-LOG-7  Secrets are masked in log text that is shown with an exit, in a report or to a reader. A worker's raw output bypasses its logger.
//                  In the file that output is masked after the worker's end, when no process writes to the file any more.
import { closeSync, constants, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import type { LogOutage } from '../../shared/api/ipc.ts';
import { LogSink, outageMessage } from '../../shared/log/log-sink.ts';
import { fileBackwards, linesBackwards, readPiece } from '../../shared/log/log-tail.ts';
import { SecretRegistry } from '../../shared/log/redaction.ts';
import { take, withoutFrames } from './last-words.ts';

export interface RuntimeLogOptions {
  readonly path: string;
  /** Added to each of the supervisor's own lines. */
  readonly base: Readonly<Record<string, unknown>>;
}

export interface LogLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

export interface LogWatch {
  readonly limits: () => LogLimits;
  /** Called when the worker must reopen the log. */
  readonly onMoved: () => void;
}

/** Descriptor for a worker's stdout and stderr, and the same file open for reading and for masking secrets. */
export interface WorkerOutput {
  readonly descriptor: number | 'ignore';
  readonly reading: number | undefined;
}

export interface LogPosition {
  readonly inode: number;
  readonly offset: number;
}

const COVERED_BYTES = 256 * 1024;
/** Pause between two checks of the file size. The pause shrinks as the file fills up. */
const LOOK_MS = { least: 50, most: 250 };
const NEW = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_EXCL;

export class RuntimeLog {
  readonly #path: string;
  #base: Readonly<Record<string, unknown>>;
  readonly #sink: LogSink;
  readonly #secrets = new SecretRegistry();
  /** The same secrets, as the file's bytes read as Latin-1. */
  readonly #secretBytes = new SecretRegistry();
  /** The file behind the worker's stdout and stderr, open for reading. Its name may have changed since. */
  #workers: { readonly descriptor: number; readonly inode: number; readonly from: number } | undefined;
  #watch: LogWatch | undefined;
  #timer: NodeJS.Timeout | undefined;
  #fault: string | undefined;

  constructor({ path, base }: RuntimeLogOptions) {
    this.#path = path;
    this.#base = base;
    this.#sink = new LogSink({ destination: path, onRecovered: (outage) => this.tell(outage) });
  }

  /** The host's name, in each of the supervisor's own lines. A reload can change it. */
  setProject(project: string): void {
    this.#base = { ...this.#base, project };
  }

  /** Masks these texts from now on. Trailing line feeds are not part of a secret, so the following line stays separate. */
  conceal(secrets: readonly string[]): void {
    const texts = secrets.map((text) => text.trimEnd());
    this.#secrets.add(texts);
    this.#secretBytes.add([...texts, ...texts.map((text) => Buffer.from(text).toString('latin1'))]);
  }

  /** Writes one of the supervisor's own lines. Never throws. */
  write(level: 'info' | 'warn' | 'error', msg: string, fields: Readonly<Record<string, unknown>> = {}): void {
    try {
      this.#follow();
    } catch {
      // The file that is open takes the line.
    }
    this.#sink.write(`${JSON.stringify({ level, time: new Date().toISOString(), ...this.#base, ...fields, msg })}\n`);
  }

  /** Logs a period in which the log took no lines, of the supervisor or of an ended worker. */
  tell({ lostLines, lateLines, from, to, reason }: LogOutage): void {
    const outage = { lostLines, lateLines, from, to, reason };
    this.write('warn', outageMessage(outage), outage);
  }

  /** The descriptor for the next worker's stdout and stderr, and where its lines begin. `ignore` if there is no file. */
  forWorker(): { readonly descriptor: number | 'ignore'; readonly from: LogPosition | undefined } {
    const output = this.forSpare();
    return { descriptor: output.descriptor, from: this.adopt(output) };
  }

  /** The descriptor for a waiting spare worker. It counts as a worker's only once it is adopted. */
  forSpare(): WorkerOutput {
    this.#follow();
    const { descriptor } = this.#sink;
    if (descriptor === undefined) return { descriptor: 'ignore', reading: undefined };
    const reading = open(this.#path);
    return { descriptor, reading };
  }

  /** Makes the worker with that output the current one. Returns where its lines begin. */
  adopt({ reading }: WorkerOutput): LogPosition | undefined {
    this.#follow();
    this.#forgetWorker();
    if (reading !== undefined) {
      const { ino, size } = fstatSync(reading);
      this.#workers = { descriptor: reading, inode: ino, from: size };
    }
    if (this.#sink.descriptor === undefined) return undefined;
    const { ino, size } = fstatSync(this.#sink.descriptor);
    return { inode: ino, offset: size };
  }

  /** Removes files that were kept for the ended worker. Throws file system errors after everything else is done. */
  workerEnded(): void {
    this.#cover();
    this.#forgetWorker();
    for (const name of ['held', 'rotated']) rmSync(`${this.#path}.${name}`, { force: true });
  }

  /** Checks size and name of the file from now on. */
  watch(watch: LogWatch): void {
    this.#watch = watch;
    this.#look(this.#size(), LOOK_MS.most);
  }

  unwatch(): void {
    clearTimeout(this.#timer);
    this.#watch = undefined;
  }

  /** Called when another program reports that it has moved the file. */
  moved(): void {
    this.#sink.reopen();
    this.#watch?.onMoved();
  }

  /** Rotates the file if it exceeds its limit. Returns true if the worker must reopen it. */
  rotateWhenFull({ maxBytes, maxFiles }: LogLimits): boolean {
    if (this.#size() < maxBytes) return false;
    try {
      closeSync(openSync(`${this.#path}.next`, NEW, 0o600));
    } catch (error) {
      if (!isThere(error)) return this.#failed(error);
    }
    const began = performance.now();
    try {
      this.#shift(maxFiles);
      renameSync(`${this.#path}.next`, this.#path);
    } catch (error) {
      return this.#failed(error);
    }
    this.#sink.reopen();
    this.#fault = undefined;
    this.write('info', 'log rotated', { ms: Math.round((performance.now() - began) * 1_000) / 1_000 });
    return true;
  }

  /** The last lines since a position, oldest first: from the current and the previous file, then Node's own final output. */
  lastLines(count: number, from: LogPosition | undefined): readonly string[] {
    try {
      const raw = this.#rawLastWords(count);
      const lines = [...take(withoutFrames(this.#backwards(from)), count - raw.length)].reverse();
      // Masked as one text, because a key can span several lines.
      return lines.length + raw.length === 0 ? [] : this.masked([...lines, ...raw].join('\n')).split('\n');
    } catch {
      return []; // the folder is gone
    }
  }

  /** The text with the secrets masked that a worker has reported. */
  masked(text: string): string {
    return this.#secrets.mask(text);
  }

  *#backwards(from: LogPosition | undefined): Generator<string> {
    for (const path of [this.#path, `${this.#path}.1`]) {
      const inode = statSync(path, { throwIfNoEntry: false })?.ino;
      const isFirst = inode === from?.inode;
      yield* fileBackwards(path, isFirst ? { from: from?.offset ?? 0 } : {});
      if (isFirst || from === undefined) return;
    }
  }

  /** If the worker's stdout is a rotated file: the raw text at its end that is not a log line. */
  #rawLastWords(count: number): readonly string[] {
    if (this.#workers === undefined || this.#sink.descriptor === undefined) return [];
    const { descriptor, inode, from } = this.#workers;
    if (fstatSync(this.#sink.descriptor).ino === inode) return [];
    const raw: string[] = [];
    for (const line of withoutFrames(linesBackwards(descriptor, { from }))) {
      if (line.startsWith('{') || raw.length === count) break;
      raw.unshift(line);
    }
    return raw;
  }

  /** Overwrites secrets in the worker's raw output. */
  #cover(): void {
    if (this.#workers === undefined) return;
    const { descriptor, from } = this.#workers;
    try {
      const { size } = fstatSync(descriptor);
      const begin = Math.max(from, size - COVERED_BYTES);
      const text = readPiece(descriptor, begin, size).toString('latin1');
      const covered = this.#secretBytes.cover(text);
      if (covered !== text) writeSync(descriptor, Buffer.from(covered, 'latin1'), 0, covered.length, begin);
    } catch {
      // The file is open for reading only.
    }
  }

  /** Logs a failed check and schedules the next one. */
  #look(sizeBefore: number, waitedMs: number): void {
    let [size, wait] = [sizeBefore, LOOK_MS.most];
    try {
      [size, wait] = this.#lookOnce(sizeBefore, waitedMs);
    } catch (error) {
      this.#failed(error);
    } finally {
      if (this.#watch !== undefined) this.#timer = setTimeout(() => this.#look(size, wait), wait);
    }
  }

  /** Returns the size and the pause before the next check. */
  #lookOnce(sizeBefore: number, waitedMs: number): [size: number, wait: number] {
    const limits = this.#watch?.limits();
    if (limits === undefined) return [sizeBefore, waitedMs];
    const grown = this.#size() - sizeBefore;
    const isMoved = this.#sink.follow() || this.rotateWhenFull(limits);
    if (isMoved) this.#watch?.onMoved();
    const size = this.#size();
    return [size, isMoved ? LOOK_MS.least : untilHalfway({ left: limits.maxBytes - size, grown, waitedMs })];
  }

  #follow(): void {
    if (this.#sink.follow()) this.#watch?.onMoved();
  }

  #size(): number {
    return this.#sink.descriptor === undefined ? 0 : fstatSync(this.#sink.descriptor).size;
  }

  #failed(error: unknown): false {
    const reason = String(error);
    if (reason !== this.#fault)
      this.write('warn', 'the log cannot be rotated: it goes on in the same file', { reason });
    this.#fault = reason;
    return false;
  }

  /** Renames the rotated files up by one and drops those above the limit. */
  #shift(maxFiles: number): void {
    const name = (n: number): string => (n === 0 ? this.#path : `${this.#path}.${n}`);
    for (let n = Math.max(1, maxFiles - 1); isFile(name(n)); n += 1) this.#drop(name(n));
    for (let n = maxFiles - 2; n >= 0; n -= 1) if (isFile(name(n))) renameSync(name(n), name(n + 1));
    if (maxFiles === 1) this.#drop(this.#path);
  }

  /**
   * Keeps a file that is still the worker's stdout. With `maxFiles` 1 the old file stays until the next rotation, since the logger may still write
   * to it.
   */
  #drop(path: string): void {
    if (statSync(path).ino === this.#workers?.inode) renameSync(path, `${this.#path}.held`);
    else if (path === this.#path) renameSync(path, `${this.#path}.rotated`);
    else rmSync(path, { force: true });
  }

  #forgetWorker(): void {
    const workers = this.#workers;
    this.#workers = undefined;
    if (workers !== undefined) closeSync(workers.descriptor);
  }
}

/** Half the time until the file is full at its current growth, so that it exceeds its limit only slightly. */
function untilHalfway(growth: { readonly left: number; readonly grown: number; readonly waitedMs: number }): number {
  const untilFullMs = (growth.left / Math.max(growth.grown, 1)) * growth.waitedMs;
  return Math.min(Math.max(untilFullMs / 2, LOOK_MS.least), LOOK_MS.most);
}

function open(path: string): number | undefined {
  for (const flags of [constants.O_RDWR, constants.O_RDONLY]) {
    try {
      return openSync(path, flags | constants.O_NONBLOCK); // does not wait for the reader of a FIFO
    } catch {
      // EMFILE, or a folder that is now read-only.
    }
  }
  return undefined;
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
const isThere = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EEXIST';
