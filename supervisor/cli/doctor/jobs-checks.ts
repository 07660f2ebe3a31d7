// Checks of scheduled jobs: the file, and the accounts that its jobs name.
import { resolve } from 'node:path';
import type { LoadedConfig } from '../../../shared/config/load.ts';
import { endpointId, endpointName, ownerOf } from '../../../shared/identifiers.ts';
import { JOBS_FILE, type Job, placeOf } from '../../../shared/jobs/job.ts';
import { checkJobs, jobsFaultLine, readJobsFile } from '../../../shared/jobs/jobs-file.ts';
import { type Check, type Finding, fault, ok, type Subject, skip, warn, withConfig } from './check.ts';

const MOST_NAMED = 5;

export const JOBS_CHECKS: readonly Check[] = [
  { id: 'jobs.file', title: 'The jobs file has no fault', run: withConfig(jobsFile) },
  { id: 'jobs.targets', title: 'Jobs name accounts that are there', run: withConfig(jobsTargets) },
];

async function jobsFile(loaded: LoadedConfig, subject: Subject): Promise<Finding> {
  const read = await readJobs(loaded, subject);
  if (read === undefined) return skip(`there is no ${JOBS_FILE}`);
  return 'fault' in read ? fault(read.fault, 'svc jobs check') : ok(countOf(read.jobs));
}

async function jobsTargets(loaded: LoadedConfig, subject: Subject): Promise<Finding> {
  const read = await readJobs(loaded, subject);
  if (read === undefined || 'fault' in read) return skip('no jobs can be read');
  const accounts = accountsOf(loaded);
  const lost = read.jobs.filter(({ action }) => !accounts.has(placeOf(action).endpoint));
  if (lost.length === 0) return ok(countOf(read.jobs));
  const named = lost.slice(0, MOST_NAMED).map((job) => `${job.id} (${placeOf(job.action).endpoint})`);
  const more = lost.length > MOST_NAMED ? ` and ${lost.length - MOST_NAMED} more` : '';
  return warn(
    `no account of the configuration: ${named.join(', ')}${more}`,
    `svc jobs edit ${lost[0]?.id ?? ''} --to ACCOUNT:CONVERSATION`,
  );
}

const countOf = ({ length }: readonly Job[]): string => `${length} ${length === 1 ? 'job' : 'jobs'}`;

/** Undefined: there is no file. */
async function readJobs(
  { config }: LoadedConfig,
  { paths }: Subject,
): Promise<{ readonly jobs: readonly Job[] } | { readonly fault: string } | undefined> {
  const file = readJobsFile(resolve(paths.project, JOBS_FILE));
  if (file.kind === 'absent') return undefined;
  if (file.kind === 'refused') return { fault: jobsFaultLine(file.fault) };
  const checked = await checkJobs(file.text, { zone: config.schedule.timezone, now: Date.now() });
  return checked.kind === 'valid' ? { jobs: checked.document.jobs } : { fault: jobsFaultLine(checked.faults[0]) };
}

/** Full and short names of the accounts of slots that are on. */
function accountsOf({ config }: LoadedConfig): ReadonlySet<string> {
  const names = Object.entries(config.plugins).flatMap(([slot, { enabled, endpoints = [{ id: undefined }] }]) =>
    enabled ? endpoints.map(({ id }) => ({ slot, name: endpointName(slot, id) })) : [],
  );
  return new Set(names.flatMap(({ slot, name }) => [name, endpointId(ownerOf(slot), name)]));
}
