// Whether the configuration of a project that runs is still good: the worker is asked, since it has the variables of its owner, which a shell may not have.
// Code that has changed it cannot judge, since modules are loaded once: that is looked at here.
import { MODES, type Mode } from '../../shared/config/mode.ts';
import { callControl } from '../../shared/control-client.ts';
import { WORKER_SOCKET } from '../../shared/paths.ts';
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import { VERSION } from '../../shared/version.ts';
import type { CommandContext } from './command.ts';
import { findStaying, type RunningProject } from './control-client.ts';
import { loadTasks } from './worker-entry.ts';

/** A worker that is blocked cannot be asked, and a restart is what helps it. */
const CHECK_MS = 2_000;

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
  if (!canJudge(status)) return undefined;
  try {
    return (await callControl(WORKER_SOCKET, 'check', { timeoutMs: CHECK_MS })) as Judgement;
  } catch (error) {
    if (!(error instanceof SvcError) || !['config_invalid', 'secret_invalid'].includes(error.code)) return undefined;
    throw new SvcError(error.code, error.message, {
      cause: error,
      hint: 'nothing was restarted: the worker that runs goes on; `svc config check` checks the file',
      details: error.details,
    });
  }
}

/**
 * Whether the next worker would serve anything, where this one does: throws `plugin_failed`, and `config_invalid` where a changed plugin takes
 * its keys no more. Where nothing has changed it would. A worker that does not tell of its configuration is not well: nothing keeps it from a
 * restart. Nor does code where this shell has not the variables for the configuration. A foreground is not restarted in any case, and says so.
 */
export async function refuseBrokenRestart(
  project: string,
  { status, context }: { readonly status: RunningProject['status']; readonly context: JudgeContext },
): Promise<void> {
  const judged = await judge(status);
  if (judged?.isChanged !== true || status.generation === null || status.owner === 'foreground') return;
  const options = { project, mode: modeOf(status.mode), environment: context.env };
  const { failuresOfCode } = await loadTasks(context);
  const hint = unrestarted(status);
  const failures = await failuresOfCode(options).catch((error: unknown) => {
    const { code, message, details } = coerceError(error);
    throw new SvcError(code, message, { cause: error, hint, details });
  });
  if (failures.length > 0)
    throw new SvcError('plugin_failed', `no worker would serve anything: ${failures.join('\n')}`, { hint });
}

type JudgeContext = Pick<CommandContext, 'env' | 'end'>;

/** Plugins were loaded with the variables of this shell: what its owner gives the worker beside them may be what is missing. */
function unrestarted({ owner }: RunningProject['status']): string {
  const all =
    owner === 'daemon' ? '`svc runtime stop` and `svc runtime start --daemon`' : `restart it by its owner (${owner})`;
  return `nothing was restarted: the worker that runs goes on; mend it, or, where this shell lacks a variable that the plugin reads, ${all}`;
}

const modeOf = (name: string): Mode => MODES.find((mode) => mode === name) ?? 'production';

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
