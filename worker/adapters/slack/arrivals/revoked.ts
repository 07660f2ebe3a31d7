// Passes Slack's events about revoked tokens and an uninstalled app to the account's connection.
import { type Json, objectAt, textAt } from '../../../sdk/platform/foreign-json.ts';

const TYPES: ReadonlySet<string | undefined> = new Set(['app_uninstalled', 'tokens_revoked']);
const watchers = new WeakMap<object, Set<() => void>>();

/** Slack sends both events in any order, late, and also for other tokens. The receiver must ask whether its token still works. */
export const isRevocation = (payload: Json): boolean => TYPES.has(textAt(objectAt(payload, 'event'), 'type'));

export function tellRevoked(account: object): void {
  for (const run of watchers.get(account) ?? []) run();
}

/** The returned function ends the subscription. Call it when the connection ends. */
export function onRevoked(account: object, run: () => void): () => void {
  const of = watchers.get(account) ?? new Set();
  watchers.set(account, of.add(run));
  return () => void of.delete(run);
}
