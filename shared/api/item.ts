// Pages and changes that inbox and outbox share on the wire.
import type { TSchema } from 'typebox';
import * as Type from 'typebox';
import { MOST_REASON_CHARACTERS } from '../item-limits.ts';

/** One page; `next` is the cursor of the page after it and absent at the end. */
export const pageOf = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), next: Type.Optional(Type.String()), total: Type.Integer() });

export const nullableText = Type.Union([Type.String(), Type.Null()]);

/** What every item has; times are RFC 3339. */
export const itemFields = {
  id: Type.String(),
  /** Cursor of its place in the list. */
  seq: Type.Optional(Type.Integer()),
  endpoint: Type.Optional(Type.String()),
  kind: Type.Optional(Type.String()),
  attempts: Type.Optional(Type.Integer()),
  nextAt: Type.Optional(nullableText),
  doneAt: Type.Optional(nullableText),
  /** These for full scope: a short text could be guessed by its size and digest. */
  bytes: Type.Optional(Type.Integer()),
  sha256: Type.Optional(Type.String()),
  lastError: Type.Optional(nullableText),
};

/** For an item whose end is unknown: `again` sends it once more, `done` takes it as sent. */
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
