// Copies the database of a running host, or of a stopped one, as it was at one moment. A child process copies (copy-child.ts).
//
//   COPY-1  All writing stands still while the snapshot begins, and goes on while it is copied.
//   COPY-2  The WAL is pinned from before the snapshot until it is copied. If the pin is lost, the copy is given up.
//   COPY-3  Once `copyDatabase` settles its child has ended, so nothing keeps the snapshot.
//   COPY-4  A failed copy leaves at most half a target, with files of SQLite beside it. The caller removes the folder.
import { statfsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Clock } from '../../../shared/time/clock.ts';
import type { LogPin, SnapshotWriter } from '../../database/unit.ts';
import { diedOf, type FailedStep, StepChild } from '../step-child.ts';
import type { Digest } from './checked-copy.ts';
import type { CopiedEvents, FromCopy, ToCopy } from './copy-child.ts';
import { roomFor } from './synced-copy.ts';

export interface CopyRequest {
  readonly file: string;
  /** A file that does not exist yet. */
  readonly target: string;
  /** Of the writer. More that is read inside is of the same moment. Left out: nobody writes. */
  readonly hold?: SnapshotWriter['hold'] | undefined;
  readonly pin?: (() => Promise<LogPin>) | undefined;
  /** Resolves when another reader of the moment has ended: the WAL stays pinned until then. */
  readonly otherReader?: (() => Promise<unknown>) | undefined;
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined;
  /** Called with the process that copies. */
  readonly onStart?: ((pid: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
}

export interface CopyProgress {
  readonly copiedBytes: number;
  readonly totalBytes: number;
}

export interface DatabaseCopy {
  readonly digest: Digest;
  readonly ms: number;
  /** How long nothing was committed, with the wait for the groups that were under way. */
  readonly holdMs: number;
  readonly events: CopiedEvents;
}

/** Of a copy that makes no progress; 64 MiB are synced in this time on every disk that a host can use. */
export const STILL_MS = 120_000;

/**
 * Throws SvcError: `storage_unavailable` without room or after a failed write, `refused` without a WAL, `timeout`, `overloaded` if the WAL grew too
 * long, `database_corrupt`, `internal` if the process was killed. An aborted signal throws its reason.
 */
export async function copyDatabase(request: CopyRequest): Promise<DatabaseCopy> {
  const { file, target, hold = (work) => work(NEVER), signal } = request;
  const startedAt = performance.now();
  signal?.throwIfAborted();
  refuseWithoutRoom(file, target);
  const child = startChild(request);
  let pin: LogPin | undefined;
  try {
    child.endOn(signal);
    pin = await request.pin?.();
    child.endOn(pin?.lost);
    await child.ask({ kind: 'open', file, target, isWritten: request.hold !== undefined }, 'opened', STILL_MS);
    const heldAt = performance.now();
    const { events } = await hold(() => child.ask({ kind: 'begin' }, 'begun'));
    const holdMs = performance.now() - heldAt;
    await child.ask({ kind: 'copy' }, 'copied', STILL_MS);
    await request.otherReader?.();
    await pin?.release();
    const { digest } = await child.answer('done');
    return { digest, ms: performance.now() - startedAt, holdMs, events };
  } finally {
    await child.end();
    await pin?.release();
  }
}

const NEVER = new AbortController().signal;

/** The rest of the disk is not filled to the last byte. */
function refuseWithoutRoom(file: string, target: string): void {
  const needed = Math.ceil(roomFor(file) * 1.1);
  const { bavail, bsize } = statfsSync(dirname(target));
  if (bavail * bsize >= needed) return;
  const mib = (count: number): string => `${Math.ceil(count / 1_048_576).toLocaleString('en')} MiB`;
  throw new SvcError(
    'storage_unavailable',
    `there is no room for a copy of ${basename(file)}: ${mib(needed)} are needed, ${mib(bavail * bsize)} are free`,
    {
      hint: 'free disk space where .svc/checkpoints/ lies, or remove checkpoints: svc checkpoint prune',
    },
  );
}

type CopyAnswer = Exclude<FromCopy, FailedStep>;

function startChild({ onProgress, onStart, clock }: CopyRequest): StepChild<ToCopy, CopyAnswer> {
  const here = import.meta.url;
  const child = new StepChild<ToCopy, CopyAnswer>({
    entry: new URL(here.endsWith('.ts') ? './copy-child.ts' : './copy-child.js', here),
    died: diedOf('that copies the database'),
    still,
    onMessage: (message) => void (message.kind === 'progress' && onProgress?.(message)),
    clock,
  });
  if (child.pid !== undefined) onStart?.(child.pid);
  return child;
}

const still = (ms: number): SvcError =>
  new SvcError('timeout', `the copy of the database made no progress for ${ms / 1_000} s`, {
    hint: 'check the disk that the copy is written to (dmesg)',
  });
