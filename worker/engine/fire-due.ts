// What each kind of due row does when its moment has come.
import { uuidv7 } from '../../shared/identifiers.ts';
import { type Core, commitOrThrow } from '../core/core.ts';
import type { Statement } from '../database/unit.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { bringForward, type DueRow, type SetBack, takeDue } from '../timers/due-store.ts';
import type { TimerService } from '../timers/timer-service.ts';

/** What waits in a lane for its next attempt. */
export interface Released {
  /** Notes that the wait is over, so that a clock that steps back does not make it wait for a row that is gone. */
  readonly isDue: (id: string, at: number) => readonly Statement[];
  /** The same wait as in the due table. */
  readonly bringForward: (by: SetBack) => readonly Statement[];
  /** The lane may go on if this is its first. */
  readonly release: (lane: string, id: string) => void;
}

export interface FireDeps {
  readonly core: Core;
  readonly inbox: Inbox;
  readonly timers: TimerService;
  readonly items: Released;
  readonly sends: Released;
  readonly reopenIngress: (row: DueRow) => Promise<void>;
  /** An item was stored. */
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

/** The row goes and the item comes in one unit: it fires once. A row that was replaced meanwhile refuses it, and nothing has happened. */
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
