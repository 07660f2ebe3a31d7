// Drops dead sends to recipients that are no longer there: a person who left IRC, or who blocked the bot. Nobody would replay them, and each would
// stay for ever. Other dead letters stay until an operator decides.
import type { Core } from '../core/core.ts';
import type { Caller } from '../http/api/caller.ts';
import type { ItemStore } from '../http/api/items-api.ts';
import { RECIPIENT_GONE } from './outbox-machine.ts';

const DAY_MS = 86_400_000;
const CALLER: Caller = { scope: 'full', actor: 'housekeeping', requestId: 'housekeeping' };

/** Drops those that died `days` before `now`, a page at a time. Never throws: the next pass finds the rest. */
export async function expireGone(
  { log }: Pick<Core, 'log'>,
  outbox: Pick<ItemStore, 'dropMany'>,
  { now, days }: { readonly now: number; readonly days: number },
): Promise<void> {
  const upTo = new Date(now - days * DAY_MS).toISOString();
  const reason = `the recipient was gone, expired after ${days} days`;
  try {
    for (let after: string | undefined, isOver = false; !isOver; ) {
      const selection = { state: 'dead', code: RECIPIENT_GONE, upTo, after } as const;
      const { next } = await outbox.dropMany(selection, { caller: CALLER, reason });
      after = next;
      isOver = next === undefined;
    }
  } catch (error) {
    log.warn({ err: error }, 'dead sends to those who are gone did not expire: tried again');
  }
}
