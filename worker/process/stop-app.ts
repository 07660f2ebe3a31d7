// Stops an app under an additional time limit. A blocked event loop can make the app exceed its own limits.

import type { Cut } from '../../shared/api/control.ts';
import { within } from '../../shared/time/abort.ts';
import type { App, StopCause } from '../host/app-options.ts';

export interface StopLimit {
  /** Limit passed to the app. */
  readonly limitMs: number;
  /** Additional time to wait for the app. */
  readonly graceMs: number;
}

/** Resolves with everything that was cut. If the drain did not end, the list ends with the worker itself. Never throws. */
export async function stopApp(
  app: Pick<App, 'stop'>,
  end: StopCause,
  { limitMs, graceMs }: StopLimit,
): Promise<readonly Cut[]> {
  const cut: Cut[] = [];
  const stopped = app.stop(limitMs, end, (part) => cut.push(part));
  const late = await within(stopped, { ms: limitMs + graceMs, late: 'late' as const });
  if (late !== 'late') return cut;
  return [...cut, { name: 'worker', count: null, reason: `did not stop within ${limitMs} ms` }];
}
