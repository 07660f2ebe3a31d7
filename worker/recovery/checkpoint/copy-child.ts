// Entry: copies the database as it was at one moment, in a process of its own, since copying and checking would stop a host's event loop for seconds.
//
//   COPY-CHILD-1  The parent holds the writer from `begin` to `begun`. The read transaction that begins there fixes the moment. How long the WAL is stands
//                 before it, since SQLite tells that outside a transaction alone. A commit of another program between both begins it anew.
//   COPY-CHILD-2  The bytes of the database file are copied, and the WAL up to the moment: SQLite would take twice the time to copy pages. The snapshot
//                 keeps that part of the WAL as it is. A checkpoint of the WAL meanwhile writes only pages that stand in it, so it does not matter
//                 whether the copy of the file has them. Where all of the WAL was brought over before, it is begun anew by the next commit. Then
//                 the snapshot keeps the file as it is, and the WAL is not copied.
//   COPY-CHILD-3  The target is synced while it is written, since the WAL grows until all is copied, and a checkpoint of a long WAL holds up the writer.
//   COPY-CHILD-4  SQLite brings the copied WAL over into the copied file. It leaves out what follows a frame with a wrong checksum, without an error. So
//                 the frames are counted. The copy is one file without a WAL, synced and with its pages checked, before `done`. Nobody waits for
//                 that from `copied` on.
//   COPY-CHILD-5  The process ends with its parent. Priority is lowered after the moment, so that a busy machine does not prolong the hold.
import { closeSync, fstatSync, fsyncSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { lowerPriority } from '../../../shared/process/low-priority.ts';
import type { Database } from '../../../shared/sqlite.ts';
import { coerceError, messageOf, SvcError } from '../../../shared/svc-error.ts';
import { isDamage, openCopy, openToCopy, sqliteCode } from '../../database/sqlite/connection.ts';
import { logState, versionOf } from '../../database/sqlite/wal/checkpoint.ts';
import { logOf } from '../../database/sqlite/wal/log-file.ts';
import { FRAME_HEADER_BYTES, LOG_HEADER_BYTES } from '../../database/sqlite/wal/log-format.ts';
import { isFull, storageFault } from '../../database/storage-fault.ts';
import { type FailedStep, failedStep } from '../step-child.ts';
import { checkBeside } from './check-beside.ts';
import type { Digest } from './checked-copy.ts';
import { copyOpened } from './synced-copy.ts';

export type ToCopy =
  | { readonly kind: 'open'; readonly file: string; readonly target: string; readonly isWritten: boolean }
  | { readonly kind: 'begin' }
  | { readonly kind: 'copy' };

/** Position of the history, as the snapshot has it. */
export interface CopiedEvents {
  readonly epoch: string;
  readonly head: number;
  readonly oldest: number;
}

export type FromCopy =
  | { readonly kind: 'opened' }
  | { readonly kind: 'begun'; readonly events: CopiedEvents }
  | { readonly kind: 'progress'; readonly copiedBytes: number; readonly totalBytes: number }
  /** The snapshot is no longer needed. */
  | { readonly kind: 'copied' }
  | { readonly kind: 'done'; readonly digest: Digest }
  | FailedStep;

const TELL_EACH_BYTES = 64 * 1_048_576;

interface CopiedLog {
  readonly descriptor: number;
  readonly frames: number;
  readonly bytes: number;
  /** Another one once the WAL was begun anew. */
  readonly header: Buffer;
}

let source: Database;
let file: string;
let target: string;
let events: CopiedEvents;
/** Descriptor of the database file. Closed once SQLite has closed the source: a close drops SQLite's POSIX locks. */
let pages: number;
/** The WAL up to the moment. Undefined: all of it is in the database file. */
let log: CopiedLog | undefined;

process.on('disconnect', () => process.exit(1));
process.on('message', (message: ToCopy) => {
  serve(message).catch((error: unknown) => tell(failedStep(explained(error))));
});

const tell = (message: FromCopy): void => void process.send?.(message);

async function serve(message: ToCopy): Promise<void> {
  if (message.kind === 'open') {
    ({ file, target } = message);
    source = openToCopy(file);
    if (message.isWritten && source.pragma('journal_mode', { simple: true }) !== 'wal') throw withoutLog();
    eventsIn(source); // loads the schema before the hold
    return tell({ kind: 'opened' });
  }
  if (message.kind === 'begin') {
    const frames = beginSnapshot();
    pages = openSync(file, 'r');
    if (frames > 0) log = openLog(frames);
    return tell({ kind: 'begun', events });
  }
  lowerPriority();
  await copy();
  tell({ kind: 'copied' });
  bringTogether();
  tell({ kind: 'done', digest: await checkBeside(target, true).result });
}

/** Returns the frames of the WAL that belong to the snapshot, 0 where all of them are in the database file. */
function beginSnapshot(): number {
  for (;;) {
    const before = versionOf(source);
    const { log: frames, checkpointed } = logState(source);
    source.exec('BEGIN');
    events = eventsIn(source);
    if (versionOf(source) === before) return frames === checkpointed ? 0 : Math.max(0, frames);
    source.exec('ROLLBACK');
  }
}

function openLog(frames: number): CopiedLog {
  const descriptor = openSync(logOf(file), 'r');
  const pageBytes = Number(source.pragma('page_size', { simple: true }));
  const bytes = LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes);
  return { descriptor, frames, bytes, header: headerOf(descriptor) };
}

function headerOf(descriptor: number): Buffer {
  const header = Buffer.alloc(LOG_HEADER_BYTES);
  readSync(descriptor, header, 0, LOG_HEADER_BYTES, 0);
  return header;
}

async function copy(): Promise<void> {
  const logBytes = log?.bytes ?? 0;
  const fileBytes = fstatSync(pages).size;
  const progress = (before: number): ((copied: number) => void) => {
    let toldBytes = 0;
    return (copied) => {
      if (copied - toldBytes < TELL_EACH_BYTES) return;
      toldBytes = copied;
      tell({ kind: 'progress', copiedBytes: before + copied, totalBytes: logBytes + fileBytes });
    };
  };
  if (log !== undefined) {
    const { descriptor, bytes, header } = log;
    const copied = await copyOpened({ descriptor, bytes, target: logOf(target), onProgress: progress(0) });
    if (copied < bytes || !headerOf(descriptor).equals(header)) throw otherLog();
  }
  await copyOpened({ descriptor: pages, bytes: fileBytes, target, onProgress: progress(logBytes) });
  source.close();
  closeSync(pages);
  if (log !== undefined) closeSync(log.descriptor);
}

function bringTogether(): void {
  const copied = openCopy(target, log?.frames);
  try {
    const { epoch, head, oldest } = eventsIn(copied);
    if (epoch !== events.epoch || head !== events.head || oldest !== events.oldest)
      throw damaged(
        `its history is ${epoch} ${oldest}-${head}, that of the moment was ${events.epoch} ${events.oldest}-${events.head}`,
      );
  } catch (error) {
    throw isDamage(error) ? damaged(messageOf(error)) : error;
  } finally {
    copied.close();
  }
  const descriptor = openSync(target, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
  syncFolder(dirname(target));
}

function eventsIn(database: Database): CopiedEvents {
  const text = (sql: string): unknown => database.prepare(sql).pluck().get();
  return {
    epoch: String(text("SELECT value FROM meta WHERE key = 'epoch'") ?? ''),
    head: Number(text("SELECT value FROM counters WHERE name = 'event'")),
    oldest: Number(text("SELECT value FROM counters WHERE name = 'event_oldest'")),
  };
}

/** Without a WAL a reader blocks every commit. */
const withoutLog = (): SvcError =>
  new SvcError('refused', 'the database has no WAL here, so it cannot be copied while the host writes', {
    hint: 'stop the host and make the checkpoint then, or move the project to a local disk',
  });

/** By a program that does not keep to the locks of SQLite. */
const otherLog = (): SvcError =>
  new SvcError('conflict', 'another program has cut or replaced the WAL of the database while it was copied', {
    hint: 'make the checkpoint again; end whatever else writes the files of the database',
  });

const damaged = (fault: string): SvcError =>
  new SvcError('database_corrupt', `the copy of the database is damaged: ${fault}`, {
    hint: 'check the database with `svc doctor`, and the disk of the copy',
  });

function explained(error: unknown): SvcError {
  const isOfStorage = sqliteCode(error) !== undefined || (error as NodeJS.ErrnoException | null)?.syscall !== undefined;
  if (!isOfStorage) return coerceError(error);
  const { message, hint } = isFull(error)
    ? {
        message: 'the disk is full',
        hint: 'free disk space where .svc/checkpoints/ lies, or remove checkpoints: svc checkpoint prune',
      }
    : storageFault(error);
  return new SvcError('storage_unavailable', `the database could not be copied: ${message}`, { hint });
}
