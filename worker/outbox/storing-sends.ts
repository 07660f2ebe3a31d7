// Sends that are being committed. A runner that finds such a send on disk waits for the answer to its commit.
// Each send starts as soon as it is stored, unless another send of its conversation comes first.

import type { JustCommitted } from '../lanes/just-committed.ts';
import type { LaneRunner } from '../lanes/lane-runner.ts';
import { headOf, type NewOutboxRow, type SendHead } from './outbox-store.ts';

/** Call this before the commit, and the returned function after it, whatever the result. */
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
