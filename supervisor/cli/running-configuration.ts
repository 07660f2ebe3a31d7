// Whether the configuration of a project that runs is still good: the worker is asked, since it has the variables of its owner, which a shell may not have.
import { callControl } from '../../shared/control-client.ts';
import { WORKER_SOCKET } from '../../shared/paths.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { VERSION } from '../../shared/version.ts';
import type { RunningProject } from './control-client.ts';

/** A worker that is blocked cannot be asked, and a restart is what helps it. */
const CHECK_MS = 2_000;

/** One of another version would judge by the keys of that version. */
export const canJudge = ({ state, version }: RunningProject['status']): boolean =>
  state === 'running' && version === VERSION;

/** Throws `config_invalid` and `secret_invalid`. */
export async function refuseBadConfiguration(status: RunningProject['status']): Promise<void> {
  if (!canJudge(status)) return;
  try {
    await callControl(WORKER_SOCKET, 'check', { timeoutMs: CHECK_MS });
  } catch (error) {
    if (!(error instanceof SvcError) || !['config_invalid', 'secret_invalid'].includes(error.code)) return;
    throw new SvcError(error.code, error.message, {
      cause: error,
      hint: 'nothing was restarted: the worker that runs goes on; `svc config check` checks the file',
      details: error.details,
    });
  }
}
