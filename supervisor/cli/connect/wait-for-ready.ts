// Waits for a runtime that another process starts, until it is ready, has failed, or time is up.

import { setTimeout as pause } from 'node:timers/promises';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { fewFilesLeftIn, INODES_REMEDY } from '../../../shared/files/free-files.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { identify, isAlive } from '../../../shared/process/process-identity.ts';
import { stateText } from './awaited-host.ts';
import { findRunning } from './control-client.ts';

export interface WaitOptions {
  readonly timeoutMs: number;
  /** The worker that must go first. It is ignored. */
  readonly notRuntimeId?: string | null;
  /** Pid of the expected supervisor. */
  readonly supervisorPid?: number;
  /** Called when the supervisor begins to wait for the next start, with the reason. */
  readonly say?: (text: string) => void;
  /** Undefined while the starting process lives. Otherwise the reason why no worker will come. */
  readonly givenUp?: () => string | undefined;
}

export interface WaitResult {
  readonly ready: boolean;
  readonly status: RuntimeStatus | undefined;
  /** Why the host is not ready. */
  readonly reasons: readonly string[];
}

const POLL_MS = 25;

/** For `givenUp`: returns `why` once the process is gone. Without a pid it never does. */
export function goneProcess(pid: number | null, why: string): () => string | undefined {
  const identity = pid === null ? undefined : identify(pid);
  return () => (pid === null || (identity !== undefined && isAlive(identity)) ? undefined : why);
}

export const DAEMON_STOPPED = 'the daemon was stopped meanwhile';

export async function waitForReady(
  project: string,
  { timeoutMs, notRuntimeId = null, supervisorPid, say, givenUp }: WaitOptions,
): Promise<WaitResult> {
  const endsAt = performance.now() + timeoutMs;
  let status: RuntimeStatus | undefined;
  let former: RuntimeStatus['state'] | undefined;
  for (;;) {
    status = (await findRunning(project).catch(() => undefined))?.status;
    if (status?.ready === true && status.runtimeId !== notRuntimeId && isBy(supervisorPid, status))
      return { ready: true, status, reasons: [] };
    if (status?.state === 'failed')
      return { ready: false, status, reasons: [`failed: ${status.reason ?? 'unknown reason'}`] };
    if (status !== undefined && status.state !== former) sayPause(status, say);
    former = status?.state;
    const why = status === undefined ? givenUp?.() : undefined;
    if (why !== undefined) return { ready: false, status, reasons: [why] };
    if (performance.now() > endsAt) break;
    await pause(POLL_MS);
  }
  const reasons =
    status === undefined
      ? ['nobody answers', ...fewFiles(project)]
      : [status.state, status.reason, ...status.reasons].filter((reason): reason is string => reason !== null);
  return { ready: false, status, reasons: [`not ready within ${timeoutMs / 1_000} s`, ...reasons] };
}

/** Without an inode the socket that would answer cannot be made yet. */
function fewFiles(project: string): readonly string[] {
  const reason = fewFilesLeftIn(projectPaths(project).stateDir);
  return reason === undefined ? [] : [`${reason}; ${INODES_REMEDY}, the host goes on by itself`];
}

/** If only a daemon's worker answers, its daemon may be gone or not visible yet, so it does not count. */
const isBy = (wanted: number | undefined, { owner, supervisorPid }: RuntimeStatus): boolean =>
  wanted === undefined ? owner !== 'daemon' || supervisorPid !== null : supervisorPid === wanted;

function sayPause(status: RuntimeStatus, say: WaitOptions['say']): void {
  if (status.state !== 'deferred' && status.state !== 'backing_off') return;
  const now = status.state === 'deferred' ? '; `svc runtime restart` once more starts it now' : '';
  say?.(`${stateText(status)}${now}`);
}
