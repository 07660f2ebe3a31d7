// Entry: checks the copy of a large database in a thread of its own. What is wrong is an answer, not an end.
import { parentPort, workerData } from 'node:worker_threads';
import { coerceError } from '../../../shared/svc-error.ts';
import { type CheckedCopy, checkedCopy } from './checked-copy.ts';

export type FromCheck =
  | ({ readonly kind: 'done' } & CheckedCopy)
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly hint: string | undefined };

function answer(): FromCheck {
  try {
    return { kind: 'done', ...checkedCopy(String(workerData)) };
  } catch (error) {
    const { code, message, hint } = coerceError(error);
    return { kind: 'failed', code, message, hint };
  }
}

parentPort?.postMessage(answer());
