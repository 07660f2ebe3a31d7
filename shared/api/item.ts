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
  /** Stable code of the cause of a dead item or an unknown send. */
  code: Type.Optional(nullableText),
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

/** Dead items by cause. Times are RFC 3339. */
export const causeGroupsSchema = Type.Object({
  groups: Type.Array(
    Type.Object({
      endpoint: Type.String(),
      /** Null in the outbox, and where no handler failed. */
      handler: nullableText,
      code: Type.String(),
      count: Type.Integer(),
      oldest: nullableText,
      newest: nullableText,
      /** Id of the newest item. */
      item: nullableText,
    }),
  ),
  /** How many items were looked at, the newest first. */
  looked: Type.Integer(),
  /** The host's time, for `upTo` of a change. */
  asOf: Type.String(),
});

const time = () => Type.String({ maxLength: 40 });

/** The items of a bulk change. */
const selectionFields = {
  state: Type.Union([Type.Literal('dead'), Type.Literal('unknown')]),
  endpoint: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  handler: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  code: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  since: Type.Optional(time()),
  upTo: time(),
  after: Type.Optional(Type.String({ maxLength: 20 })),
};

export const bulkReplaySchema = Type.Object(
  { ...selectionFields, answer: Type.Optional(Type.Union([Type.Literal('again'), Type.Literal('done')])) },
  { additionalProperties: false },
);
export const bulkDropSchema = Type.Object(
  { ...selectionFields, reason: Type.String({ minLength: 1, maxLength: MOST_REASON_CHARACTERS }) },
  { additionalProperties: false },
);

/** One page of a bulk change. `next` is the `after` of the following page and absent on the last. */
export const bulkResultSchema = Type.Object({
  done: Type.Integer(),
  left: Type.Integer(),
  /** On the last page: items that a replay leaves, because they are held, their text is gone or they need an answer. */
  skipped: Type.Integer(),
  next: Type.Optional(Type.String()),
});
