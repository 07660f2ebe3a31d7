// Verifies a checkpoint, or plans a restore, in a process of its own for the running host: both read whole databases.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ErrorCode } from '../../shared/error-codes.ts';
import { endChild } from '../../shared/process/end-child.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { RestorePlan } from './restore/plan.ts';
import type { RestoreRequest } from './restore/restore.ts';
import type { VerifiedCheckpoint, VerifyCheckpointOptions } from './verify/verify-checkpoint.ts';

/** The environment holds secrets, which are passed over IPC only. */
export type ToChild =
  | { readonly kind: 'verify'; readonly options: Omit<VerifyCheckpointOptions, 'onStep'> }
  | { readonly kind: 'plan'; readonly options: RestoreRequest };

export type FromChild =
  | { readonly kind: 'done'; readonly result: VerifiedCheckpoint | RestorePlan }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string; readonly hint: string | undefined };

/** Throws as `verifyCheckpoint`, and the reason of the signal. */
export const verifyInChild = async (
  options: Omit<VerifyCheckpointOptions, 'onStep'>,
  signal: AbortSignal,
): Promise<VerifiedCheckpoint> => (await ask({ kind: 'verify', options }, signal)) as VerifiedCheckpoint;

/** Throws as `readRestorePlan`, and the reason of the signal. */
export const planInChild = async (options: RestoreRequest, signal: AbortSignal): Promise<RestorePlan> =>
  (await ask({ kind: 'plan', options }, signal)) as RestorePlan;

async function ask(question: ToChild, signal: AbortSignal): Promise<VerifiedCheckpoint | RestorePlan> {
  const here = import.meta.url;
  const fromSource = here.endsWith('.ts');
  const entry = new URL(fromSource ? '../process/checkpoint-check.ts' : './checkpoint-check.mjs', here);
  const child = fork(fileURLToPath(entry), [], {
    cwd: question.options.project,
    execArgv: fromSource ? ['--import', import.meta.resolve('tsx')] : [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const over = new AbortController(); // the signal outlives this
  const answer = new Promise<VerifiedCheckpoint | RestorePlan>((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true, signal: over.signal });
    child.on('error', (error) => reject(died(question, error.message)));
    child.on('message', (message: FromChild) => {
      if (message.kind === 'done') return resolve(message.result);
      const { code, message: text, hint } = message;
      reject(new SvcError(code, text, hint === undefined ? {} : { hint }));
    });
    child.on('exit', (code, by) => reject(died(question, by ?? `exit ${code}`)));
    child.send(question, () => {}); // if sending fails, the process has ended and `exit` reports it
  });
  return answer.finally(() => {
    over.abort();
    endChild(child); // ends anything that code of plugins left running
  });
}

const died = ({ kind }: ToChild, how: string): SvcError =>
  new SvcError(
    'internal',
    `the process that ${kind === 'plan' ? 'plans the restore' : 'verifies the checkpoint'} ended: ${how}`,
    {
      hint: 'nothing is harmed: ask again, and look for what ends processes (memory, dmesg)',
    },
  );
