// Entry: copies the database as it was at one moment, in a process of its own, since copying and checking would stop a host's event loop for seconds.
//
//   COPY-CHILD-1  The parent holds the writer from `begin` to `begun`. The read transaction that begins there fixes the moment.
//   COPY-CHILD-2  The bytes of the database file are copied, and of the WAL what was committed at the moment: SQLite would take twice the time to copy
//                 pages. The snapshot keeps the WAL from being begun anew. A WAL checkpoint meanwhile writes only pages that stand in that part of
//                 the WAL, so it does not matter whether the copy of the file has them.
//   COPY-CHILD-3  The target is synced while it is written, since the WAL grows until all is copied, and a checkpoint of a long WAL holds up the writer.
//   COPY-CHILD-4  SQLite brings the copied part of the WAL over into the copy. It is one file without a WAL, synced, of the moment, and its pages are
//                 checked before `done`. The writer does not wait for that.
//   COPY-CHILD-5  The process ends with its parent. Priority is lowered after the moment, so that a busy machine does not prolong the hold.
import { closeSync, fstatSync, fsyncSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { lowerPriority } from '../../../shared/process/low-priority.ts';
import type { Database } from '../../../shared/sqlite.ts';
import { coerceError, SvcError } from '../../../shared/svc-error.ts';
import { openCopy, openToCopy, sqliteCode } from '../../database/sqlite/connection.ts';
import { logOf } from '../../database/sqlite/wal/log-file.ts';
import { FRAME_HEADER_BYTES, LOG_HEADER_BYTES } from '../../database/sqlite/wal/log-format.ts';
import { storageFault } from '../../database/storage-fault.ts';
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

let source: Database;
let file: string;
let target: string;
let events: CopiedEvents;
/** As it is read from the moment on. Closed once SQLite has closed the source: a close drops SQLite's POSIX locks. */
let pages: number;
/** What only the WAL had at the moment. Undefined: nothing. */
let log: { readonly descriptor: number; readonly bytes: number; readonly header: Buffer } | undefined;

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
    const bytes = bytesOfLog();
    source.exec('BEGIN');
    events = eventsIn(source);
    pages = openSync(file, 'r');
    if (bytes > 0) {
      const descriptor = openSync(logOf(file), 'r');
      log = { descriptor, bytes, header: headerOf(descriptor) };
    }
    return tell({ kind: 'begun', events });
  }
  lowerPriority();
  await copy();
  tell({ kind: 'copied' });
  bringTogether();
  tell({ kind: 'done', digest: await checkBeside(target, true).result });
}

/** Nothing where all was brought over: the next commit begins the WAL anew. */
function bytesOfLog(): number {
  const [state] = source.pragma('wal_checkpoint(NOOP)') as [{ readonly log: number; readonly checkpointed: number }];
  if (state.log <= 0 || state.checkpointed === state.log) return 0;
  return LOG_HEADER_BYTES + state.log * (FRAME_HEADER_BYTES + Number(source.pragma('page_size', { simple: true })));
}

function headerOf(descriptor: number): Buffer {
  const header = Buffer.alloc(LOG_HEADER_BYTES);
  readSync(descriptor, header, 0, LOG_HEADER_BYTES, 0);
  return header;
}

async function copy(): Promise<void> {
  if (log !== undefined) {
    const { descriptor, bytes, header } = log;
    const copied = await copyOpened({ descriptor, bytes, target: logOf(target) });
    if (copied < bytes || !headerOf(descriptor).equals(header)) throw damaged('its WAL was begun anew');
  }
  const totalBytes = fstatSync(pages).size;
  let toldBytes = 0;
  await copyOpened({
    descriptor: pages,
    bytes: totalBytes,
    target,
    onProgress: (copiedBytes) => {
      if (copiedBytes - toldBytes < TELL_EACH_BYTES) return;
      toldBytes = copiedBytes;
      tell({ kind: 'progress', copiedBytes, totalBytes });
    },
  });
  source.close();
  closeSync(pages);
  if (log !== undefined) closeSync(log.descriptor);
}

function bringTogether(): void {
  const copied = openCopy(target);
  try {
    const { epoch, head, oldest } = eventsIn(copied);
    if (epoch !== events.epoch || head !== events.head || oldest !== events.oldest)
      throw damaged(
        `its history is ${epoch} ${oldest}-${head}, that of the moment was ${events.epoch} ${events.oldest}-${events.head}`,
      );
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

const damaged = (fault: string): SvcError =>
  new SvcError('database_corrupt', `the copy of the database is damaged: ${fault}`, {
    hint: 'check the database with `svc doctor`, and the disk of the copy',
  });

function explained(error: unknown): SvcError {
  const isOfStorage = sqliteCode(error) !== undefined || (error as NodeJS.ErrnoException | null)?.syscall !== undefined;
  if (!isOfStorage) return coerceError(error);
  const { message, hint } = storageFault(error);
  return new SvcError('storage_unavailable', `the database could not be copied: ${message}`, { hint });
}
