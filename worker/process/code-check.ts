// A process of its own that loads the code of a project as the worker after this one would: a worker that runs cannot judge what has changed,
// since modules are loaded once. Started by next-code.ts, which asks over IPC and ends it.
import { refuseExit } from '../../shared/process/exit-guard.ts';
import { coerceError } from '../../shared/svc-error.ts';
import type { CodeAnswer, CodeQuestion } from '../runtime/loading/next-code.ts';
import { failuresOfCode } from '../task.ts';

const allowExit = refuseExit();
process.once('disconnect', end); // who asked is gone
process.once('message', (question) => void look(question as CodeQuestion).then((answer) => process.send?.(answer)));

async function look(question: CodeQuestion): Promise<CodeAnswer> {
  try {
    return { kind: 'looked', failures: await failuresOfCode({ ...question, end: endBusy }) };
  } catch (error) {
    return refusal(error);
  }
}

/** From within code that gives its thread back to nobody: nothing here gets a turn after it. */
function endBusy(error: unknown): void {
  process.send?.(refusal(error));
  end();
}

function refusal(error: unknown): CodeAnswer {
  const { code, message, hint } = coerceError(error);
  return { kind: 'refused', code, message, ...(hint === undefined ? {} : { hint }) };
}

function end(): void {
  allowExit();
  process.exit(0);
}
