// Selects the destination of a worker's log: .svc/runtime.log under the supervisor, otherwise stdout, which the owner keeps.
import { defaultHostName } from '../../shared/config/load.ts';
import type { ProjectPaths } from '../../shared/files/paths.ts';
import { formatLogLine } from '../../shared/log/log-line.ts';
import { createLog, type Log } from '../../shared/log/logger.ts';

export interface WorkerLogOptions {
  readonly supervised: boolean;
  /** Stdout is a terminal: human-readable lines instead of JSON. */
  readonly terminal: boolean;
  /** JSON even on a terminal. */
  readonly plain?: boolean | undefined;
  readonly runtimeId: string;
}

const PLAIN = { good: String, bad: String, warn: String, dim: String };

export function openWorkerLog(
  paths: ProjectPaths,
  { supervised, terminal, plain = false, runtimeId }: WorkerLogOptions,
): Log {
  const base = { project: defaultHostName(paths), runtimeId };
  if (supervised) return createLog({ destination: paths.runtimeLog, base });
  return createLog({
    destination: 1,
    base,
    ...(terminal && !plain ? { render: (line: string) => `${formatLogLine(line.trimEnd(), PLAIN)}\n` } : {}),
  });
}
