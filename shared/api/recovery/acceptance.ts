// Wire format of an acceptance: facts of a running host, and the rows that are judged from them. `shared/recovery/acceptance.ts` judges.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { nullableText } from '../item.ts';

const text = Type.String();
const count = Type.Integer();
const flag = Type.Boolean();
const open = { additionalProperties: true };
const orNull = <S extends Type.TSchema>(schema: S): Type.TUnion<[S, Type.TNull]> => Type.Union([schema, Type.Null()]);

/** What somebody saw who asked for `/pub/health`. The first entry counts; a second one is of the bound address, if the first gave no answer. */
const healthAnswerSchema = Type.Object(
  {
    url: Type.String({ maxLength: 1_000 }),
    /** Null: no answer. */
    status: orNull(count),
    /** Why it is no answer of a host that is up. */
    reason: orNull(Type.String({ maxLength: 500 })),
    ms: count,
  },
  { additionalProperties: false },
);
export type HealthAnswer = Static<typeof healthAnswerSchema>;

const servedSchema = Type.Object(
  {
    project: text,
    svc: text,
    /** Null outside a repository. */
    commit: nullableText,
    /** Files differ from the commit. */
    dirty: flag,
    /** The project is the root of its repository. */
    isRoot: flag,
    configVersion: text,
    /** SHA-256 of the lockfile. */
    lockfile: nullableText,
  },
  open,
);
export type ServedVersion = Static<typeof servedSchema>;

const headSchema = Type.Object({ seq: count, hash: text }, open);

export const acceptanceFactsSchema = Type.Object(
  {
    at: text,
    /** What came in or died since then counts. */
    begin: text,
    /** The open release, with what it says of the new version. */
    release: orNull(
      Type.Object(
        {
          name: text,
          state: text,
          commit: nullableText,
          lockfile: nullableText,
          configVersion: nullableText,
          svc: nullableText,
        },
        open,
      ),
    ),
    isPaused: flag,
    /** Where people reach the host, by the configuration. */
    address: nullableText,
    health: Type.Array(healthAnswerSchema),
    host: servedSchema,
    /** The last acceptance. */
    accepted: orNull(
      Type.Object(
        { id: count, at: text, host: servedSchema, capabilities: Type.Array(text), endpoints: Type.Array(text) },
        open,
      ),
    ),
    /** Each required one; with none required each enabled one. Counts are of its newest items since the begin. */
    endpoints: Type.Array(
      Type.Object(
        {
          id: text,
          /** Null: not in the generation. */
          state: nullableText,
          reason: nullableText,
          remedy: nullableText,
          isSandbox: flag,
          handled: count,
          open: count,
          dead: count,
          lastAt: nullableText,
        },
        open,
      ),
    ),
    capability: Type.Object(
      {
        generation: orNull(count),
        failure: orNull(Type.Object({ code: text, reason: text }, open)),
        capabilities: Type.Array(text),
        endpoints: Type.Array(text),
      },
      open,
    ),
    authority: Type.Object(
      {
        database: Type.Object({ project: nullableText, epoch: nullableText }, open),
        /** What events name. */
        served: Type.Object({ project: text, epoch: text }, open),
        /** `first`, `last` and `count` are of the stored rows; null and 0 without any. */
        events: Type.Object({ oldest: count, head: count, first: orNull(count), last: orNull(count), count }, open),
        /** Null on a host that is no Workroom. `project`: of the files; null while the journal is in the database, or empty. */
        journal: orNull(
          Type.Object(
            {
              store: text,
              project: nullableText,
              head: headSchema,
              appliedSeq: count,
              verified: orNull(Type.Object({ at: text, seq: count, hash: text, faults: count }, open)),
            },
            open,
          ),
        ),
        /** `absent`, `taken` or `refused`. */
        jobs: Type.Object({ state: text, reason: nullableText, revision: orNull(count) }, open),
      },
      open,
    ),
    /** `critical`: names of the critical alerts that fire. `unknown`: of those of which nobody knows. */
    quiet: Type.Object({ dead: count, diedSince: count, critical: Type.Array(text), unknown: Type.Array(text) }, open),
  },
  open,
);
export type AcceptanceFacts = Static<typeof acceptanceFactsSchema>;

const acceptanceRowSchema = Type.Object(
  {
    row: text,
    answer: Type.Enum(['yes', 'no', 'unknown']),
    evidence: Type.Array(text),
    remedy: nullableText,
    /** The reason by which a person has settled an `unknown`. */
    settled: nullableText,
  },
  open,
);
export type AcceptanceRow = Static<typeof acceptanceRowSchema>;

export const acceptanceSchema = Type.Object(
  {
    /** Each row is yes, or a settled unknown. */
    accepted: flag,
    /** Number of the stored acceptance; null if it is none. */
    id: orNull(count),
    rows: Type.Array(acceptanceRowSchema),
    facts: acceptanceFactsSchema,
  },
  open,
);
export type Acceptance = Static<typeof acceptanceSchema>;

const reason = Type.Optional(Type.String({ minLength: 1, maxLength: 500 }));

export const acceptanceAskSchema = Type.Object(
  {
    settled: Type.Optional(
      Type.Object(
        { health: reason, host: reason, endpoints: reason, capability: reason, authority: reason, quiet: reason },
        { additionalProperties: false },
      ),
    ),
    health: Type.Optional(Type.Array(healthAnswerSchema, { maxItems: 2 })),
    since: Type.Optional(Type.String({ maxLength: 40 })),
    /** Seconds. */
    within: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_622_400 })),
  },
  { additionalProperties: false },
);
export type AcceptanceAsk = Static<typeof acceptanceAskSchema>;
