// Scheduled jobs in the report of `--once`: each with its next due time. A refused file is a fault.
import { resolve } from 'node:path';
import { dueTimes } from '../../../shared/jobs/due-times.ts';
import { JOBS_FILE, type Job } from '../../../shared/jobs/job.ts';
import { checkJobs, jobsFaultLine, readJobsFile } from '../../../shared/jobs/jobs-file.ts';
import { type JobTargets, missingTarget } from '../../jobs/job-item.ts';
import type { Generation } from '../generations/generation.ts';
import type { OnceFault, OnceReport } from '../once-types.ts';

export interface OnceJobs {
  readonly jobs: OnceReport['jobs'];
  readonly faults: readonly OnceFault[];
}

/** `generation`: undefined where none was assembled, so that no target can be looked up. */
export async function onceJobs(project: string, zone: string, generation?: Generation): Promise<OnceJobs> {
  const file = readJobsFile(resolve(project, JOBS_FILE));
  if (file.kind === 'absent') return { jobs: [], faults: [] };
  const now = Date.now();
  const checked =
    file.kind === 'refused'
      ? { kind: 'invalid' as const, faults: [file.fault] }
      : await checkJobs(file.text, { zone, now });
  if (checked.kind === 'invalid')
    return { jobs: [], faults: checked.faults.map((fault) => ({ component: 'jobs', message: jobsFaultLine(fault) })) };
  const jobs = checked.document.jobs.map(async (job) => {
    const missing = generation && (await missingTarget(job, targetsIn(generation, job)));
    return { ...(await shown(job, { zone, now })), ...(missing === undefined ? {} : { missing }) };
  });
  return { jobs: await Promise.all(jobs), faults: [] };
}

/** Boards are state: there is none here, so a job of a Workroom that opens an item counts as one with its board. */
const targetsIn = (generation: Generation, { action }: Job): JobTargets => ({
  prefix: generation.commands.prefix,
  endpoint(name) {
    const id = generation.endpoint(name);
    return generation.can(id) === undefined ? undefined : id;
  },
  ...(generation.loaded.config.host.kind === 'workroom' && action.kind === 'item'
    ? { board: () => Promise.resolve(action.assign === undefined ? [] : [action.assign]) }
    : {}),
  hasCommand: (name) =>
    generation.capabilities
      .ofKind('command')
      .some((one) => one.name === name || (one.spec.aliases ?? []).includes(name)),
});

async function shown(job: Job, { zone, now }: { readonly zone: string; readonly now: number }) {
  const { timing } = job;
  const next = job.paused ? undefined : (await dueTimes(timing, zone)).next(now);
  return {
    id: `job/${job.id}`,
    at: timing.kind === 'cron' ? timing.pattern : String(job.entry[timing.kind]),
    timezone: timing.kind === 'every' ? 'UTC' : (timing.timezone ?? zone),
    next: next === undefined ? null : new Date(next).toISOString(),
  };
}
