// Rows of the table `due` are what waits for a time: retries, tasks, the end of a pause. This does what each kind asks for when its time has come.
import { uuidv7 } from '../../shared/identifiers.ts';
import { type Core, commitOrThrow } from '../core/core.ts';
import type { Statement } from '../database/unit.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { bringForward, type DueRow, type SetBack, takeDue } from '../timers/due-store.ts';
import type { TimerService } from '../timers/timer-service.ts';

/** Rows that wait in a lane for their next attempt: inbox items or sends. */
export interface Released {
  /** Stores that the wait is over. Otherwise, after the clock steps back, the row would wait for a due row that is gone. */
  readonly isDue: (id: string, at: number) => readonly Statement[];
  /** Moves the stored waits back, as in the due table. */
  readonly bringForward: (by: SetBack) => readonly Statement[];
  /** Lets the lane continue if this row is its first. */
  readonly release: (lane: string, id: string) => void;
}

export interface FireDeps {
  readonly core: Core;
  readonly inbox: Inbox;
  readonly timers: TimerService;
  readonly items: Released;
  readonly sends: Released;
  readonly reopenIngress: (row: DueRow) => Promise<void>;
  /** Called after an item was stored. */
  readonly stored: () => void;
}

export function connectTimers(deps: FireDeps): void {
  const { core, timers, items, sends } = deps;
  timers.onSetBack(async (by) => {
    const statements = [bringForward(by), ...items.bringForward(by), ...sends.bringForward(by)];
    await commitOrThrow(core.writer, { name: 'due.brought_forward', statements });
  });
  const release = (to: Released) => async (row: DueRow) => {
    await core.writer.commit({
      name: 'due.retry',
      statements: [takeDue(row), ...to.isDue(row.data, row.at)],
    });
    to.release(row.lane ?? '', row.data);
  };
  timers.on('inbox', release(items));
  timers.on('outbox', release(sends));
  timers.on('ingress', deps.reopenIngress);
  timers.on('task', (row) => fireTask(deps, row));
}

/**
 * The due row is removed and the item stored in one transaction, so a task fires once. If the row was replaced meanwhile, the transaction is refused
 * and nothing is stored.
 */
async function fireTask({ core, inbox, stored }: FireDeps, row: DueRow): Promise<void> {
  const answer = await inbox.storeWith(
    {
      endpoint: row.capability ?? '',
      deliveryId: `${row.id}@${row.at}/${uuidv7(core.clock.now())}`,
      payload: { kind: 'task', data: JSON.parse(row.data) as unknown },
      lane: row.lane ?? row.id,
      capability: row.capability ?? '',
    },
    { name: 'due.task', statements: [takeDue(row)] },
  );
  if (answer.kind === 'committed') stored();
}
