// What operators do with jobs: list, show, change, run. Each change of the file is made on the file that is taken in, else it is a conflict.
import {
  changedByHand,
  changedEntries,
  checkEntry,
  type Entry,
  NO_FILE,
  noJob,
  writeJobs,
} from '../../shared/jobs/change-jobs.ts';
import type { Job } from '../../shared/jobs/job.ts';
import { readJobsFile } from '../../shared/jobs/jobs-file.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import type { Statement } from '../database/unit.ts';
import type { ChangedJob, JobChange, JobsApi } from '../http/api/jobs-api.ts';
import { type JobTargets, type MissingTarget, missingTarget } from './job-item.ts';
import { type JobRun, readLastRun, readNextRows, readRunPage } from './job-store.ts';
import type { Jobs } from './jobs.ts';

export interface JobsAdminDeps {
  readonly core: Core;
  readonly jobs: Jobs;
  readonly targets: () => JobTargets | undefined;
  readonly zone: () => string;
  /** Throws while no work is taken. */
  readonly admit: () => void;
}

const FORCED = '--force adds it all the same';
const HINTS: Readonly<Record<MissingTarget, string>> = {
  endpoint_unknown: FORCED,
  command_unknown: FORCED,
  board_unknown: `svc workroom board add makes a board; ${FORCED}`,
  member_unknown: `svc workroom board grant gives a member a role on the board; ${FORCED}`,
  host_is_no_workroom: `only a Workroom has items: set host.kind: workroom and restart; ${FORCED}`,
};

type Changing = JobChange & { readonly keep: (changed: ChangedJob) => readonly Statement[] };

export function createJobsAdmin(deps: JobsAdminDeps): JobsApi {
  const { core, jobs, targets } = deps;
  const find = (id: string): Job => {
    requireLoaded(jobs);
    const job = jobs.job(id);
    if (job === undefined) throw noJob(id);
    return job;
  };
  const change = (
    id: string,
    of: Changing,
    entryOf: (former: Job | undefined) => Promise<Entry | undefined>,
  ): Promise<ChangedJob> => jobs.inTurn(() => changeFile(deps, id, { ...of, entryOf }));
  return {
    async list(texts) {
      requireLoaded(jobs);
      const next = new Map((await readNextRows(core.reader)).map(({ id, at }) => [id, at]));
      const all = [...jobs.scheduler.jobs.values()].map(({ job }) =>
        shown(deps, job, { texts, nextAt: next.get(`job/${job.id}`) }),
      );
      return { file: fileOf(jobs), jobs: await Promise.all(all) };
    },
    async show(id, texts) {
      const job = find(id);
      const next = (await readNextRows(core.reader, id))[0];
      return { job: await shown(deps, job, { texts, nextAt: next?.at }), revision: revisionOf(jobs) };
    },
    put: (id, entry, of) =>
      change(id, of, async (former) => {
        const job = await checkEntry(id, entry, { zone: deps.zone(), now: core.clock.now(), former });
        const to = targets();
        const missing = of.needsTarget && to !== undefined ? await missingTarget(job, to) : undefined;
        if (missing !== undefined)
          throw new SvcError('refused', `the target of ${id} is not there: ${missing}`, { hint: HINTS[missing] });
        return { ...entry, id };
      }),
    remove: (id, of) => change(id, of, async () => undefined),
    setPaused: (id, paused, of) =>
      change(id, of, async (former) => {
        if (former === undefined) throw noJob(id);
        const { paused: _paused, ...rest } = former.entry;
        return paused ? { ...rest, paused: true } : rest;
      }),
    run: (id, { caller, keep }) => {
      deps.admit();
      return jobs.scheduler.runNow(find(id), { actor: caller.actor, keep });
    },
    async runs(id, { after, limit, texts }) {
      if (id !== undefined && jobs.job(id) === undefined && (await readLastRun(core.reader, id)) === undefined)
        throw noJob(id);
      const rows = await readRunPage(core.reader, id, { after, limit: limit + 1 });
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        runs: page.map((run) => shownRun(run, texts)),
        ...(rows.length > limit && last !== undefined ? { next: last.run_id } : {}),
      };
    },
  };
}

/** In turn with the taking in of the file. */
async function changeFile(
  { jobs, ...deps }: JobsAdminDeps,
  id: string,
  of: Changing & { readonly entryOf: (former: Job | undefined) => Promise<Entry | undefined> },
): Promise<ChangedJob> {
  requireLoaded(jobs);
  await refuseOtherFile(jobs);
  if (of.revision !== undefined && of.revision !== revisionOf(jobs))
    throw new SvcError('precondition_failed', 'the jobs file has changed since it was read', {
      hint: 'Read it again, then repeat.',
    });
  const former = jobs.job(id);
  const entry = await of.entryOf(former);
  const source = jobs.good !== undefined && jobs.file.state === 'taken' ? jobs.good : NO_FILE;
  const entries = changedEntries(source, id, entry);
  const written = writeJobs(jobs.path, source, entries);
  if (FAILPOINTS) await deps.core.point('job_file_written');
  const revision = tagOf(written);
  let changed: ChangedJob = { job: undefined, revision, isNew: former === undefined };
  await jobs.takeIn(async (prepared) => {
    const now = prepared.get(id);
    const job =
      now && (await shown({ jobs, ...deps }, now.job, { texts: true, nextAt: nextOf(now, deps.core.clock.now()) }));
    changed = { ...changed, job };
    return of.keep(changed);
  });
  return changed;
}

const nextOf = (
  { job, times }: { readonly job: Job; readonly times: { next(after: number): number | undefined } },
  now: number,
) => (job.paused ? undefined : times.next(now));

/** Throws `conflict` if the file is not the one that is taken in. A changed file is taken in first. */
async function refuseOtherFile(jobs: Jobs): Promise<void> {
  const file = readJobsFile(jobs.path);
  const taken = jobs.file.state === 'absent' ? undefined : jobs.good?.sha256;
  if (file.kind === 'text' ? file.sha256 === taken : file.kind === 'absent' && taken === undefined) return;
  await jobs.takeIn();
  const { file: state } = jobs;
  if (state.state === 'refused') throw changedByHand(`the jobs file is refused: ${state.fault.message}`);
  throw changedByHand('the jobs file was changed by hand, and is taken in now');
}

function requireLoaded(jobs: Jobs): void {
  if (!jobs.isLoaded)
    throw new SvcError('storage_unavailable', 'the jobs are not read yet: the database is not open', {
      details: { retryAfterMs: 2_000 },
    });
}

const tagOf = ({ revision, sha256 }: { readonly revision: number; readonly sha256: string }): string =>
  `${revision}.${sha256.slice(0, 16)}`;

/** An edit by hand may keep the number, so the digest is part of it. */
const revisionOf = ({ good }: Jobs): string =>
  good === undefined ? '0.none' : tagOf({ revision: good.document.revision, sha256: good.sha256 });

function fileOf(jobs: Jobs): Readonly<Record<string, unknown>> {
  const { file, good } = jobs;
  const fault =
    file.state === 'refused'
      ? {
          code: file.code,
          line: file.fault.line,
          column: file.fault.column,
          path: file.fault.path,
          message: file.fault.message,
        }
      : null;
  return {
    state: file.state,
    revision: good?.document.revision ?? null,
    sha256: good?.sha256 ?? null,
    fault,
  };
}

async function shown(
  { core, targets }: Pick<JobsAdminDeps, 'core' | 'targets' | 'jobs' | 'zone' | 'admit'>,
  job: Job,
  { texts, nextAt }: { readonly texts: boolean; readonly nextAt: number | undefined },
): Promise<Readonly<Record<string, unknown>>> {
  const { do: _do, title: _title, ...timing } = job.entry;
  const plain = Object.fromEntries(Object.entries(timing).filter(([key]) => !key.startsWith('x-')));
  const last = await readLastRun(core.reader, job.id);
  const to = targets();
  return {
    ...(texts ? job.entry : plain),
    paused: job.paused,
    next: iso(nextAt),
    last: last === undefined ? null : shownRun(last, texts),
    target: to === undefined ? null : ((await missingTarget(job, to)) ?? 'there'),
  };
}

const shownRun = (run: JobRun, texts: boolean): Readonly<Record<string, unknown>> => ({
  runId: run.run_id,
  job: run.job,
  due: iso(run.due),
  ...(run.until === null ? {} : { until: iso(run.until), count: run.count }),
  state: run.state,
  lateMs: run.late_ms,
  startedAt: iso(run.started_at),
  doneAt: iso(run.done_at),
  ...(texts ? { reason: run.reason, item: run.item_id, actor: run.actor } : {}),
});

const iso = (at: number | null | undefined): string | null => (at == null ? null : new Date(at).toISOString());
