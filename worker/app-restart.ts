// A restart that a client asks for: refused where nothing would start the worker again, or where its owner would count it as a failure.
import { systemClock } from '../shared/clock.ts';
import { SvcError } from '../shared/svc-error.ts';
import type { Parts } from './app-parts.ts';
import { readStarts } from './database/project-state.ts';

/** systemd counts a restart as a failure: its own limit is five starts in two minutes. */
const SYSTEMD_STARTS = 4;
const SYSTEMD_WINDOW_MS = 120_000;
/** The answer goes out first. */
const ANSWER_MS = 50;

export async function requestRestart(parts: Parts, actor: string): Promise<void> {
  const { options, core } = parts;
  if (options.owner === 'foreground') {
    throw new SvcError('no_restart_owner', 'nothing would start this process again', {
      hint: 'start it with svc runtime start --daemon, systemd, launchd or a container',
    });
  }
  if (options.owner === 'systemd') await refuseInFullWindow(core.reader);
  await parts.tell({
    type: 'runtime.restart_requested',
    at: systemClock.now(),
    runtimeId: core.runtimeId,
    actor,
    data: { reason: 'requested', exitCode: 51 },
  });
  setTimeout(() => options.requestExit(51, `requested by ${actor}`), ANSWER_MS);
}

async function refuseInFullWindow(reader: Parts['core']['reader']): Promise<void> {
  const since = systemClock.now() - SYSTEMD_WINDOW_MS;
  const recent = (await readStarts(reader, SYSTEMD_STARTS)).filter(({ at }) => at > since);
  if (recent.length < SYSTEMD_STARTS) return;
  const oldest = Math.min(...recent.map(({ at }) => at));
  const retryAfterMs = oldest + SYSTEMD_WINDOW_MS - systemClock.now();
  throw new SvcError(
    'too_many_requests',
    `systemd counts a restart as a failure, and ${recent.length} starts lie in its window`,
    { details: { retryAfterMs } },
  );
}
