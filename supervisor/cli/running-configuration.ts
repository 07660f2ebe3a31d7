// Whether the configuration of a project that runs is still good: the worker is asked, since it has the variables of its owner, which a shell may not have.
import { callControl } from '../../shared/control-client.ts';
import { WORKER_SOCKET } from '../../shared/paths.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { VERSION } from '../../shared/version.ts';
import { findStaying, type RunningProject } from './control-client.ts';

/** A worker that is blocked cannot be asked, and a restart is what helps it. */
const CHECK_MS = 2_000;

interface Judgement {
  readonly configVersion?: string | null;
}

/** One of another version would judge by the keys of that version. */
export const canJudge = ({ state, version }: RunningProject['status']): boolean =>
  state === 'running' && version === VERSION;

/** The version of the configuration as it is now, where the worker tells. Throws `config_invalid` and `secret_invalid`. */
export async function refuseBadConfiguration(status: RunningProject['status']): Promise<string | undefined> {
  if (!canJudge(status)) return undefined;
  try {
    const { configVersion } = (await callControl(WORKER_SOCKET, 'check', { timeoutMs: CHECK_MS })) as Judgement;
    return configVersion ?? undefined;
  } catch (error) {
    if (!(error instanceof SvcError) || !['config_invalid', 'secret_invalid'].includes(error.code)) return undefined;
    throw new SvcError(error.code, error.message, {
      cause: error,
      hint: 'nothing was restarted: the worker that runs goes on; `svc config check` checks the file',
      details: error.details,
    });
  }
}

/** A daemon that runs and finds the configuration good, for a shell that cannot read it; with the version that it has by now. */
export async function judgedByDaemon(
  project: string,
): Promise<{ readonly running: RunningProject; readonly configVersion: string } | undefined> {
  const running = await findStaying(project).catch(() => undefined);
  if (running?.who !== 'supervisor') return undefined;
  const configVersion = await refuseBadConfiguration(running.status).catch(() => undefined);
  return configVersion === undefined ? undefined : { running, configVersion };
}
