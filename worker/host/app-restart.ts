// A restart that a client asks for: refused where nothing would start the worker again, where its owner would count it as a failure, or where
// no worker would start, or serve anything, with configuration and code as they are now.
import type { WorkerMessage } from '../../shared/api/ipc.ts';
import { ERRORS } from '../../shared/error-codes.ts';
import { projectPaths } from '../../shared/files/paths.ts';
import { refuseUnusableState } from '../../shared/files/state-folder.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import { systemClock } from '../../shared/time/clock.ts';
import { reasonOf } from '../core/core.ts';
import { readStarts } from '../database/starts-ledger.ts';
import type { RestartOwner } from '../database/writer-lock.ts';
import type { Keep } from '../http/answer/kept-answer.ts';
import type { App } from './app-options.ts';
import type { Parts } from './app-parts.ts';

/** systemd counts a restart as a failure: its own limit is five starts in two minutes. */
const SYSTEMD_STARTS = 4;
const SYSTEMD_WINDOW_MS = 120_000;
/** A restart is refused there, and this would take the host away. */
const FOREGROUND_HINT =
  'stop it and start it again: nothing else would, and svc runtime reload --or-restart just ends it (75) for whoever started it';
/** The answer goes out first. */
const ANSWER_MS = 50;

/** `keep`: the answer, stored before anything ends: asked for again after it, under its key, it is not done once more. */
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

/** What a reload cannot take in, the next process does. */
export async function restartInstead(parts: Parts, reason: string, keep?: Keep<'restarts'>): Promise<void> {
  try {
    await refuseBadNext(parts);
  } catch (error) {
    throw refusedReload(coerceError(error), parts.options.owner);
  }
  const statements = keep?.('restarts') ?? [];
  if (statements.length > 0) await parts.core.writer.commit({ name: 'reload.restarts', statements }).catch(() => {}); // it is answered all the same
  parts.options.requestExit(EXIT.restartRequired, reason);
}

/** Throws where the worker after this one would end with 78, or would serve nothing where this one serves. Where nothing has changed it would not. */
export async function refuseBadNext(parts: Parts): Promise<void> {
  refuseUnusableState(projectPaths(parts.options.project));
  const { isChanged } = await parts.engine.runtime.checkNext();
  if (isChanged) await refuseBadCode(parts);
}

/** A worker that serves nothing has nothing to lose but itself: what ends the next one with 78 leaves no host at all. */
export async function refuseBadCode({ engine, nextCode, core }: Parts): Promise<void> {
  const isServing = engine.runtime.current !== undefined;
  try {
    if (!(await nextCode.check())) core.log.warn({}, 'the code was not tried before a restart: no process for it');
  } catch (error) {
    const { code, hint } = coerceError(error);
    if (!isServing && ERRORS[code].exit !== EXIT.config) return;
    const reason = reasonOf(core, error);
    core.log.warn({ code, reason }, 'not restarted: no worker would serve with the code as it is');
    throw new SvcError(code, reason, { cause: error, ...(hint === undefined ? {} : { hint }) });
  }
}

/** Why a reload, or the restart that it would become, leaves the serving generation as it is. */
export function refusedReload(error: SvcError, owner: RestartOwner): SvcError {
  if (error.code === 'restart_required' && owner === 'foreground')
    return new SvcError(error.code, error.message, { cause: error, hint: FOREGROUND_HINT, details: error.details });
  if (['restart_required', 'storage_unavailable', 'precondition_failed'].includes(error.code)) return error;
  return refusal('reload_refused', error);
}

/** The same for a command, which ends with the code of what is wrong: a configuration that no start would take is 78, whoever finds it. */
export function reloadFault(error: unknown): SvcError {
  const known = coerceError(error);
  const { cause } = known;
  const isOfFile =
    known.code === 'reload_refused' && cause instanceof SvcError && ERRORS[cause.code].exit === EXIT.config;
  return isOfFile ? cause : known;
}

/** What a supervisor is told that has asked for a reload. */
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
  return new SvcError(code, message, {
    cause,
    ...(hint === undefined ? {} : { hint }),
    details: { ...details, reason: cause.code },
  });
}

/** Of the last starts, newest first. Throws `too_many_requests` where one more would leave systemd none for a crash. */
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
