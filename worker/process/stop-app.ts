// The drain of an app under a limit of its own, for one that does not keep to the limits of its steps, as where its event loop is held up.

import type { Cut } from '../../shared/api/control.ts';
import { within } from '../../shared/time/abort.ts';
import type { App, StopCause } from '../host/app-options.ts';

export interface StopLimit {
  /** For the app itself. */
  readonly limitMs: number;
  /** How much longer it is waited for. */
  readonly graceMs: number;
}

/** Resolves with all that was cut: of a drain that did not end, what it had cut by then, and last the worker itself. Never throws. */
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
