// What the end of a worker means: pure, from exit code and signal, and whether that worker had been up, or was asked for its end.
//
//   E1  0 and 130 are wanted ends: nothing is started again.
//   E2  51 and 75 ask for a restart, but only of a worker that had been up or was asked for its end; else they are crashes, or a loop would have no limit.
//   E3  78 is final: the same configuration cannot succeed.

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export type ExitReason = 'stopped' | 'restart_requested' | 'restart_required' | 'config' | 'crashed';

export function exitReason({ code }: WorkerExit, isMeant: boolean): ExitReason {
  if (code === 0 || code === 130) return 'stopped';
  if (code === 78) return 'config';
  if (code === 51 && isMeant) return 'restart_requested';
  if (code === 75 && isMeant) return 'restart_required';
  return 'crashed';
}
