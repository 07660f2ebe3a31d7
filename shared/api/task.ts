// Wire format of waiting tasks and the next times of cron handlers. Full scope only: data and keys hold texts and names of people.
import type { Static } from 'typebox';
import * as Type from 'typebox';

export const taskSchema = Type.Object(
  {
    /** Changes when the task is put off, so a change is never made to another time than the one that was read. */
    id: Type.String(),
    kind: Type.Enum(['task', 'cron']),
    /** When it is due, RFC 3339. */
    at: Type.String(),
    capability: Type.String(),
    /** The plugin's own name for a task; null for one that it cannot cancel, and for cron. */
    key: Type.Union([Type.String(), Type.Null()]),
    /** What the handler gets; for cron the pattern and its time zone. */
    data: Type.Unknown(),
  },
  { additionalProperties: true },
);

/** One page, the next one first. `next` is the cursor of the following page and absent on the last. */
export const taskPageSchema = Type.Object({ items: Type.Array(taskSchema), next: Type.Optional(Type.String()) });

export type WaitingTask = Readonly<Static<typeof taskSchema>>;
export type TaskPage = Readonly<Static<typeof taskPageSchema>>;
