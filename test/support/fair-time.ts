// Limits of time in tests that are fair to a machine which has others to serve.
import { availableParallelism, loadavg } from 'node:os';

/** The limit on a machine that is idle; more by as much as others want its processors. */
export function fairMs(limitMs: number): number {
  const [lastMinute = 0] = loadavg();
  return limitMs * Math.max(1, (2 * lastMinute) / availableParallelism());
}

/** Processor time of this process so far: what it did itself, however long it was kept waiting. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
