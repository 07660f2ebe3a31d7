// The snapshot of a checkpoint that begins some time after the files of the barrier were read: without the hold of the writer (writer.ts) the
// difference shows.
import { setTimeout as pause } from 'node:timers/promises';
import { copyDatabase as Real } from '../../../../../worker/recovery/checkpoint/copy-database.ts';
import { planted } from './planted.ts';

export type {
  CopyProgress,
  CopyRequest,
  DatabaseCopy,
} from '../../../../../worker/recovery/checkpoint/copy-database.ts';
export { STILL_MS } from '../../../../../worker/recovery/checkpoint/copy-database.ts';

const LATE_MS = 100;

export const copyDatabase: typeof Real = (request) => {
  const { hold } = request;
  if (!planted('checkpoint-without-hold') || hold === undefined) return Real(request);
  return Real({ ...request, hold: (work) => hold((ended) => pause(LATE_MS).then(() => work(ended))) });
};
