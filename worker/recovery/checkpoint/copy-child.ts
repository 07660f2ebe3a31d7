// Entry: copies the database as it was at one moment, in a process of its own, since copying and checking would stop a host's event loop for seconds.
//
//   COPY-CHILD-1  The parent holds the writer from `begin` to `begun`. The read transaction that begins there fixes the moment.
//   COPY-CHILD-2  SQLite's backup interface copies what the connection sees. With a read transaction open that is its snapshot, whatever is
//                 committed meanwhile. Without one each commit of another process would begin the copy anew.
//   COPY-CHILD-3  The target is synced while it is written, since the WAL grows until all is copied, and a checkpoint of a long WAL holds up the writer.
//   COPY-CHILD-4  The copy is one file without a WAL, synced and of the moment before `done`. Its pages are checked by whoever keeps it.
//   COPY-CHILD-5  The process ends with its parent. Priority is lowered after the moment, so that a busy machine does not prolong the hold.
import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../../../shared/files/atomic-file.ts';
import { lowerPriority } from '../../../shared/process/low-priority.ts';
import type { Database } from '../../../shared/sqlite.ts';
import { coerceError, SvcError } from '../../../shared/svc-error.ts';
import { openCopy, openToCopy, sqliteCode } from '../../database/sqlite/connection.ts';
import { storageFault } from '../../database/storage-fault.ts';
import { type FailedStep, failedStep } from '../step-child.ts';
import { TargetSync } from './target-sync.ts';

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
  | { readonly kind: 'done'; readonly bytes: number }
  | FailedStep;

const TELL_EACH_BYTES = 64 * 1_048_576;
const STEP_BYTES = 1_048_576;

let source: Database;
let target: string;
let events: CopiedEvents;

process.on('disconnect', () => process.exit(1));
process.on('message', (message: ToCopy) => {
  serve(message).catch((error: unknown) => tell(failedStep(explained(error))));
});

const tell = (message: FromCopy): void => void process.send?.(message);

async function serve(message: ToCopy): Promise<void> {
  if (message.kind === 'open') {
    target = message.target;
    source = openToCopy(message.file);
    if (message.isWritten && source.pragma('journal_mode', { simple: true }) !== 'wal') throw withoutLog();
    eventsIn(source); // loads the schema before the hold
    return tell({ kind: 'opened' });
  }
  if (message.kind === 'begin') {
    source.exec('BEGIN');
    events = eventsIn(source);
    return tell({ kind: 'begun', events });
  }
  lowerPriority();
  await copy();
  tell({ kind: 'copied' });
  tell({ kind: 'done', ...finish() });
}

async function copy(): Promise<void> {
  const pageBytes = Number(source.pragma('page_size', { simple: true }));
  let sync: TargetSync | undefined;
  let toldBytes = 0;
  await source.backup(target, {
    progress: ({ totalPages, remainingPages }) => {
      const copiedBytes = (totalPages - remainingPages) * pageBytes;
      sync ??= new TargetSync(target);
      sync.copied(copiedBytes);
      if (copiedBytes - toldBytes >= TELL_EACH_BYTES) {
        toldBytes = copiedBytes;
        tell({ kind: 'progress', copiedBytes, totalBytes: totalPages * pageBytes });
      }
      return Math.ceil(STEP_BYTES / pageBytes);
    },
  });
  source.close();
  await sync?.end(); // not earlier: a close drops SQLite's POSIX locks of the file
}

function finish(): { readonly bytes: number } {
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
  return { bytes: statSync(target).size };
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
