// What a command does while the host does not answer: it asks the control socket why, says on stderr what is waited for, and ends where
// the wait is one for an operator to decide on. Who holds the socket of the host takes connections that nobody reads.
import { setTimeout as pause } from 'node:timers/promises';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { findRunning } from './control-client.ts';

/** A host that is well has answered by then. */
const MOMENT_MS = 1_000;

export interface Waiting {
  readonly project: string;
  /** Is told what is waited for, once for each state. */
  readonly note: (line: string) => void;
  /** A request that changes something, for what is said where it is given up: it lies with the socket. */
  readonly change?: string;
}

/** The answer to what `ask` asks; its signal aborts where the command does not wait on. Throws `not_running` for a deferred start. */
export async function awaited<T>(ask: (signal: AbortSignal) => Promise<T>, waiting: Waiting): Promise<T> {
  const [givenUp, over] = [new AbortController(), new AbortController()];
  const answer = ask(givenUp.signal);
  try {
    return await Promise.race([answer, watch(over.signal, waiting)]);
  } catch (error) {
    givenUp.abort();
    answer.catch(() => {}); // it ends by that
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
    // Where nobody answers any more, the request ends by itself.
    if (status === undefined || status.state === 'running') continue;
    refuseDeferred(status, change);
    const text = stateText(status);
    if (text !== told && !over.aborted) note(`waiting: the host is ${text}`);
    told = text;
  }
}

/** Nothing starts the host for up to minutes, unless somebody says so. */
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
