// Wire format of releases. Actors, signals' texts, results' details and folders are included only with full scope.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { nullableText } from '../item.ts';

const text = Type.String();
const open = { additionalProperties: true };
const orNull = <S extends Type.TSchema>(schema: S): Type.TUnion<[S, Type.TNull]> => Type.Union([schema, Type.Null()]);

export const releaseSchema = Type.Object(
  {
    name: text,
    /** Null where the record cannot be read. */
    state: nullableText,
    /** Time of the last step. */
    since: nullableText,
    restorePoint: nullableText,
    windowUntil: nullableText,
    verdict: orNull(
      Type.Object(
        {
          verdict: text,
          at: text,
          /** What decided. Only with full scope. */
          signal: Type.Optional(text),
        },
        open,
      ),
    ),
    /** `svc release …` that goes on. Null after an end. */
    next: nullableText,
    /** Why the record cannot be read. */
    fault: nullableText,
    /** The record; only of a single release. */
    record: Type.Optional(Type.Object({}, open)),
  },
  open,
);
export type Release = Static<typeof releaseSchema>;

export const releasesSchema = Type.Object(
  {
    /** The newest first. */
    releases: Type.Array(releaseSchema),
  },
  open,
);
export type Releases = Static<typeof releasesSchema>;
