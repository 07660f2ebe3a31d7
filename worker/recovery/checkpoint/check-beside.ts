// Checks the copy of the database beside other work, in one thread: the search for secrets has the other core, and answers shall not wait for either.
// A small copy is not worth a thread.
import { statSync } from 'node:fs';
import { SvcError } from '../../../shared/svc-error.ts';
import { startThread } from '../../database/sqlite/start-thread.ts';
import { errorOf } from '../step-child.ts';
import type { FromCheck, ToCheck } from './check-thread.ts';
import { checkPages, type Digest, digestOf } from './checked-copy.ts';

const WORTH_A_THREAD_BYTES = 32 * 1_048_576;

export interface RunningCheck {
  /** Rejects with `database_corrupt`. */
  readonly result: Promise<Digest>;
  /** Gives it up. Resolves once nothing of it runs. */
  end(): Promise<void>;
}

/** `isMapped`: see `readingAll`. */
export function checkBeside(file: string, isMapped: boolean): RunningCheck {
  const running = statSync(file).size < WORTH_A_THREAD_BYTES ? checkHere(file) : checkInThread(file, isMapped);
  running.result.catch(() => {}); // whoever waits for it gets the error
  return running;
}

export const checkedBefore = (digest: Digest): RunningCheck => ({
  result: Promise.resolve(digest),
  end: () => Promise.resolve(),
});

function checkHere(file: string): RunningCheck {
  const check = (): Digest => {
    checkPages(file, false);
    return digestOf(file);
  };
  return { result: new Promise((resolve) => resolve(check())), end: () => Promise.resolve() };
}

function checkInThread(file: string, isMapped: boolean): RunningCheck {
  const here = import.meta.url;
  const entry = new URL(here.endsWith('.ts') ? './check-thread.ts' : './check-thread.js', here);
  const asked: ToCheck = { file, isMapped };
  const thread = startThread(entry, { name: 'check', workerData: asked });
  const result = new Promise<Digest>((resolve, reject) => {
    thread.on('message', (message: FromCheck) => {
      if (message.kind === 'done') resolve(message.digest);
      else reject(errorOf(message));
    });
    thread.on('error', reject);
    thread.on('exit', (code) =>
      reject(new SvcError('internal', `the thread that checks the copy of the database ended with ${code}`)),
    );
  });
  return { result, end: async () => void (await thread.terminate()) };
}
