// A process that verifies a checkpoint for the running worker: a rehearsal loads code of plugins and reads the whole database, which would hold up
// a host. Secrets come over IPC alone. The process ends with its parent.
import { constants, setPriority } from 'node:os';
import { refuseExit } from '../../shared/process/exit-guard.ts';
import { coerceError } from '../../shared/svc-error.ts';
import type { FromVerify, ToVerify } from '../recovery/verify/in-child.ts';
import { verifyCheckpoint } from '../task.ts';

const allowExit = refuseExit();
process.umask(0o077);
process.once('disconnect', end);
process.once('message', (question) => void verify(question as ToVerify).then(tell));

async function verify(question: ToVerify): Promise<FromVerify> {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  try {
    return { kind: 'done', result: await verifyCheckpoint({ ...question, end: endBusy }) };
  } catch (error) {
    return refusal(error);
  }
}

const tell = (answer: FromVerify): void => void process.send?.(answer);

/** Called from within code that blocks the thread, so nothing else runs after it. */
function endBusy(error: unknown): void {
  tell(refusal(error));
  end();
}

function refusal(error: unknown): FromVerify {
  const { code, message, hint } = coerceError(error);
  return { kind: 'refused', code, message, hint };
}

function end(): void {
  allowExit();
  process.exit(0);
}
