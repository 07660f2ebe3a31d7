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

/**
 * Whether the next worker would serve anything, where this one does: throws `plugin_failed`, and `config_invalid` where a changed plugin takes
 * its keys no more. A worker that does not tell of its configuration is not well: nothing keeps it from a restart. Nor does code where this
 * shell has not the variables for it.
 */
export async function refuseBrokenRestart(
  project: string,
  { status, context }: { readonly status: RunningProject['status']; readonly context: JudgeContext },
): Promise<void> {
  const judged = await refuseBadConfiguration(status);
  if (judged === undefined || status.generation === null) return;
  const options = { project, mode: modeOf(status.mode), environment: context.env };
  const { failuresOfCode } = await loadTasks(context);
  const failures = await failuresOfCode(options).catch(throwUnrestarted);
  if (failures.length > 0)
    throw new SvcError('plugin_failed', `no worker would serve anything: ${failures.join('\n')}`, {
      hint: UNRESTARTED,
    });
}

type JudgeContext = Pick<CommandContext, 'env' | 'end'>;

const UNRESTARTED =
  'nothing was restarted: the worker that runs goes on; mend it, or `svc runtime stop` and `svc runtime start --daemon` all the same';

function throwUnrestarted(error: unknown): never {
  const { code, message, details } = coerceError(error);
  throw new SvcError(code, message, { cause: error, hint: UNRESTARTED, details });
}

const modeOf = (name: string): Mode => MODES.find((mode) => mode === name) ?? 'production';

/** A daemon that runs and finds the configuration good, for a shell that cannot read it; with the version that it has by now. */
export async function judgedByDaemon(
  project: string,
): Promise<{ readonly running: RunningProject; readonly configVersion: string } | undefined> {
  const running = await findStaying(project).catch(() => undefined);
  if (running?.who !== 'supervisor') return undefined;
  const configVersion = await refuseBadConfiguration(running.status).catch(() => undefined);
  return configVersion === undefined ? undefined : { running, configVersion };
}
