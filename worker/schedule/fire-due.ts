// What each kind of due row does when its moment has come.
import type { Core } from '../core.ts';
import { recordEvents } from '../events/event-history.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { takeDue, type DueRow } from './due-store.ts';
import type { TimerService } from './timer-service.ts';

export interface FireDeps {
  readonly core: Core;
  readonly inbox: Inbox;
  readonly timers: TimerService;
  /** The item's or send's lane may go on. */
  readonly releaseItem: (lane: string) => void;
  readonly releaseSend: (lane: string) => void;
  readonly reopenIngress: (row: DueRow) => Promise<void>;
  /** An item was stored. */
  readonly stored: () => void;
}

export function connectTimers(deps: FireDeps): void {
  const { core, timers } = deps;
  const release = (lane: (key: string) => void) => async (row: DueRow) => {
    await core.writer.commit({ name: 'due.retry', statements: [takeDue({ id: row.id, at: row.at })] });
    lane(row.lane ?? '');
  };
  timers.on('inbox', release(deps.releaseItem));
  timers.on('outbox', release(deps.releaseSend));
  timers.on('ingress', deps.reopenIngress);
  timers.on('task', (row) => fireTask(deps, row));
}

/** The row goes and the item comes in one unit. A row that was replaced meanwhile refuses it, and nothing has happened. */
async function fireTask({ core, inbox, stored }: FireDeps, row: DueRow): Promise<void> {
  const item = inbox.statementsFor({
    endpoint: row.capability ?? '',
    deliveryId: `${row.id}@${row.at}`,
    payload: { kind: 'task', data: JSON.parse(row.data) as unknown },
    lane: row.lane ?? row.id,
    capability: row.capability ?? '',
  });
  const answer = await core.writer.commit({ name: 'due.task', statements: [takeDue({ id: row.id, at: row.at }), ...item.statements] });
  if (answer.kind === 'committed') {
    item.stored();
    stored();
    return;
  }
  // Fired before (its item is stored) and scheduled again for the same moment: the row alone goes.
  if (answer.reason === 'unique') await core.writer.commit({ name: 'due.task_again', statements: [takeDue({ id: row.id, at: row.at }), ...recordEvents([])] });
}
