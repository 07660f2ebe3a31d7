// Statements and reads of the ledger of jobs. The writing ones join the unit of what they record.
import type { Selectable } from 'kysely';
import { prepared, preparedRead, sql } from '../database/statement.ts';
import type { JobRunState, JobRunsTable } from '../database/tables.ts';
import type { Reader } from '../database/unit.ts';

export type JobRun = Selectable<JobRunsTable>;
export const OPEN_GUARD = 'job_open';

/** Refused as `unique` if the ledger knows this due time of the job. */
export const insertRun = prepared<JobRun>((run) =>
  sql.insertInto('job_runs').values({
    run_id: run.run_id,
    job: run.job,
    due: run.due,
    until: run.until,
    count: run.count,
    state: run.state,
    reason: run.reason,
    item_id: run.item_id,
    actor: run.actor,
    late_ms: run.late_ms,
    started_at: run.started_at,
    done_at: run.done_at,
  }),
);

/** Refuses the unit if as many runs of the job are open. Changes no value: the row count alone tells. Put it before the insert. */
export const refuseOpenRuns = prepared<{ job: string; most: number }>(
  ({ job, most }) =>
    sql
      .updateTable('counters')
      .set(({ ref }) => ({ value: ref('value') }))
      .where('name', '=', 'event')
      .where(({ selectFrom, eb }) =>
        eb(
          selectFrom('job_runs')
            .select(({ fn }) => fn.countAll<number>().as('n'))
            .where('job', '=', job)
            .where('done_at', 'is', null),
          '<',
          most,
        ),
      ),
  { expect: 1, guard: OPEN_GUARD },
);

export const endRun = prepared<{ run: string; state: JobRunState; reason: string | null; at: number }>(
  ({ run, state, reason, at }) =>
    sql
      .updateTable('job_runs')
      .set({ state, reason, done_at: at })
      .where('run_id', '=', run)
      .where('done_at', 'is', null),
  { expect: 1, guard: 'job_run' },
);

/** Counts runs (or missed due times) of a job by outcome. */
export const countEnd = prepared<{ name: string; outcome: string; count: number; at: number }>(
  ({ name, outcome, count, at }) =>
    sql
      .insertInto('run_totals')
      .values({ kind: 'job', name, outcome, count, last_at: at })
      .onConflict((conflict) =>
        conflict
          .columns(['kind', 'name', 'outcome'])
          .doUpdateSet(({ eb }) => ({ count: eb('run_totals.count', '+', count), last_at: at })),
      ),
);

export interface Total {
  readonly name: string;
  readonly outcome: string;
  readonly count: number;
  readonly last_at: number;
}
export const readTotals = (reader: Reader): Promise<Total[]> =>
  reader.all(sql.selectFrom('run_totals').select(['name', 'outcome', 'count', 'last_at']).where('kind', '=', 'job'));

type Span = Pick<JobRun, 'due' | 'until'>;
interface SpanOf {
  readonly job: string;
  readonly from: number;
  readonly until: number;
}

const earlierRow = preparedRead<Pick<SpanOf, 'job' | 'from'>, Span>(({ job, from }) =>
  sql
    .selectFrom('job_runs')
    .select(['due', 'until'])
    .where('job', '=', job)
    .where('due', '<', from)
    .orderBy('due', 'desc')
    .limit(1),
);
const rowsWithin = preparedRead<SpanOf, Span>(({ job, from, until }) =>
  sql
    .selectFrom('job_runs')
    .select(['due', 'until'])
    .where('job', '=', job)
    .where('due', '>=', from)
    .where('due', '<=', until)
    .orderBy('due'),
);

/** Rows that know a due time of the job from `from` to `until`. Rows do not overlap, so of the earlier ones only the last can reach `from`. */
export async function readKnown(reader: Reader, of: SpanOf): Promise<readonly Span[]> {
  const earlier = await reader.first(earlierRow({ job: of.job, from: of.from }));
  const within = await reader.all(rowsWithin(of));
  return earlier?.until != null && earlier.until >= of.from ? [earlier, ...within] : within;
}

/** Open runs whose item is over or gone. */
export const readEnded = (reader: Reader, limit: number) =>
  reader.all(
    sql
      .selectFrom('job_runs')
      .leftJoin('inbox', 'inbox.id', 'job_runs.item_id')
      .select([
        'job_runs.run_id',
        'job_runs.job',
        'job_runs.due',
        'job_runs.started_at',
        'inbox.state as item_state',
        'inbox.last_error',
        'inbox.operator_changes',
        'inbox.done_at as item_done_at',
      ])
      .where('job_runs.done_at', 'is', null)
      .where(({ eb, or }) => or([eb('inbox.id', 'is', null), eb('inbox.done_at', 'is not', null)]))
      .limit(limit),
  );

/** Open runs, oldest first. */
export const readOpenRuns = (reader: Reader): Promise<Pick<JobRun, 'run_id' | 'job' | 'due' | 'item_id'>[]> =>
  reader.all(
    sql
      .selectFrom('job_runs')
      .select(['run_id', 'job', 'due', 'item_id'])
      .where('done_at', 'is', null)
      .orderBy('started_at')
      .orderBy('run_id'),
  );

export const readItemState = (reader: Reader, id: string): Promise<{ state: string } | undefined> =>
  reader.first(sql.selectFrom('inbox').select('state').where('id', '=', id));

export const readDueRows = (reader: Reader) => reader.all(sql.selectFrom('due').selectAll().where('kind', '=', 'job'));

/** The next due time of one job or of all, as the timer sees it. */
export const readNextRows = (reader: Reader, job?: string): Promise<{ id: string; at: number }[]> => {
  const rows = sql.selectFrom('due').select(['id', 'at']).where('kind', '=', 'job');
  return reader.all(job === undefined ? rows : rows.where('id', '=', `job/${job}`));
};

export interface RunPage {
  readonly after: string | undefined;
  readonly limit: number;
}

/** Newest first. `after` is the run id at which the page before ended; run ids sort by time. */
export const readRunPage = (reader: Reader, job: string | undefined, { after, limit }: RunPage): Promise<JobRun[]> => {
  let query = sql.selectFrom('job_runs').selectAll().orderBy('run_id', 'desc').limit(limit);
  if (job !== undefined) query = query.where('job', '=', job);
  if (after !== undefined) query = query.where('run_id', '<', after);
  return reader.all(query);
};

/** The newest row of each job that is no missed range. */
export const readLastRun = (reader: Reader, job: string): Promise<JobRun | undefined> =>
  reader.first(
    sql
      .selectFrom('job_runs')
      .selectAll()
      .where('job', '=', job)
      .where('state', '!=', 'missed')
      .orderBy('started_at', 'desc')
      .orderBy('run_id', 'desc')
      .limit(1),
  );
