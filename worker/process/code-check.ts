// A process that loads a project's code as the next worker would. A running worker cannot: Node loads a module once per process.
// A worker forks it, asks over IPC and kills it.
import { refuseExit } from '../../shared/process/exit-guard.ts';
import { trySqlite } from '../../shared/sqlite.ts';
import { coerceError } from '../../shared/svc-error.ts';
import type { CodeAnswer, CodeQuestion } from '../runtime/loading/next-code.ts';
import { failuresOfCode } from '../task.ts';

const allowExit = refuseExit();
process.once('disconnect', end); // the worker that asked is gone
process.once('message', (question) => void look(question as CodeQuestion).then((answer) => process.send?.(answer)));

async function look(question: CodeQuestion): Promise<CodeAnswer> {
  try {
    trySqlite();
    return { kind: 'looked', failures: await failuresOfCode({ ...question, end: endBusy }) };
  } catch (error) {
    return refusal(error);
  }
}

/** Called from within code that blocks the thread, so nothing else runs after it. */
function endBusy(error: unknown): void {
  process.send?.(refusal(error));
  end();
}

function refusal(error: unknown): CodeAnswer {
  const { code, message, hint, details } = coerceError(error);
  // The reason without the folder, for clients of HTTP. Faults of the configuration are told by their message alone.
  const told = code === 'modules_unusable' ? details : {};
  return { kind: 'refused', code, message, details: told, ...(hint === undefined ? {} : { hint }) };
}

function end(): void {
  allowExit();
  process.exit(0);
}
