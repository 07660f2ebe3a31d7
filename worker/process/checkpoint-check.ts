// A process that verifies a checkpoint, or plans a restore, for the running worker: a rehearsal loads code of plugins, and both read whole databases,
// which would hold up a host. Secrets come over IPC alone. The process ends with its parent.
import { refuseExit } from '../../shared/process/exit-guard.ts';
import { lowerPriority } from '../../shared/process/low-priority.ts';
import { coerceError } from '../../shared/svc-error.ts';
import type { FromChild, ToChild } from '../recovery/in-child.ts';
import { readRestorePlan, verifyCheckpoint } from '../task.ts';

const allowExit = refuseExit();
process.umask(0o077);
process.once('disconnect', end);
process.once('message', (question) => void answer(question as ToChild).then(tell));

async function answer({ kind, options }: ToChild): Promise<FromChild> {
  lowerPriority();
  try {
    if (kind === 'plan') return { kind: 'done', result: await readRestorePlan(options) };
    return { kind: 'done', result: await verifyCheckpoint({ ...options, end: endBusy }) };
  } catch (error) {
    return refusal(error);
  }
}

const tell = (answer: FromChild): void => void process.send?.(answer);

/** Called from within code that blocks the thread, so nothing else runs after it. */
function endBusy(error: unknown): void {
  tell(refusal(error));
  end();
}

function refusal(error: unknown): FromChild {
  const { code, message, hint } = coerceError(error);
  return { kind: 'refused', code, message, hint };
}

function end(): void {
  allowExit();
  process.exit(0);
}
