// Verifies a checkpoint in a process of its own, for the running host.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ErrorCode } from '../../../shared/error-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { VerifiedCheckpoint, VerifyCheckpointOptions } from './verify-checkpoint.ts';

/** The environment holds secrets, which are passed over IPC only. */
export type ToVerify = Omit<VerifyCheckpointOptions, 'onStep'>;

export type FromVerify =
  | { readonly kind: 'done'; readonly result: VerifiedCheckpoint }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string; readonly hint: string | undefined };

/** Throws as `verifyCheckpoint`, and the reason of the signal. */
export async function verifyInChild(question: ToVerify, signal: AbortSignal): Promise<VerifiedCheckpoint> {
  const here = import.meta.url;
  const fromSource = here.endsWith('.ts');
  const entry = new URL(fromSource ? '../../process/checkpoint-check.ts' : './checkpoint-check.mjs', here);
  const child = fork(fileURLToPath(entry), [], {
    cwd: question.project,
    execArgv: fromSource ? ['--import', import.meta.resolve('tsx')] : [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const answer = new Promise<VerifiedCheckpoint>((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    child.on('error', (error) => reject(died(error.message)));
    child.on('message', (message: FromVerify) => {
      if (message.kind === 'done') return resolve(message.result);
      const { code, message: text, hint } = message;
      reject(new SvcError(code, text, hint === undefined ? {} : { hint }));
    });
    child.on('exit', (code, by) => reject(died(by ?? `exit ${code}`)));
    child.send(question, () => {}); // if sending fails, the process has ended and `exit` reports it
  });
  return answer.finally(() => child.kill('SIGKILL')); // ends anything that code of plugins left running
}

const died = (how: string): SvcError =>
  new SvcError('internal', `the process that verifies the checkpoint ended: ${how}`, {
    hint: 'nothing is harmed: verify it again, and look for what ends processes (memory, dmesg)',
  });
