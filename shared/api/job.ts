// Wire format of scheduled jobs and their runs. Actions, titles and reasons are included only with full scope.
import * as Type from 'typebox';
import { nullableText } from './item.ts';

export const JOB_RUN_STATES = ['running', 'done', 'failed', 'cancelled', 'skipped', 'missed'] as const;

const jobRunSchema = Type.Object(
  {
    runId: Type.String(),
    job: Type.String(),
    /** Null: started by hand. */
    due: nullableText,
    /** A missed range: all due times from `due` to here. */
    until: Type.Optional(nullableText),
    /** Due times that the row stands for; past 5,000 at least so many. */
    count: Type.Optional(Type.Integer()),
    state: Type.Enum(JOB_RUN_STATES),
    lateMs: Type.Integer(),
    startedAt: nullableText,
    doneAt: nullableText,
    /** The following fields only with full scope. */
    reason: Type.Optional(nullableText),
    item: Type.Optional(nullableText),
    actor: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);

/** The keys of the entry in the file, and what became of it. */
export const jobSchema = Type.Object(
  {
    id: Type.String(),
    paused: Type.Boolean(),
    next: nullableText,
    last: Type.Union([jobRunSchema, Type.Null()]),
    /** `there`, `endpoint_unknown` or `command_unknown`; null while nothing is served. */
    target: nullableText,
  },
  { additionalProperties: true },
);

export const jobsSchema = Type.Object({
  file: Type.Object({
    state: Type.Enum(['taken', 'refused', 'absent']),
    revision: Type.Union([Type.Integer(), Type.Null()]),
    sha256: nullableText,
    fault: Type.Union([
      Type.Object({
        code: Type.String(),
        line: Type.Integer(),
        column: Type.Integer(),
        path: Type.String(),
        message: Type.String(),
      }),
      Type.Null(),
    ]),
  }),
  jobs: Type.Array(jobSchema),
});

/** An entry of the file. The host checks its keys, and names every fault with its path. */
export const jobEntrySchema = Type.Object({}, { additionalProperties: true });

export const jobRunsSchema = Type.Object({ runs: Type.Array(jobRunSchema), next: Type.Optional(Type.String()) });

export const jobStartedSchema = Type.Object({ runId: Type.String() });
