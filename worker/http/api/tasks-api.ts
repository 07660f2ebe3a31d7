// Waiting tasks, for an operator to read and cancel.
import type { TaskPage, WaitingTask } from '../../../shared/api/task.ts';
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';

export interface TaskPageRequest {
  readonly after: string | undefined;
  /** 1 to 200. */
  readonly limit: number;
  /** Only tasks of the plugin in this slot. */
  readonly plugin: string | undefined;
}

export interface TaskControl {
  page(request: TaskPageRequest): Promise<TaskPage>;
  /** Throws `not_found` for one that does not wait any more, `conflict` for the next time of a cron handler. */
  cancel(id: string, change: { readonly caller: Caller; readonly keep?: Keep<WaitingTask> }): Promise<WaitingTask>;
}
