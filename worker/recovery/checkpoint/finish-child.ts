// Entry: completes a checkpoint in a process of its own. Search, digests and counts of a large project would stop a host's event loop for seconds.
//
//   FINISH-CHILD-1  The parent holds the writer from `begin` to `begun`. The read transaction that begins there is of the moment of the copy.
//   FINISH-CHILD-2  It ends before `examined`: it keeps the WAL from being checkpointed.
//   FINISH-CHILD-3  Secrets come over IPC alone. The process ends with its parent.
import { lowerPriority } from '../../../shared/process/low-priority.ts';
import { registryOf } from '../../../shared/recovery/known-secrets.ts';
import type { Database } from '../../../shared/sqlite.ts';
import { openToCopy, readingAll } from '../../database/sqlite/connection.ts';
import { type FailedStep, failedStep } from '../step-child.ts';
import { type DatabaseFacts, examine } from './examine-database.ts';
import { type Finished, type FinishOptions, finishCheckpoint } from './finish-checkpoint.ts';

export type ToFinish =
  | { readonly kind: 'open'; readonly file: string; readonly secrets: readonly string[] }
  | { readonly kind: 'begin' }
  | { readonly kind: 'finish'; readonly options: FinishOptions };

export type FromFinish =
  | { readonly kind: 'opened' }
  | { readonly kind: 'begun' }
  /** The snapshot is no longer needed. What it had, or why it could not be read, is told with the end. */
  | { readonly kind: 'examined' }
  | { readonly kind: 'done'; readonly finished: Finished }
  | FailedStep;

let source: Database;
let secrets: readonly string[];
/** Undefined: the copy is examined. */
let facts: (() => DatabaseFacts) | undefined;
const parent = process.ppid;

const tell = (message: FromFinish): Promise<void> =>
  new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve()));

process.umask(0o077);
process.on('disconnect', () => process.exit(1));
process.on('message', (message: ToFinish) => {
  serve(message).catch((error: unknown) => tell(failedStep(error)));
});

async function serve(message: ToFinish): Promise<void> {
  if (message.kind === 'open') {
    source = readingAll(openToCopy(message.file));
    secrets = message.secrets;
    firstRead(); // loads the schema before the hold
    return tell({ kind: 'opened' });
  }
  if (message.kind === 'begin') {
    source.exec('BEGIN');
    firstRead();
    await tell({ kind: 'begun' }); // sent before this thread is busy
    lowerPriority();
    facts = examined();
    return tell({ kind: 'examined' });
  }
  return tell({ kind: 'done', finished: await finishCheckpoint(message.options, facts) });
}

/** While this thread is busy it hears of no `disconnect`, and the database would stay open for nobody. */
function endWithParent(): void {
  if (process.ppid !== parent) throw new Error('the host has ended'); // then this process hears of it
}

const firstRead = (): unknown => source.prepare('SELECT value FROM counters LIMIT 1').get();

function examined(): () => DatabaseFacts {
  try {
    const found = examine(source, registryOf(secrets), endWithParent);
    return () => found;
  } catch (error) {
    return () => {
      throw error;
    };
  } finally {
    source.close();
  }
}
