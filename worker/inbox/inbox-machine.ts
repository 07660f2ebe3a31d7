// What an item of the inbox may become. Pure: the store has the same rules as guards of its statements, this is their table. Nothing asks it at
// work: test/contract/database/inbox-states.test.ts holds the statements to it.
//
//   state     | claimed  | handled | passed | postponed | buried | replayed | held | dropped | cut      | set aside
//   received  | handling | -       | done   | -         | dead   | -        | dead | done    | -        | -
//   handling  | handling | done    | done   | waiting   | dead   | -        | dead | done    | received | waiting
//   waiting   | handling | -       | done   | -         | dead   | -        | dead | done    | -        | -
//   done      | -        | -       | -      | -         | -      | -        | -    | -       | -        | -
//   dead      | -        | -       | -      | -         | -      | received | -    | done    | -        | -
//
// (passed: nobody handles it; held: an operator keeps it from its handlers until it is replayed; cut: by an orderly stop; set aside: in hand at
// two deaths of the process)
//
//   I1  An item that is done stays done.
//   I2  Only a handled or postponed item leaves `handling` by what its handlers decided; a crash leaves it there. After the first it is claimed
//       again, after the second it waits (`inbox.quarantineSeconds`).
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

/** The next state, or undefined when the event is refused in this one. */
export function stepItem(state: InboxState, event: InboxEvent): InboxState | undefined {
  return TABLE[state][event];
}

/** Wait before the next attempt after so many that failed: 1 s, 5 s, 30 s, then 2 min (sdk: Options.attempts). */
export function retryDelayMs(failures: number): number {
  return [1_000, 5_000, 30_000][failures - 1] ?? 120_000;
}
