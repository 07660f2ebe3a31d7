// A checkpoint of the running host: the database is copied, examined and the rest completed in processes of their own; the writer is held for a
// moment alone.
//
//   MAKE-RUNNING-1  One process copies what was committed at the moment, another one counts it and searches it for secrets beside that: the copy waits
//                   for the disk. Both begin their snapshot while the writer is held.
//   MAKE-RUNNING-2  The WAL is pinned until both snapshots have ended.
import { SvcError } from '../../../shared/svc-error.ts';
import type { LogPin, SnapshotWriter } from '../../database/unit.ts';
import { type FailedStep, StepChild } from '../step-child.ts';
import { copyDatabase } from './copy-database.ts';
import type { Finished, FinishOptions } from './finish-checkpoint.ts';
import type { FromFinish, ToFinish } from './finish-child.ts';
import { type CopyStep, type Made, type MakeOptions, makeCheckpoint } from './make-checkpoint.ts';

export interface RunningOptions extends Omit<MakeOptions, 'copy' | 'finish'> {
  readonly writer: SnapshotWriter;
  readonly maxLogBytes: number;
  /** Gives the checkpoint up. */
  readonly signal: AbortSignal;
}

/** Throws as `makeCheckpoint`, `overloaded` if the log grew too long, and the reason of the signal. */
export async function makeRunning({ writer, maxLogBytes, signal, ...options }: RunningOptions): Promise<Made> {
  const child = startChild(); // its start goes on beside that of the copy
  child.endOn(signal);
  const open: ToFinish = { kind: 'open', file: options.database, secrets: [...options.secrets.values, options.key] };
  const opened = child.ask(open, 'opened');
  opened.catch(() => {}); // told to the copy
  const pin = async (): Promise<LogPin> => {
    await opened;
    const pinned = await writer.pinLog({ maxBytes: maxLogBytes });
    child.endOn(pinned.lost);
    return pinned;
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
      otherReader: () => child.answer('examined'),
      onProgress: ({ copiedBytes, totalBytes }) => onProgress(copiedBytes, totalBytes),
      signal,
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

function startChild(): StepChild<ToFinish, Exclude<FromFinish, FailedStep>> {
  const here = import.meta.url;
  return new StepChild({
    entry: new URL(here.endsWith('.ts') ? './finish-child.ts' : './finish-child.js', here),
    died: (how) =>
      new SvcError('internal', `the process that completes the checkpoint ended: ${how}`, {
        hint: 'nothing is harmed: make it again, and look for what ends processes (memory, dmesg)',
      }),
  });
}
