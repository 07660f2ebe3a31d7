// Pages and changes that inbox and outbox share on the wire.
import type { Static, TSchema } from 'typebox';
import * as Type from 'typebox';

/** One page; `next` is the cursor of the page after it and absent at the end. */
export const pageOf = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), next: Type.Optional(Type.String()), total: Type.Integer() });

/** For an item whose end is unknown: `again` sends it once more, `done` takes it as sent. */
export const replaySchema = Type.Object(
  { answer: Type.Optional(Type.Union([Type.Literal('again'), Type.Literal('done')])) },
  { additionalProperties: false },
);

export const dropSchema = Type.Object(
  { reason: Type.String({ minLength: 1, maxLength: 500 }) },
  { additionalProperties: false },
);

export type Replay = Static<typeof replaySchema>;
export type Drop = Static<typeof dropSchema>;
