// Alerts that the steps of a release make true, so nobody has to be told: ingress is paused, clients and accounts are cut by the restart.
// A host that does not become ready, crashes or loses a required account is told also during a release.
import type { ReleaseRecord } from '../../shared/recovery/release-record.ts';

const CAUSED: ReadonlySet<string> = new Set(['SvcPausedLong', 'SvcBacklog', 'SvcEndpointOffline', 'SvcStreamGaps']);
const NONE: ReadonlySet<string> = new Set();
/** From the pause until ingress is open again. */
const STEPS: ReadonlySet<string> = new Set(['begun', 'checked', 'started', 'accepted']);
/** A release that nobody goes on with is no reason any more. */
const FRESH_MS = 4 * 3_600_000;

export function expectedIn(
  newest: Pick<ReleaseRecord, 'state' | 'steps'> | undefined,
  now: number,
): ReadonlySet<string> {
  if (newest === undefined || !STEPS.has(newest.state)) return NONE;
  const at = Date.parse(newest.steps.at(-1)?.at ?? '');
  return now - at < FRESH_MS ? CAUSED : NONE;
}
