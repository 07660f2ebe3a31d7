// What the end of a worker means: pure, from exit code and signal, and whether that worker had been up, or was asked for its end.
//
//   E1  0 and 130 are wanted ends: nothing is started again.
//   E2  51 and 75 ask for a restart, but only of a worker that had been up or was asked for its end; else they are crashes, or a loop would have no limit.
//   E3  78 is final: the same configuration cannot succeed.
//   E4  A worker that was asked for its end has ended with the code asked for, also where it had to be killed, or where SIGTERM came before
//       it could listen.
//   E5  No process at all is a crash where there was no room for another one just now, and final for any other reason.
import { EXIT } from '../../shared/process/exit-codes.ts';

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** The end as it counts (E4): `asked` is the code that was asked for, if one was. */
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

/** Too many processes, no memory, no descriptor. */
const NO_ROOM: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE']);

/** Whether another try may find room (E5); `code` is that of the error. */
export const mayPass = (code: string): boolean => NO_ROOM.has(code);
