// Wire format of checkpoints. Reasons, targets and names of secrets are included only with full scope.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { nullableText } from '../item.ts';

const text = Type.String();
const count = Type.Integer();
const open = { additionalProperties: true };
const orNull = <S extends Type.TSchema>(schema: S): Type.TUnion<[S, Type.TNull]> => Type.Union([schema, Type.Null()]);

export const checkpointSchema = Type.Object(
  {
    name: text,
    createdAt: nullableText,
    bytes: count,
    /** How far it is proven: `made`, `checked` or `rehearsed`. `failed`: its rehearsal found a fault; `damaged`: its files are wrong. */
    level: text,
    verifiedAt: nullableText,
    /** Why it cannot be relied on. */
    fault: nullableText,
    /** The manifest without its list of files; only of a single checkpoint. */
    manifest: Type.Optional(Type.Object({}, open)),
    /** Only with full scope. */
    reason: Type.Optional(nullableText),
  },
  open,
);
export type Checkpoint = Static<typeof checkpointSchema>;

export const checkpointsSchema = Type.Object(
  {
    /** The newest first. */
    checkpoints: Type.Array(checkpointSchema),
    /** The one that is being made. */
    running: orNull(Type.Object({ name: text, copiedBytes: count, totalBytes: count }, open)),
    /** The last one made since this start, with what a list cannot tell. */
    last: orNull(
      Type.Object(
        {
          name: text,
          bytes: count,
          ms: count,
          holdMs: count,
          secretHits: count,
          warnings: Type.Optional(Type.Array(text)),
        },
        open,
      ),
    ),
    /** The last failure since this start. */
    failure: orNull(
      Type.Object(
        {
          name: nullableText,
          at: text,
          code: text,
          /** Only with full scope. */
          message: Type.Optional(text),
          hint: Type.Optional(nullableText),
        },
        open,
      ),
    ),
    /** When the host makes the next one by itself. */
    next: nullableText,
  },
  open,
);
export type Checkpoints = Static<typeof checkpointsSchema>;

export const checkpointMakeSchema = Type.Object(
  { reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })) },
  { additionalProperties: false },
);

export const checkpointVerifySchema = Type.Object(
  {
    /** Hashes alone. */
    quick: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export const checkpointBegunSchema = Type.Object({ name: text }, open);

const stateSchema = Type.Object({ epoch: text, head: count, schema: count, project: text, journal: count }, open);
const counts = (...names: readonly string[]) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, count])), open);
const flag = Type.Boolean();

/** What a restore would do. `null` where it cannot be told. */
/** Work of the time since a checkpoint that does not come along. */
export const lostWorkSchema = Type.Object(
  {
    events: count,
    handled: count,
    plugins: count,
    journal: orNull(Type.Object({ from: count, to: count }, open)),
    jobs: count,
    tasks: count,
    sends: count,
    /** Accounts that were enabled or disabled. */
    accounts: count,
  },
  open,
);
export type LostWork = Static<typeof lostWorkSchema>;

export const restorePlanSchema = Type.Object(
  {
    purpose: text,
    name: text,
    createdAt: text,
    level: nullableText,
    verifiedAt: nullableText,
    made: orNull(Type.Object({ svc: text, commit: nullableText }, open)),
    /** The state of the checkpoint. */
    past: stateSchema,
    /** The present state; null: there is none yet. */
    now: orNull(stateSchema),
    /** Why the present state cannot be read: nothing of it comes along. */
    unreadable: nullableText,
    /** Whether the present schema has a breaking migration that the one of the checkpoint has not. */
    isBreaking: flag,
    /** The commit that is checked out. */
    commit: nullableText,
    isConfigSame: orNull(flag),
    /** Paths in svc.config.yml whose values differ. */
    configKeys: orNull(Type.Array(text)),
    isLockfileSame: orNull(flag),
    /** Names of secrets whose value has changed since. */
    secrets: orNull(Type.Array(text)),
    lost: orNull(lostWorkSchema),
    /** Sends that went out since, by account. */
    notUndone: orNull(Type.Object({ sends: Type.Record(text, count) }, open)),
    comesAlong: orNull(counts('received', 'waitingSends', 'waitingTasks', 'ids', 'endedItems', 'endedSends', 'tasks')),
    /** Rows that the restored schema has no place for, by `table.column` and `table`. */
    notHeld: orNull(Type.Record(text, count)),
    open: orNull(counts('items', 'sends')),
    bytes: count,
    /** For `svc checkpoint restore --yes --plan`. Changes with the present state. */
    digest: text,
  },
  open,
);
