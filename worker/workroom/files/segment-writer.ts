// Appends events to the last segment of the journal, and answers after the sync.
//
//   SEGMENT-1  Data of a failed sync is never synced again: the kernel may have marked its pages as clean. The segment is written anew, from the
//              bytes that an earlier sync has answered for.
//   SEGMENT-2  Nothing is appended to a file that another process has changed, or that is no longer the file at its path.
//   SEGMENT-3  The name of a new segment is synced with its first events.
//   SEGMENT-4  A segment that loses words is whole beside the old one, and synced, before it takes its name. Nothing is appended to it before that
//              name is synced too.
import { renameSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { type Failpoint, noFailpoint } from '../../../shared/process/failpoints.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { WorkroomEventsTable } from '../../database/tables.ts';
import { withoutTexts } from './erasures.ts';
import { headerLine, recordLine, segmentName } from './record.ts';
import {
  lookAt,
  type Placed,
  type PlacedWhole,
  removeLeftovers,
  type Segment,
  writeAnew,
  writeBeside,
} from './segments.ts';

/** A segment of so many bytes gets no more events. */
export const SEALED_BYTES = 8 * 1024 * 1024;
const PRIVATE = 0o600;

/** What the files hold, up to the last sync. */
export interface Tail {
  readonly seq: number;
  readonly hash: string;
  /** Undefined: the next event begins one. */
  readonly segment: { readonly first: number; readonly bytes: number } | undefined;
}

export interface SegmentsOptions {
  readonly folder: string;
  readonly project: string;
  readonly point?: Failpoint;
  /** Default 8 MiB. */
  readonly sealedBytes?: number;
}

export class SegmentWriter {
  readonly #options: Required<SegmentsOptions>;
  #tail: Tail;
  #file: FileHandle | undefined;
  #hasFailed = false;
  /** SEGMENT-2. A start looks at the files again. */
  #foreign: SvcError | undefined;

  constructor(options: SegmentsOptions, tail: Tail) {
    this.#options = { point: noFailpoint, sealedBytes: SEALED_BYTES, ...options };
    this.#tail = tail;
  }

  get tail(): Tail {
    return this.#tail;
  }

  /**
   * Appends events that follow the tail, as many as one segment takes. They are on the disk when this returns. After an error, `mend` has to be
   * called first.
   */
  async append(events: readonly WorkroomEventsTable[]): Promise<readonly Placed[]> {
    if (this.#hasFailed) throw new Error('the last append failed');
    const { folder, project, point, sealedBytes } = this.#options;
    const { segment: last } = this.#tail;
    const isNew = last === undefined || last.bytes >= sealedBytes;
    const first = isNew ? this.#tail.seq + 1 : last.first;
    const lines: Buffer[] = isNew ? [Buffer.from(headerLine({ project, first, prev: this.#tail.hash }))] : [];
    let bytes = isNew ? (lines[0]?.length ?? 0) : last.bytes;
    const placed: PlacedWhole[] = [];
    for (const event of events) {
      if (bytes >= sealedBytes) break;
      const line = recordLine(event);
      placed.push({ event, segment: first, offset: bytes, bytes: line.length });
      lines.push(line);
      bytes += line.length;
    }
    this.#hasFailed = true; // until the sync has answered
    if (FAILPOINTS) await point('workroom.append');
    const file = await this.#open(first, isNew);
    const content = Buffer.concat(lines);
    if (FAILPOINTS) await file.write(content.subarray(0, content.length >> 1));
    if (FAILPOINTS) await point('workroom.half');
    await file.appendFile(FAILPOINTS ? content.subarray(content.length >> 1) : content);
    if (FAILPOINTS) await point('workroom.sync');
    await file.datasync();
    if (isNew) syncFolder(folder);
    this.#hasFailed = false;
    const event = placed.at(-1)?.event;
    this.#tail = {
      seq: event?.seq ?? this.#tail.seq,
      hash: event?.hash ?? this.#tail.hash,
      segment: { first, bytes },
    };
    if (FAILPOINTS) await point('workroom.synced');
    return placed;
  }

  async #open(first: number, isNew: boolean): Promise<FileHandle> {
    const path = this.#path(first);
    if (isNew) {
      await this.close();
      this.#file = await open(path, 'ax', PRIVATE);
      return this.#file;
    }
    this.#file ??= await open(path, 'a', PRIVATE);
    const { size, ino } = await this.#file.stat();
    if (size !== this.#tail.segment?.bytes || statSync(path, { throwIfNoEntry: false })?.ino !== ino)
      throw (this.#foreign = new SvcError('journal_damaged', `${path} was changed by another program`, {
        hint: 'svc workroom verify tells what is wrong; a start of the host looks at the files again',
      }));
    return this.#file;
  }

  /** Writes a segment anew without the texts of these events. Returns where its events lie now. After an error, `mend` has to be called first. */
  async clearTexts(first: number, seqs: ReadonlySet<number>): Promise<readonly Placed[]> {
    if (this.#hasFailed) throw new Error('the last write failed');
    const { folder, point } = this.#options;
    const path = this.#path(first);
    const isLast = this.#tail.segment?.first === first;
    if (isLast) await this.#open(first, false); // throws if it is another file
    removeLeftovers(folder);
    const { content, placed, hasChanged } = await withoutTexts({ first, path }, seqs);
    if (!hasChanged) {
      syncFolder(folder); // the name may be of an attempt that failed
      return placed;
    }
    if (FAILPOINTS) await point('workroom.erase');
    const part = writeBeside(path, content);
    if (FAILPOINTS) await point('workroom.erase.written');
    if (isLast) await this.close();
    this.#hasFailed = isLast;
    renameSync(part, path);
    if (isLast) this.#tail = { ...this.#tail, segment: { first, bytes: content.length } };
    syncFolder(folder);
    this.#hasFailed = false;
    return placed;
  }

  /** Makes the files what the last sync has answered for (SEGMENT-1). Throws if they are not, or the disk fails again. */
  async mend(): Promise<void> {
    if (this.#foreign !== undefined) throw this.#foreign;
    if (!this.#hasFailed) return;
    await this.close();
    const { segment, seq } = this.#tail;
    const { folder, sealedBytes } = this.#options;
    if (segment === undefined || segment.bytes >= sealedBytes) {
      rmSync(this.#path(seq + 1), { force: true });
      syncFolder(folder);
    } else this.#writeSynced({ first: segment.first, path: this.#path(segment.first) }, segment.bytes);
    this.#hasFailed = false;
  }

  #writeSynced(segment: Segment, bytes: number): void {
    const { path } = segment;
    const { placed, content } = lookAt(segment);
    const synced = placed.filter((one) => one.offset + one.bytes <= bytes);
    const last = synced.at(-1);
    if (last === undefined || last.offset + last.bytes !== bytes || last.event.hash !== this.#tail.hash)
      throw changed(path);
    writeAnew(path, content.subarray(0, bytes));
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => {}); // the data was synced, or is written anew
  }

  #path(first: number): string {
    return join(this.#options.folder, segmentName(first));
  }
}

const changed = (path: string): SvcError =>
  new SvcError('journal_damaged', `${path} does not hold what was synced to it`, {
    hint: 'svc workroom verify tells what is missing',
  });
