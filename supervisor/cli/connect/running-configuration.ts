// Checks configuration and code of a running project. The worker is asked, because it has environment variables that a shell may lack.
import { callControl } from '../../../shared/control/control-client.ts';
import { WORKER_SOCKET } from '../../../shared/files/paths.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { VERSION } from '../../../shared/version.ts';
import { findStaying, type RunningProject } from './control-client.ts';

/** Limit in ms. A blocked worker cannot answer, and a restart helps it. */
const CHECK_MS = 2_000;
/** The worker's own limit for this check is shorter. */
const CODE_MS = 30_000;
const TOLD: readonly string[] = [
  'config_invalid',
  'secret_invalid',
  'plugin_failed',
  'state_dir_unsafe',
  'modules_unusable',
];

interface Judgement {
  /** Current version of the configuration. Null if the worker does not tell. */
  readonly configVersion: string | null;
  /** The configuration or loaded code has changed since the start. */
  readonly isChanged?: boolean;
}

/** A worker of another version would check against that version's keys. */
export const canJudge = ({ state, version }: RunningProject['status']): boolean =>
  state === 'running' && version === VERSION;

/** Undefined if no worker can tell. Throws `config_invalid` and `secret_invalid`. */
async function judge(status: RunningProject['status']): Promise<Judgement | undefined> {
  return canJudge(status) ? ((await ask('check', CHECK_MS)) as Judgement | undefined) : undefined;
}

/** Undefined if there is no answer. Throws errors about configuration and code. */
async function ask(command: 'check' | 'check_code', timeoutMs: number): Promise<unknown> {
  try {
    return await callControl(WORKER_SOCKET, command, { timeoutMs });
  } catch (error) {
    if (!(error instanceof SvcError) || !TOLD.includes(error.code)) return undefined;
    throw new SvcError(error.code, error.message, {
      cause: error,
      hint: ['nothing was restarted: the worker that runs goes on', mendOf(command, error)].join('; '),
      details: error.details,
    });
  }
}

function mendOf(command: 'check' | 'check_code', { code, hint }: SvcError): string {
  if (code === 'modules_unusable') return hint ?? 'then `svc runtime restart` once more';
  const usual = command === 'check' ? '`svc config check` checks the file' : 'mend it, or stop the host and start it';
  return code === 'state_dir_unsafe' ? (hint ?? usual) : usual;
}

/**
 * Throws if the next worker would not serve: `plugin_failed`, or `config_invalid` if a changed plugin rejects its keys.
 * Without changes the next worker serves as this one. A worker that does not answer is unwell, so a restart is allowed.
 * A foreground worker is never restarted, and its own error says so.
 */
export async function refuseBrokenRestart(status: RunningProject['status']): Promise<void> {
  const judged = await judge(status);
  if (judged?.isChanged === true && status.owner !== 'foreground') await ask('check_code', CODE_MS);
}

/**
 * Whether the running worker serves another configuration or code than the files say. Undefined where nobody can tell. Throws errors about the
 * configuration as it is now.
 */
export async function differsFromFiles(project: string): Promise<boolean | undefined> {
  const running = await findStaying(project).catch(() => undefined);
  return running && (await judge(running.status))?.isChanged;
}

/** A running daemon that accepts the configuration, with its current version. For a shell that cannot read the configuration. */
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
