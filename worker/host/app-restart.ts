// A restart requested by a client. The restart is refused if no owner would start the worker again, or if the owner would count one failure
// too many. The restart is also refused if no worker would start or serve with the current configuration and code.
import type { WorkerMessage } from '../../shared/api/ipc.ts';
import { ERRORS } from '../../shared/error-codes.ts';
import { refuseUnwritableDatabase } from '../../shared/files/database-access.ts';
import { projectPaths } from '../../shared/files/paths.ts';
import { refuseUnusableState } from '../../shared/files/state-folder.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import { systemClock } from '../../shared/time/clock.ts';
import { reasonOf } from '../core/core.ts';
import { readStarts } from '../database/starts-ledger.ts';
import type { RestartOwner } from '../database/writer-lock.ts';
import type { Keep } from '../http/answer/kept-answer.ts';
import type { NextStart } from '../runtime/runtime.ts';
import type { App } from './app-options.ts';
import type { Parts } from './app-parts.ts';

/** systemd counts a restart as a failure. The unit's limit is five starts in two minutes. */
const SYSTEMD_STARTS = 4;
const SYSTEMD_WINDOW_MS = 120_000;
/** `svc runtime reload --or-restart` ends a worker in the foreground for good, so the hint does not recommend it. */
const FOREGROUND_HINT =
  'stop it and start it again: nothing else would, and svc runtime reload --or-restart just ends it (75) for whoever started it';
/** Time for the answer to reach the client. */
const ANSWER_MS = 50;

/** `keep` stores the answer before the process ends. A repeat under the same Idempotency-Key then restarts nothing. */
export async function requestRestart(parts: Parts, actor: string, keep?: Keep<'restarts'>): Promise<void> {
  const { options, core } = parts;
  if (options.owner === 'foreground') {
    throw new SvcError('no_restart_owner', 'nothing would start this process again', {
      hint: 'start it with svc runtime start --daemon, systemd, launchd or a container',
    });
  }
  if (options.owner === 'systemd') refuseInFullWindow(await readStarts(core.reader, SYSTEMD_STARTS));
  try {
    await refuseBadNext(parts);
  } catch (error) {
    throw refusal('restart_refused', coerceError(error));
  }
  const data = { reason: 'requested', exitCode: EXIT.restartRequested };
  const event = {
    type: 'runtime.restart_requested',
    at: systemClock.now(),
    runtimeId: core.runtimeId,
    actor,
    data,
  } as const;
  await parts.tell(event, keep?.('restarts'));
  setTimeout(() => options.requestExit(EXIT.restartRequested, `requested by ${actor}`), ANSWER_MS);
}

/** Restarts for a change that a reload cannot apply. */
export async function restartInstead(parts: Parts, reason: string, keep?: Keep<'restarts'>): Promise<void> {
  try {
    await refuseBadNext(parts);
  } catch (error) {
    throw refusedReload(coerceError(error), parts.options.owner);
  }
  const statements = keep?.('restarts') ?? [];
  if (statements.length > 0) await parts.core.writer.commit({ name: 'reload.restarts', statements }).catch(() => {}); // the answer stays the same
  parts.options.requestExit(EXIT.restartRequired, reason);
}

/**
 * Throws if the next worker would exit with 78, or would serve nothing while this one serves. If nothing has changed, it would do neither.
 */
export async function refuseBadNext(parts: Parts): Promise<void> {
  const { isChanged } = await checkNext(parts);
  if (isChanged) await refuseBadCode(parts);
}

/** The configuration with which the next worker would start, and whether its code may differ from that of this one. */
export async function checkNext({ options, engine, nextCode, file }: Parts): Promise<NextStart> {
  refuseUnusableState(projectPaths(options.project));
  refuseUnwritableDatabase(file);
  const next = await engine.runtime.checkNext();
  return { ...next, isChanged: next.isChanged || nextCode.isOnOtherBase };
}

/** If this worker serves nothing, only an error that ends the next one with 78 counts. Exit 78 would leave no host at all. */
export async function refuseBadCode({ engine, nextCode, core }: Parts): Promise<void> {
  const isServing = engine.runtime.current !== undefined;
  try {
    if (!(await nextCode.check())) core.log.warn({}, 'the code was not tried before a restart: no process for it');
  } catch (error) {
    const { code, hint, details } = coerceError(error);
    if (!isServing && ERRORS[code].exit !== EXIT.config) return;
    const reason = reasonOf(core, error);
    core.log.warn({ code, reason }, 'not restarted: no worker would serve with the code as it is');
    throw new SvcError(code, reason, { cause: error, details, ...(hint === undefined ? {} : { hint }) });
  }
}

/** The error of a refused reload, or of the restart in its place. The serving generation stays. */
export function refusedReload(error: SvcError, owner: RestartOwner): SvcError {
  if (error.code === 'restart_required' && owner === 'foreground')
    return new SvcError(error.code, error.message, { cause: error, hint: FOREGROUND_HINT, details: error.details });
  if (['restart_required', 'storage_unavailable', 'precondition_failed'].includes(error.code)) return error;
  return refusal('reload_refused', error);
}

/** The error for a command. A configuration that no start accepts keeps its own error, so the exit code is always 78. */
export function reloadFault(error: unknown): SvcError {
  const known = coerceError(error);
  const { cause } = known;
  const isOfFile =
    known.code === 'reload_refused' && cause instanceof SvcError && ERRORS[cause.code].exit === EXIT.config;
  return isOfFile ? cause : known;
}

/** The supervisor's answer to its reload request. */
export async function reloadAnswer(app: Pick<App, 'reload'> | undefined, orRestart: boolean): Promise<ReloadAnswer> {
  try {
    if (app === undefined) throw new SvcError('not_running', 'the host is still starting');
    return { ok: true, ...(await app.reload('control', { orRestart })), error: null };
  } catch (error) {
    const { code, message, hint } = reloadFault(error);
    return { ok: false, generation: null, error: { code, message, hint } };
  }
}

type ReloadAnswer = Omit<Extract<WorkerMessage, { type: 'reloaded' }>, 'type' | 'id'>;

function refusal(code: 'restart_refused' | 'reload_refused', cause: SvcError): SvcError {
  const { message, hint, details } = cause;
  if (cause.code === 'modules_unusable')
    // HTTP clients see it: it holds no path of the machine
    return new SvcError(code, String(details['reason']), {
      cause,
      hint: 'svc doctor --only node.modules, on the machine of the host, says what to run in which folder',
      details: { reason: cause.code },
    });
  return new SvcError(code, message, {
    cause,
    ...(hint === undefined ? {} : { hint }),
    details: { ...details, reason: cause.code },
  });
}

/** `starts` are the last ones, newest first. Throws `too_many_requests` if another restart would leave systemd no start for a crash. */
export function refuseInFullWindow(starts: readonly { readonly at: number }[]): void {
  const since = systemClock.now() - SYSTEMD_WINDOW_MS;
  const recent = starts.slice(0, SYSTEMD_STARTS).filter(({ at }) => at > since);
  if (recent.length < SYSTEMD_STARTS) return;
  const retryAfterMs = Math.min(...recent.map(({ at }) => at)) - since;
  throw new SvcError(
    'too_many_requests',
    `systemd counts a restart as a failure, and ${recent.length} starts lie in its window`,
    {
      hint: `try again in ${Math.ceil(retryAfterMs / 1_000)} s, or let systemd forget them: systemctl reset-failed and restart, for the unit`,
      details: { retryAfterMs },
    },
  );
}
