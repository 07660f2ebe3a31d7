// Owns .svc/runtime.log: opens it for the worker, adds the supervisor's own lines, rotates by size.
//
//   T1  Everybody writes with O_APPEND, whole lines with one write, so lines of supervisor and worker never tear.
//   T2  Rotation renames and opens anew; the worker's logger follows by message, its descriptors 1 and 2 at its next start.
//   T3  A file that the worker still has as descriptor 1 and 2 is not deleted but set aside until that worker has ended: it may hold its last words.
//   T4  A log that takes nothing (full disk, folder gone, no descriptors) stops nothing; the line about it is shared/log/log-sink.ts's.
//   T5  The new file is there before the old one is renamed: where it cannot be made, nothing is rotated, and that is said once.
//   T6  A log that a host has moved is opened anew, by signal or as soon as it is seen.
//   T7  What is taken out of it, to be shown with an exit, in a report or to who follows it, has no secret: a worker's raw text (last words of Node) never went through
//       a logger. In the file such text is covered in its place once the worker has ended: then nobody writes there any more.
import { closeSync, constants, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import type { LogOutage } from '../../shared/api/ipc.ts';
import { LogSink, outageMessage } from '../../shared/log/log-sink.ts';
import { fileBackwards, linesBackwards, readPiece } from '../../shared/log/log-tail.ts';
import { SecretRegistry } from '../../shared/log/redaction.ts';
import { take, withoutFrames } from './last-words.ts';

export interface RuntimeLogOptions {
  readonly path: string;
  /** On each line of the supervisor's own. */
  readonly base: Readonly<Record<string, unknown>>;
}

export interface LogLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

export interface LogWatch {
  readonly limits: () => LogLimits;
  /** The worker has to open the log anew. */
  readonly onMoved: () => void;
}

/** Where a worker's stdout and stderr go, and that file open for reading, and for covering what must not be read. */
export interface WorkerOutput {
  readonly descriptor: number | 'ignore';
  readonly reading: number | undefined;
}

export interface LogPosition {
  readonly inode: number;
  readonly offset: number;
}

const COVERED_BYTES = 256 * 1024;
/** Between two looks at the file: the less, the sooner it is full. */
const LOOK_MS = { least: 50, most: 250 };
const NEW = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_EXCL;

export class RuntimeLog {
  readonly #path: string;
  readonly #base: Readonly<Record<string, unknown>>;
  readonly #sink: LogSink;
  readonly #secrets = new SecretRegistry();
  /** As they are in the bytes of a file. */
  readonly #secretBytes = new SecretRegistry();
  /** The file that the worker has as descriptors 1 and 2, open for reading: whatever its name is by now. */
  #workers: { readonly descriptor: number; readonly inode: number; readonly from: number } | undefined;
  #watch: LogWatch | undefined;
  #timer: NodeJS.Timeout | undefined;
  #fault: string | undefined;

  constructor({ path, base }: RuntimeLogOptions) {
    this.#path = path;
    this.#base = base;
    this.#sink = new LogSink({ destination: path, onRecovered: (outage) => this.tell(outage) });
  }

  /** Texts that are masked from now on (T7). The line feed behind a key is none of it: the next line stays one. */
  conceal(secrets: readonly string[]): void {
    const texts = secrets.map((text) => text.trimEnd());
    this.#secrets.add(texts);
    this.#secretBytes.add([...texts, ...texts.map((text) => Buffer.from(text).toString('latin1'))]);
  }

  /** The supervisor's own line; never throws. */
  write(level: 'info' | 'warn' | 'error', msg: string, fields: Readonly<Record<string, unknown>> = {}): void {
    try {
      this.#follow();
    } catch {
      // The file that is open takes the line
    }
    this.#sink.write(`${JSON.stringify({ level, time: new Date().toISOString(), ...this.#base, ...fields, msg })}\n`);
  }

  /** A time in which the log took no lines: the supervisor's own, or a worker's up to its end. */
  tell({ lostLines, lateLines, from, to, reason }: LogOutage): void {
    const outage = { lostLines, lateLines, from, to, reason };
    this.write('warn', outageMessage(outage), outage);
  }

  /** The descriptor for the next worker's stdout and stderr, and where its lines begin; `ignore` when there is no file. */
  forWorker(): { readonly descriptor: number | 'ignore'; readonly from: LogPosition | undefined } {
    const output = this.forSpare();
    return { descriptor: output.descriptor, from: this.adopt(output) };
  }

  /** The descriptor for a worker that waits; until it is adopted it is nobody's. */
  forSpare(): WorkerOutput {
    this.#follow();
    const { descriptor } = this.#sink;
    if (descriptor === undefined) return { descriptor: 'ignore', reading: undefined };
    const reading = open(this.#path);
    return { descriptor, reading };
  }

  /** The worker of that output is the present one; gives where its lines begin. */
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

  /** The worker has ended: what was set aside for it may go. Throws what the file system throws; the rest is done by then. */
  workerEnded(): void {
    this.#cover();
    this.#forgetWorker();
    for (const name of ['held', 'rotated']) rmSync(`${this.#path}.${name}`, { force: true });
  }

  /** Looks after size and name of the file from now on. */
  watch(watch: LogWatch): void {
    this.#watch = watch;
    this.#look(this.#size(), LOOK_MS.most);
  }

  unwatch(): void {
    clearTimeout(this.#timer);
    this.#watch = undefined;
  }

  /** A host says that it has moved the file. */
  moved(): void {
    this.#sink.reopen();
    this.#watch?.onMoved();
  }

  /** Rotates when the file has grown over its limit; true when the worker has to open it anew. */
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

  /** The last lines since a position, oldest first: from the present file and the one before it, then what the worker's Node itself wrote at its end. */
  lastLines(count: number, from: LogPosition | undefined): readonly string[] {
    try {
      const raw = this.#rawLastWords(count);
      const lines = [...take(withoutFrames(this.#backwards(from)), count - raw.length)].reverse();
      // As one text: a key goes over several lines.
      return lines.length + raw.length === 0 ? [] : this.masked([...lines, ...raw].join('\n')).split('\n');
    } catch {
      return []; // the folder is gone
    }
  }

  /** The text without the secrets that a worker has told (T7). */
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

  /** Where the worker's descriptors are on a rotated file: the text at its end that is no line of a log. */
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

  /** T7. */
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
      // it could be opened for reading alone
    }
  }

  /** A look that fails is told, and followed by the next one. */
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

  /** The size, and after how long to look again. */
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

  /** Makes room for the next file under its name, keeping so many files with it. */
  #shift(maxFiles: number): void {
    const name = (n: number): string => (n === 0 ? this.#path : `${this.#path}.${n}`);
    for (let n = Math.max(1, maxFiles - 1); isFile(name(n)); n += 1) this.#drop(name(n));
    for (let n = maxFiles - 2; n >= 0; n -= 1) if (isFile(name(n))) renameSync(name(n), name(n + 1));
    if (maxFiles === 1) this.#drop(this.#path);
  }

  /** T3. Of one file alone the former stays until the next rotation: the worker's logger may be on its way to the new one. */
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

/** Half of the time in which the file is full at the pace of the last look, so that it never grows far over its limit. */
function untilHalfway(growth: { readonly left: number; readonly grown: number; readonly waitedMs: number }): number {
  const untilFullMs = (growth.left / Math.max(growth.grown, 1)) * growth.waitedMs;
  return Math.min(Math.max(untilFullMs / 2, LOOK_MS.least), LOOK_MS.most);
}

function open(path: string): number | undefined {
  for (const flags of [constants.O_RDWR, constants.O_RDONLY]) {
    try {
      return openSync(path, flags | constants.O_NONBLOCK); // a FIFO is not waited for
    } catch {
      // EMFILE; or a file of a folder that is read-only by now
    }
  }
  return undefined;
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
const isThere = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EEXIST';
