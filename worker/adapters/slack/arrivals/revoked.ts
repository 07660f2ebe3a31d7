// That Slack has told of a token which is revoked, or of the app which is taken out of its workspace: to the connection of the account.
import { type Json, objectAt, textAt } from '../../../sdk/platform/foreign-json.ts';

const TYPES: ReadonlySet<string | undefined> = new Set(['app_uninstalled', 'tokens_revoked']);
const watchers = new WeakMap<object, Set<() => void>>();

/** Both events may come, in any order, late, and of tokens that are not ours: whether ours is good is to be asked. */
export const isRevocation = (payload: Json): boolean => TYPES.has(textAt(objectAt(payload, 'event'), 'type'));

export function tellRevoked(account: object): void {
  for (const run of watchers.get(account) ?? []) run();
}

/** Call what it returns when the connection ends. */
export function onRevoked(account: object, run: () => void): () => void {
  const of = watchers.get(account) ?? new Set();
  watchers.set(account, of.add(run));
  return () => void of.delete(run);
}
