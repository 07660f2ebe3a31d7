// The log line of a dead letter. It names the command that shows the item: the item's error may quote what people wrote.
import type { Core } from './core.ts';

export interface DeadLetter {
  readonly id: string;
  readonly endpoint: string;
  readonly code: string;
  /** The handler that failed. */
  readonly handler?: string | null;
  /** A warning instead: no alert is about what another alert could not tell. */
  readonly isOfAlert?: boolean;
}

const WHAT = {
  inbox: 'a message is a dead letter',
  outbox: 'a send is a dead letter',
  unknown: 'a send has no known outcome',
} as const;

/** Called after the commit. */
export function tellDead(
  { log }: Pick<Core, 'log'>,
  what: keyof typeof WHAT,
  { id, isOfAlert = false, ...why }: DeadLetter,
): void {
  const store = what === 'inbox' ? 'inbox' : 'outbox';
  log[isOfAlert ? 'warn' : 'error']({ item: id, ...why }, `${WHAT[what]}: svc ${store} show ${id}`);
}
