// Converts the settings that a worker or command reports into limits of the machine. The supervisor reads no configuration itself.
import type { SupervisorSettings } from '../../shared/api/ipc.ts';
import { DEFAULT_MACHINE_LIMITS, type Limits } from './machine.ts';

export function limitsOf({ restarts, windowMs, upMs, watchdogMs, stopMs, delaysMs }: SupervisorSettings): Limits {
  return {
    ...DEFAULT_MACHINE_LIMITS,
    starts: restarts,
    spanMs: windowMs,
    resetAfterMs: windowMs,
    upMs,
    watchdogMs,
    reportMs: Math.min(DEFAULT_MACHINE_LIMITS.reportMs, watchdogMs),
    stopMs,
    delaysMs: delaysMs ?? DEFAULT_MACHINE_LIMITS.delaysMs,
  };
}
