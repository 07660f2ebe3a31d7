// Entry: reads the whole copy of a large database in a thread of its own. What is wrong is an answer, not an end.
import { parentPort, workerData } from 'node:worker_threads';
import { type FailedStep, failedStep } from '../step-child.ts';
import { checkPages, type Digest, digestOf } from './checked-copy.ts';

export interface ToCheck {
  readonly file: string;
  readonly isMapped: boolean;
}
export type FromCheck = { readonly kind: 'done'; readonly digest: Digest } | FailedStep;

function answer({ file, isMapped }: ToCheck): FromCheck {
  try {
    checkPages(file, isMapped);
    return { kind: 'done', digest: digestOf(file) };
  } catch (error) {
    return failedStep(error);
  }
}

parentPort?.postMessage(answer(workerData as ToCheck));
