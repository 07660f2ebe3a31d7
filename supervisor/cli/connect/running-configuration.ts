// Whether configuration and code of a project that runs are still good: the worker is asked, since it has the variables of its owner, which a shell may not have.
import { callControl } from '../../../shared/control/control-client.ts';
import { WORKER_SOCKET } from '../../../shared/files/paths.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { VERSION } from '../../../shared/version.ts';
import { findStaying, type RunningProject } from './control-client.ts';

/** A worker that is blocked cannot be asked, and a restart is what helps it. */
const CHECK_MS = 2_000;
/** It ends that itself, sooner. */
const CODE_MS = 30_000;
const TOLD: readonly string[] = ['config_invalid', 'secret_invalid', 'plugin_failed', 'state_dir_unsafe'];

interface Judgement {
  /** As it is now; null where the worker does not tell. */
  readonly configVersion: string | null;
  /** It, or code that the worker has loaded, has changed since. */
  readonly isChanged?: boolean;
}

/** One of another version would judge by the keys of that version. */
export const canJudge = ({ state, version }: RunningProject['status']): boolean =>
  state === 'running' && version === VERSION;

/** Undefined where no worker can tell. Throws `config_invalid` and `secret_invalid`. */
async function judge(status: RunningProject['status']): Promise<Judgement | undefined> {
  return canJudge(status) ? ((await ask('check', CHECK_MS)) as Judgement | undefined) : undefined;
}

/** Undefined where there is no answer. Throws what the answer says of configuration and code. */
async function ask(command: 'check' | 'check_code', timeoutMs: number): Promise<unknown> {
  try {
    return await callControl(WORKER_SOCKET, command, { timeoutMs });
  } catch (error) {
    if (!(error instanceof SvcError) || !TOLD.includes(error.code)) return undefined;
    const mend = command === 'check' ? '`svc config check` checks the file' : 'mend it, or stop the host and start it';
    const hint = error.code === 'state_dir_unsafe' ? (error.hint ?? mend) : mend;
    throw new SvcError(error.code, error.message, {
      cause: error,
      hint: `nothing was restarted: the worker that runs goes on; ${hint}`,
      details: error.details,
    });
  }
}

/**
 * Whether the next worker would serve anything, where this one does: throws `plugin_failed`, and `config_invalid` where a changed plugin takes
 * its keys no more. Where nothing has changed it would. A worker that does not tell is not well: nothing keeps it from a restart. A foreground is
 * not restarted in any case, and says so.
 */
export async function refuseBrokenRestart(status: RunningProject['status']): Promise<void> {
  const judged = await judge(status);
  if (judged?.isChanged === true && status.owner !== 'foreground') await ask('check_code', CODE_MS);
}

/** A daemon that runs and finds the configuration good, for a shell that cannot read it; with the version that it has by now. */
export async function judgedByDaemon(
  project: string,
): Promise<{ readonly running: RunningProject; readonly configVersion: string } | undefined> {
  const running = await findStaying(project).catch(() => undefined);
  if (running?.who !== 'supervisor') return undefined;
  const judged = await judge(running.status).catch(() => undefined);
  return judged === undefined || judged.configVersion === null
    ? undefined
    : { running, configVersion: judged.configVersion };
}
