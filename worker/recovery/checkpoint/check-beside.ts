// Checks the copy of the database beside other work: its pages in one thread, its digest in another. A small one is not worth
// a thread.
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
  const running = statSync(file).size < WORTH_A_THREAD_BYTES ? checkHere(file) : checkInThreads(file, isMapped);
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

function checkInThreads(file: string, isMapped: boolean): RunningCheck {
  const pages = inThread({ work: 'pages', file, isMapped });
  const digest = inThread({ work: 'digest', file, isMapped });
  const both = Promise.all([pages.result, digest.result]);
  return {
    result: both.then(([, found]) => {
      if (found === undefined) throw new SvcError('internal', 'the copy of the database has no digest');
      return found;
    }),
    end: async () => void (await Promise.all([pages.end(), digest.end()])),
  };
}

function inThread(work: ToCheck) {
  const here = import.meta.url;
  const entry = new URL(here.endsWith('.ts') ? './check-thread.ts' : './check-thread.js', here);
  const thread = startThread(entry, { name: 'check', workerData: work });
  const result = new Promise<Digest | undefined>((resolve, reject) => {
    thread.on('message', (message: FromCheck) => {
      if (message.kind === 'done') resolve(message.digest);
      else reject(errorOf(message));
    });
    thread.on('error', reject);
    thread.on('exit', (code) =>
      reject(new SvcError('internal', `the thread that checks the copy of the database ended with ${code}`)),
    );
  });
  return { result, end: () => thread.terminate() };
}
