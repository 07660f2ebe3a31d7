// Classifies the end of a worker. Pure. Depends on the exit code or signal, on a former `up`, and on a request to end.
//
//   EXIT-1  Exit codes 0 and 130 are intended ends. No worker is started after them.
//   EXIT-2  Exit codes 51 and 75 request a restart, if the worker had been up or was asked to end. So does a 75 that a worker announced as the end
//           of a switch before it was up. Otherwise they are crashes, so a restart loop is bounded.
//   EXIT-3  Exit code 78 (invalid configuration) is final: the same configuration cannot succeed.
//   EXIT-4  A worker that was asked to end counts as ended with the requested code. This also holds if it was killed, or if SIGTERM ended it early.
//   EXIT-5  A failed spawn is a crash if it failed for lack of memory, processes or file descriptors. For any other reason it is final.
import { EXIT } from '../../shared/process/exit-codes.ts';

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** The exit as it is classified. `asked` is the requested exit code, if any: a kill or SIGTERM then counts as that code. */
export function countedExit(exit: WorkerExit, asked: number | undefined, wasKilled: boolean): WorkerExit {
  const isOfAsking = exit.code === null && (wasKilled || exit.signal === 'SIGTERM');
  return asked !== undefined && isOfAsking ? { code: asked, signal: null } : exit;
}

export type ExitReason = 'stopped' | 'restart_requested' | 'restart_required' | 'config' | 'crashed';

export function exitReason({ code }: WorkerExit, isMeant: boolean): ExitReason {
  if (code === EXIT.ok || code === EXIT.forced) return 'stopped';
  if (code === EXIT.config) return 'config';
  if (code === EXIT.restartRequested && isMeant) return 'restart_requested';
  if (code === EXIT.restartRequired && isMeant) return 'restart_required';
  return 'crashed';
}

/** Too many processes, no memory, or no file descriptor. */
const NO_ROOM: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']);

/** Whether a failed spawn may succeed later. `code` is the error's code, such as EAGAIN. */
export const mayPass = (code: string): boolean => NO_ROOM.has(code);
