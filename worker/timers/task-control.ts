// Waiting tasks for an operator. The due table is the only record of them: what is cancelled here is gone for its plugin too.
//
//   TASK-CONTROL-1  An id names a row and its due time. After a task was put off or fired, its id finds nothing.
//   TASK-CONTROL-2  A task is taken away in the unit of its event. One that fires at the same moment is not reported as cancelled.
import type { TaskPage, WaitingTask } from '../../shared/api/task.ts';
import { ownerOf } from '../../shared/identifiers.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { recordEvents } from '../events/event-history.ts';
import type { TaskControl } from '../http/api/tasks-api.ts';
import { type DueRow, readDueBySeq, readDuePage, takeDue } from './due-store.ts';

export function createTaskControl(core: Core): TaskControl {
  return {
    async page({ after, limit, plugin }): Promise<TaskPage> {
      const rows = await readDuePage(core.reader, {
        after: after === undefined ? undefined : placeOf(after, 'after'),
        owner: plugin === undefined ? undefined : ownerOf(plugin),
        limit: limit + 1,
      });
      const last = rows[limit - 1];
      return {
        items: rows.slice(0, limit).map(shown),
        ...(rows.length > limit && last !== undefined ? { next: idOf(last) } : {}),
      };
    },
    async cancel(id, { caller, keep }) {
      const { seq, at } = placeOf(id, 'id');
      const row = await readDueBySeq(core.reader, seq);
      if (row === undefined || row.at !== at || !isShown(row)) throw gone(id);
      if (row.kind === 'cron')
        throw new SvcError(
          'conflict',
          `${row.capability ?? ''} is a cron handler: its next time comes from its pattern`,
          {
            hint: 'disable its plugin in svc.config.yml, or change its pattern',
          },
        );
      const task = shown(row);
      const event = {
        type: 'task.cancelled',
        at: core.clock.now(),
        runtimeId: core.runtimeId,
        actor: caller.actor,
        data: { task: row.id, capability: task.capability },
      } as const;
      const answer = await core.writer.commit({
        name: 'task.cancel',
        statements: [takeDue(row), ...(keep?.(task) ?? []), ...recordEvents([event])],
      });
      if (answer.kind === 'refused') throw gone(id);
      return task;
    },
  };
}

const gone = (id: string): SvcError =>
  new SvcError('not_found', `no task waits under ${id}: it is done, was cancelled or was put off`, {
    hint: 'svc tasks list',
  });

const isShown = ({ kind }: DueRow): boolean => kind === 'task' || kind === 'cron';

/** Row and due time. A row's number alone may be given again once the row is gone. */
const idOf = ({ seq, at }: DueRow): string => `${seq}-${at.toString(36)}`;

function placeOf(id: string, name: 'id' | 'after'): { readonly seq: number; readonly at: number } {
  const [, seq = '', sign = '', at = ''] = /^(\d{1,15})-(-?)([0-9a-z]{1,11})$/.exec(id) ?? [];
  if (seq === '')
    throw name === 'id' ? gone(id) : new SvcError('invalid_request', '`after` is not a cursor of this list');
  return { seq: Number(seq), at: Number.parseInt(sign + at, 36) };
}

/** `task/<capability>/key:<key>` is the id of a task with a key. */
const keyOf = ({ id, kind }: DueRow): string | null =>
  kind === 'task' ? (/^task\/[^#]*#task\/.*?\/key:([\s\S]*)$/.exec(id)?.[1] ?? null) : null;

const shown = (row: DueRow): WaitingTask => ({
  id: idOf(row),
  kind: row.kind === 'cron' ? 'cron' : 'task',
  at: new Date(row.at).toISOString(),
  capability: row.capability ?? '',
  key: keyOf(row),
  data: JSON.parse(row.data) as unknown,
});
