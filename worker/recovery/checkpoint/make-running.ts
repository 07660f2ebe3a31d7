// A checkpoint of the running host: the database is copied, examined and the rest completed in processes of their own; the writer is held for a
// moment alone.
//
//   MAKE-RUNNING-1  One process copies what was committed at the moment, another one counts it and searches it for secrets beside that: the copy waits
//                   for the disk. Both begin their snapshot while the writer is held.
//   MAKE-RUNNING-2  The WAL is pinned until both snapshots have ended. The examination may keep it for LONGEST_EXAMINATION_MS beyond the copy, so that a
//                   slow one does not let the WAL grow too long. Then it is given up, and the finished copy is examined.
import { SvcError } from '../../../shared/svc-error.ts';
import { systemClock } from '../../../shared/time/clock.ts';
import type { LogPin, SnapshotWriter } from '../../database/unit.ts';
import { diedOf, type FailedStep, StepChild } from '../step-child.ts';
import { copyDatabase, STILL_MS } from './copy-database.ts';
import type { Finished, FinishOptions } from './finish-checkpoint.ts';
import type { FromFinish, ToFinish } from './finish-child.ts';
import { type CopyStep, type Made, type MakeOptions, makeCheckpoint } from './make-checkpoint.ts';

export interface RunningOptions extends Omit<MakeOptions, 'copy' | 'finish'> {
  readonly writer: SnapshotWriter;
  readonly maxLogBytes: number;
  /** Gives the checkpoint up. */
  readonly signal: AbortSignal;
  readonly longestExaminationMs?: number;
}

const LONGEST_EXAMINATION_MS = 10_000;

/** Throws as `makeCheckpoint`, `overloaded` if the log grew too long, and the reason of the signal. */
export async function makeRunning({
  writer,
  maxLogBytes,
  signal,
  longestExaminationMs = LONGEST_EXAMINATION_MS,
  ...options
}: RunningOptions): Promise<Made> {
  let child = startChild(signal); // its start goes on beside that of the copy
  const open: ToFinish = { kind: 'open', file: options.database, secrets: [...options.secrets.values, options.key] };
  const opened = child.ask(open, 'opened', STILL_MS);
  opened.catch(() => {}); // told to the copy
  const pin = async (): Promise<LogPin> => {
    await opened;
    const pinned = await writer.pinLog({ maxBytes: maxLogBytes });
    child.endOn(pinned.lost);
    return pinned;
  };
  const examined = async (): Promise<void> => {
    if (await inTime(child.answer('examined'), longestExaminationMs)) return;
    await child.end();
    child = startChild(signal);
  };
  const copy = ({ target, atBarrier, onProgress }: CopyStep) =>
    copyDatabase({
      file: options.database,
      target,
      hold: (work) =>
        writer.hold(async (ended) => {
          const begun = child.ask({ kind: 'begin' }, 'begun');
          const [answer] = await Promise.all([work(ended), begun, atBarrier()]);
          return answer;
        }),
      pin,
      otherReader: examined,
      onProgress: ({ copiedBytes, totalBytes }) => onProgress(copiedBytes, totalBytes),
      signal,
    }).catch(async (error: unknown) => {
      await child.end(); // the folder is removed next, and others may make one
      throw error;
    });
  // Ended before the folder is removed and the lock released: it writes into that folder.
  const finish = async (finishing: FinishOptions): Promise<Finished> => {
    try {
      return (await child.ask({ kind: 'finish', options: finishing }, 'done')).finished;
    } finally {
      await child.end();
    }
  };
  try {
    return await makeCheckpoint({ ...options, copy, finish });
  } finally {
    await child.end();
  }
}

/** Whether it resolves within the time. */
async function inTime(answer: Promise<unknown>, ms: number): Promise<boolean> {
  let end = (): void => {};
  const late = new Promise<false>((resolve) => {
    const timer = systemClock.after(ms, () => resolve(false));
    end = () => timer.cancel();
  });
  return Promise.race([answer.then(() => true as const), late]).finally(end);
}

function startChild(signal: AbortSignal): StepChild<ToFinish, Exclude<FromFinish, FailedStep>> {
  const here = import.meta.url;
  const child = new StepChild<ToFinish, Exclude<FromFinish, FailedStep>>({
    entry: new URL(here.endsWith('.ts') ? './finish-child.ts' : './finish-child.js', here),
    died: diedOf('that completes the checkpoint'),
    still: (ms) =>
      new SvcError('timeout', `the database could not be opened for a checkpoint within ${ms / 1_000} s`, {
        hint: 'check the disk of the database (dmesg)',
      }),
  });
  child.endOn(signal);
  return child;
}
