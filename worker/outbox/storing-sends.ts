// Sends on their way to the disk: who meets one there before the answer to its commit is here waits for that, and each starts as soon as it
// is stored, unless something of its conversation comes before it.

import type { JustCommitted } from '../lanes/just-committed.ts';
import type { LaneRunner } from '../lanes/lane-runner.ts';
import { headOf, type NewOutboxRow, type SendHead } from './outbox-store.ts';

/** To be called before the commit; what is returned is to be called after it, whatever came of it. */
export function storingSends(
  { recent, sender }: { readonly recent: JustCommitted<NewOutboxRow>; readonly sender: LaneRunner<SendHead> },
  rows: readonly NewOutboxRow[],
): (isStored: boolean) => void {
  if (rows.length === 0) return () => {};
  const arrive = recent.coming(rows);
  const slots = rows.map((row) => sender.storing(headOf(row), row.state === 'sending'));
  return (isStored) => {
    if (isStored) for (const row of rows) recent.keep(row);
    arrive();
    for (const slot of slots) {
      if (isStored) slot.begin();
      else slot.abandon();
    }
  };
}
