// Wire format of pages and changes that inbox and outbox share.
import type { TSchema } from 'typebox';
import * as Type from 'typebox';
import { MOST_REASON_CHARACTERS } from '../item-limits.ts';

/** One page. `next` is the cursor of the following page and absent on the last. */
export const pageOf = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), next: Type.Optional(Type.String()), total: Type.Integer() });

export const nullableText = Type.Union([Type.String(), Type.Null()]);

/** Fields of every item. Times are RFC 3339. */
export const itemFields = {
  id: Type.String(),
  /** Cursor of the item in the list. */
  seq: Type.Optional(Type.Integer()),
  endpoint: Type.Optional(Type.String()),
  kind: Type.Optional(Type.String()),
  attempts: Type.Optional(Type.Integer()),
  nextAt: Type.Optional(nullableText),
  doneAt: Type.Optional(nullableText),
  /** The following fields only with full scope. Size and digest would let a reader guess a short text. */
  bytes: Type.Optional(Type.Integer()),
  sha256: Type.Optional(Type.String()),
  lastError: Type.Optional(nullableText),
};

/** Answer for a send whose outcome is unknown: `again` repeats it, `done` marks it as sent. */
export const replaySchema = Type.Object(
  { answer: Type.Optional(Type.Union([Type.Literal('again'), Type.Literal('done')])) },
  { additionalProperties: false },
);

const reasonOf = () =>
  Type.Object(
    { reason: Type.String({ minLength: 1, maxLength: MOST_REASON_CHARACTERS }) },
    { additionalProperties: false },
  );

export const holdSchema = reasonOf();
export const dropSchema = reasonOf();
