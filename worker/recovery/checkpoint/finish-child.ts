// Entry: completes a checkpoint in a process of its own. Search, digests and counts of a large project would stop a host's event loop for seconds.
// Secrets come over IPC alone. The process ends with its parent.
import { constants, setPriority } from 'node:os';
import { coerceError } from '../../../shared/svc-error.ts';
import { type Finished, type FinishOptions, finishCheckpoint } from './finish-checkpoint.ts';

export type FromFinish =
  | { readonly kind: 'done'; readonly finished: Finished }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly hint: string | undefined;
      readonly details: Readonly<Record<string, unknown>>;
    };

const tell = (message: FromFinish): void => void process.send?.(message);

process.umask(0o077);
process.on('disconnect', () => process.exit(1));
process.once('message', (options: FinishOptions) => {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  finishCheckpoint(options).then(
    (finished) => tell({ kind: 'done', finished }),
    (error: unknown) => {
      const { code, message, hint, details } = coerceError(error);
      tell({ kind: 'failed', code, message, hint, details });
    },
  );
});
