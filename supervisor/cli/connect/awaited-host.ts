// Explains a wait for a host that does not answer: asks the control socket for the cause and prints it on stderr.
// Ends the wait if only an operator can end it. The supervisor holds the host's socket, so connections are accepted that no worker reads yet.
import { setTimeout as pause } from 'node:timers/promises';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { findRunning } from './control-client.ts';

/** A healthy host has answered by then. */
const MOMENT_MS = 1_000;

export interface Waiting {
  readonly project: string;
  /** Called with the cause of the wait, once for each state. */
  readonly note: (line: string) => void;
  /** Describes a request that changes state. The error for a cancelled one warns that it is still in the socket's queue. */
  readonly change?: string;
}

/** Returns the answer of `ask`. Its signal aborts if the wait is pointless. Throws `not_running` for a start that waits for the restart budget. */
export async function awaited<T>(ask: (signal: AbortSignal) => Promise<T>, waiting: Waiting): Promise<T> {
  const [givenUp, over] = [new AbortController(), new AbortController()];
  const answer = ask(givenUp.signal);
  try {
    return await Promise.race([answer, watch(over.signal, waiting)]);
  } catch (error) {
    givenUp.abort();
    answer.catch(() => {}); // ends by the abort above
    throw error;
  } finally {
    over.abort();
  }
}

async function watch(over: AbortSignal, { project, note, change }: Waiting): Promise<never> {
  let told: string | undefined;
  for (;;) {
    await pause(MOMENT_MS, undefined, { signal: over });
    const status = (await findRunning(project).catch(() => undefined))?.status;
    // If no process answers any more, the request ends by itself.
    if (status === undefined || status.state === 'running') continue;
    refuseDeferred(status, change);
    const text = stateText(status);
    if (text !== told && !over.aborted) note(`waiting: the host is ${text}`);
    told = text;
  }
}

/** In this state no worker starts for up to minutes, unless an operator restarts it. */
export function refuseDeferred(status: RuntimeStatus, change?: string): void {
  if (status.state !== 'deferred') return;
  const lies = change === undefined ? '' : `; ${change} lies with the socket, and may still be taken then`;
  throw new SvcError('not_running', `the host is ${stateText(status)}${lies}`, {
    hint: '`svc runtime restart` once more starts it now',
    details: { nextStartAt: status.budget?.nextStartAt ?? null },
  });
}

/** `backing off: waiting after a crash: …, next start at …`. */
export function stateText({ state, reason, budget }: RuntimeStatus): string {
  const next =
    state === 'deferred' || state === 'backing_off' ? `, next start at ${budget?.nextStartAt ?? 'a time unknown'}` : '';
  return `${state.replaceAll('_', ' ')}${reason === null ? '' : `: ${reason}`}${next}`;
}
