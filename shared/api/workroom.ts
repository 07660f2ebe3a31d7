// Wire format of the Workroom: overview, items, boards, members, events of the journal, commands. Times are RFC 3339.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { nullableText } from './item.ts';

const text = Type.String();
const count = Type.Integer();
const open = { additionalProperties: true };

export const verificationSchema = Type.Object(
  {
    at: text,
    /** The head up to which everything was hashed again. */
    seq: count,
    hash: text,
    ms: count,
    faults: Type.Array(Type.Object({ fault: text, seq: count, stream: nullableText })),
  },
  open,
);
export type Verification = Static<typeof verificationSchema>;

export const workOverviewSchema = Type.Object(
  {
    /** The id that the chain begins with. */
    project: text,
    store: text,
    head: Type.Object({ seq: count, hash: text }),
    verified: Type.Union([verificationSchema, Type.Null()]),
    boards: Type.Array(Type.Object({ board: text, states: Type.Record(text, count) })),
    quarantined: Type.Array(text),
  },
  open,
);
export type WorkOverview = Static<typeof workOverviewSchema>;

export const workItemSchema = Type.Object(
  {
    id: text,
    board: text,
    version: count,
    status: text,
    /** `blocked` while a blocker is open, `assigned` for an open item that somebody has; else the status. */
    state: text,
    due: nullableText,
    overdue: Type.Boolean(),
    createdAt: text,
    changedAt: text,
    blockers: Type.Array(
      Type.Object(
        {
          id: text,
          kind: text,
          needs: nullableText,
          due: nullableText,
          overdue: Type.Boolean(),
          since: text,
          /** Commands that end it. */
          actions: Type.Array(text),
          /** Only with full scope. */
          owner: Type.Optional(nullableText),
          by: Type.Optional(text),
          reason: Type.Optional(nullableText),
        },
        open,
      ),
    ),
    /** The following fields only with full scope. Null: erased, or none. */
    title: Type.Optional(nullableText),
    text: Type.Optional(nullableText),
    assignee: Type.Optional(nullableText),
    creator: Type.Optional(text),
    comments: Type.Optional(Type.Array(Type.Object({ by: text, at: text, text: nullableText }))),
  },
  open,
);
export type WorkItemShown = Static<typeof workItemSchema>;

export const workItemPageSchema = Type.Object({ items: Type.Array(workItemSchema), next: Type.Optional(text) });
export type WorkItemPage = Static<typeof workItemPageSchema>;

export const workBoardsSchema = Type.Object({
  boards: Type.Array(
    Type.Object(
      {
        id: text,
        version: count,
        review: Type.Boolean(),
        archived: Type.Boolean(),
        /** Only with full scope. */
        name: Type.Optional(nullableText),
        roles: Type.Optional(Type.Record(text, Type.Array(text))),
        conversations: Type.Optional(Type.Array(Type.Object({ endpoint: text, conversation: text }))),
      },
      open,
    ),
  ),
});
export type WorkBoards = Static<typeof workBoardsSchema>;

export const workMembersSchema = Type.Object({
  version: count,
  /** With demo scope empty. */
  members: Type.Array(
    Type.Object(
      {
        id: text,
        kind: text,
        binding: nullableText,
        removed: Type.Boolean(),
        accounts: Type.Array(Type.Object({ endpoint: text, user: nullableText })),
      },
      open,
    ),
  ),
});
export type WorkMembers = Static<typeof workMembersSchema>;

export const workEventPageSchema = Type.Object({
  events: Type.Array(
    Type.Object(
      {
        seq: count,
        id: text,
        stream: text,
        version: count,
        kind: text,
        at: text,
        actor: text,
        cause: nullableText,
        data: Type.Record(text, Type.Unknown()),
        /** Words by field; a field is missing after it was erased. */
        texts: Type.Record(text, text),
        digest: text,
        hash: text,
      },
      open,
    ),
  ),
  /** Hand it in as `after` for the next page; absent on the last. */
  next: Type.Optional(count),
});
export type WorkEventPage = Static<typeof workEventPageSchema>;

/** With `raw=1`: events as they are stored and hashed; `data` and `texts` are texts of JSON, `at` is epoch milliseconds. */
export const rawWorkEventsSchema = Type.Object({
  events: Type.Array(
    Type.Object(
      {
        seq: count,
        id: text,
        stream: text,
        version: count,
        kind: text,
        at: count,
        actor: text,
        cause: nullableText,
        data: text,
        texts: nullableText,
        digest: text,
        hash: text,
      },
      open,
    ),
  ),
});
export type RawWorkEvents = Static<typeof rawWorkEventsSchema>;
export const workEventsSchema = Type.Union([workEventPageSchema, rawWorkEventsSchema]);

/** The keys of a command are checked by its kind. */
export const workCommandSchema = Type.Object({ kind: text }, open);

export const workAcceptedSchema = Type.Object(
  { stream: text, item: nullableText, version: count, state: nullableText },
  open,
);
export type WorkAccepted = Static<typeof workAcceptedSchema>;

/** One of both. */
export const workErasureSchema = Type.Object(
  { item: Type.Optional(text), member: Type.Optional(text) },
  { additionalProperties: false },
);

export const workErasedSchema = Type.Object({
  streams: count,
  /** Events that lost their words. 0: there were none. */
  events: count,
});
export type WorkErased = Static<typeof workErasedSchema>;

export const joinCodeSchema = Type.Object({ code: text });
