// State machine of an inbox item. Pure. The statements of the inbox store carry the same rules as guards, so nothing calls this table at run time.
// test/contract/database/inbox-states.test.ts checks the statements against it.
//
//   state     | claimed  | handled | passed | postponed | buried | replayed | held | dropped | cut      | set aside
//   received  | handling | -       | done   | -         | dead   | -        | dead | done    | -        | -
//   handling  | handling | done    | done   | waiting   | dead   | -        | dead | done    | received | waiting
//   waiting   | handling | -       | done   | -         | dead   | -        | dead | done    | -        | -
//   done      | -        | -       | -      | -         | -      | -        | -    | -       | -        | -
//   dead      | -        | -       | -      | -         | -      | received | -    | done    | -        | -
//
// passed: no handler listens. held: an operator stops the item until a replay. cut: an orderly stop interrupted the handlers.
// set aside: in hand at two deaths of the process.
//
//   INBOX-MACHINE-1  A done item stays done.
//   INBOX-MACHINE-2  A crash leaves the item in `handling`. The item is claimed again after the first crash and waits `inbox.quarantineSeconds` after
//                    the second.
import type { InboxState } from '../database/tables.ts';

export type InboxEvent =
  | 'claimed'
  | 'handled'
  | 'passed'
  | 'postponed'
  | 'buried'
  | 'replayed'
  | 'held'
  | 'dropped'
  | 'cut'
  | 'set_aside';

const TABLE: Readonly<Record<InboxState, Partial<Readonly<Record<InboxEvent, InboxState>>>>> = {
  received: { claimed: 'handling', passed: 'done', buried: 'dead', held: 'dead', dropped: 'done' },
  handling: {
    claimed: 'handling',
    handled: 'done',
    passed: 'done',
    postponed: 'waiting',
    buried: 'dead',
    held: 'dead',
    dropped: 'done',
    cut: 'received',
    set_aside: 'waiting',
  },
  waiting: { claimed: 'handling', passed: 'done', buried: 'dead', held: 'dead', dropped: 'done' },
  done: {},
  dead: { replayed: 'received', dropped: 'done' },
};

/** The next state, or undefined if the event is not allowed in this state. */
export function stepItem(state: InboxState, event: InboxEvent): InboxState | undefined {
  return TABLE[state][event];
}

/** Delay before the next attempt after this many failures: 1 s, 5 s, 30 s, then 2 min. */
export function retryDelayMs(failures: number): number {
  return [1_000, 5_000, 30_000][failures - 1] ?? 120_000;
}
