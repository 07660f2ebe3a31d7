// Checks of scheduled jobs: the file, and the accounts and boards that its jobs name.
import { resolve } from 'node:path';
import type { LoadedConfig } from '../../../shared/config/load.ts';
import { endpointId, endpointName, ownerOf } from '../../../shared/identifiers.ts';
import { JOBS_FILE, type Job, placeOf } from '../../../shared/jobs/job.ts';
import { checkJobs, jobsFaultLine, readJobsFile } from '../../../shared/jobs/jobs-file.ts';
import { type Check, type Finding, fault, ok, type Subject, skip, warn, withConfig } from './check.ts';
import { readDatabase } from './database-checks.ts';

const MOST_NAMED = 5;

export const JOBS_CHECKS: readonly Check[] = [
  { id: 'jobs.file', title: 'The jobs file has no fault', run: withConfig(jobsFile) },
  { id: 'jobs.targets', title: 'Jobs name accounts and boards that are there', run: withConfig(jobsTargets) },
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
  const boards = read.jobs.some(({ action }) => action.kind === 'item') ? boardsOf(loaded, subject) : undefined;
  const lost = read.jobs.flatMap((job) => {
    const missing = missingTarget(job, { accounts, boards });
    return missing === undefined ? [] : [{ job, missing }];
  });
  const [first] = lost;
  if (first === undefined) return ok(countOf(read.jobs));
  const named = lost.slice(0, MOST_NAMED).map(({ job, missing }) => `${job.id} (${missing})`);
  const more = lost.length > MOST_NAMED ? ` and ${lost.length - MOST_NAMED} more` : '';
  const isOfItem = first.job.action.kind === 'item';
  const reason = `${named.join(', ')}${more}`;
  if (isOfItem && loaded.config.host.kind !== 'workroom')
    return warn(`the host is no Workroom, so it has no items: ${reason}`, 'host.kind: workroom');
  return isOfItem
    ? warn(`no board of the Workroom: ${reason}`, `svc workroom board add ${first.missing}`)
    : warn(`no account of the configuration: ${reason}`, `svc jobs edit ${first.job.id} --to ACCOUNT:CONVERSATION`);
}

interface There {
  readonly accounts: ReadonlySet<string>;
  /** Undefined: they cannot be read. */
  readonly boards: ReadonlySet<string> | undefined;
}

/** The name that is not there. */
function missingTarget({ action }: Job, { accounts, boards }: There): string | undefined {
  if (action.kind === 'item') return boards?.has(action.board) === false ? action.board : undefined;
  const { endpoint } = placeOf(action);
  return accounts.has(endpoint) ? undefined : endpoint;
}

function boardsOf({ config }: LoadedConfig, { paths }: Subject): ReadonlySet<string> | undefined {
  if (config.host.kind !== 'workroom') return new Set();
  try {
    const rows = readDatabase(resolve(paths.project, config.database.filename), (database) =>
      database.prepare<[], { board: string }>("SELECT board FROM workroom_catalog WHERE kind = 'board'").all(),
    );
    return new Set(rows?.map(({ board }) => board));
  } catch {
    return undefined;
  }
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
