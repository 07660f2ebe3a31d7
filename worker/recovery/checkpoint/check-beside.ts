// Checks the copy of the database beside the search for secrets, which takes as long. A small one is not worth a thread.
import { statSync } from 'node:fs';
import type { ErrorCode } from '../../../shared/error-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { startThread } from '../../database/sqlite/start-thread.ts';
import type { FromCheck } from './check-thread.ts';
import { type CheckedCopy, checkedCopy } from './checked-copy.ts';

const WORTH_A_THREAD_BYTES = 32 * 1_048_576;

export interface RunningCheck {
  /** Rejects with `database_corrupt`. */
  readonly result: Promise<CheckedCopy>;
  /** Gives it up. Resolves once nothing of it runs. */
  end(): Promise<void>;
}

export function checkBeside(file: string): RunningCheck {
  const running = statSync(file).size < WORTH_A_THREAD_BYTES ? checkHere(file) : checkInThread(file);
  running.result.catch(() => {}); // whoever waits for it gets the error
  return running;
}

function checkHere(file: string): RunningCheck {
  return { result: new Promise((resolve) => resolve(checkedCopy(file))), end: () => Promise.resolve() };
}

function checkInThread(file: string): RunningCheck {
  const here = import.meta.url;
  const entry = new URL(here.endsWith('.ts') ? './check-thread.ts' : './check-thread.js', here);
  const thread = startThread(entry, { name: 'check', workerData: file });
  const result = new Promise<CheckedCopy>((resolve, reject) => {
    thread.on('message', (message: FromCheck) => {
      if (message.kind === 'done') return resolve({ bytes: message.bytes, sha256: message.sha256 });
      const { code, message: text, hint } = message;
      reject(new SvcError(code as ErrorCode, text, hint === undefined ? {} : { hint }));
    });
    thread.on('error', reject);
    thread.on('exit', (code) =>
      reject(new SvcError('internal', `the thread that checks the copy of the database ended with ${code}`)),
    );
  });
  return { result, end: () => thread.terminate().then(() => {}) };
}
