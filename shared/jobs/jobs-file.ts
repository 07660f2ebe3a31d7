// Reads and checks `data/schedule-jobs.json`: all faults at once, each with its line and column.
//
//   JOBS-FILE-1  The read never waits: a FIFO, a device, a folder and a link to nowhere are refused.
//   JOBS-FILE-2  Cron patterns are checked in slices with turns of the event loop between them.
import { createHash } from 'node:crypto';
import { readSmallFile } from '../config/checks/small-file.ts';
import { type ConfigFault, dotted, type Finding, faultLine, pointerTo } from '../config/fault.ts';
import { messageOf } from '../svc-error.ts';
import { dueTimes } from './due-times.ts';
import { JOBS_FILE, type Job, LARGEST_JOBS } from './job.ts';
import { readJob, reportUnknownKeys } from './job-rules.ts';
import { readJson } from './json-tree.ts';

export interface JobsDocument {
  readonly jobs: readonly Job[];
  /** 0 where the file has none. */
  readonly revision: number;
  /** As parsed, for a change. */
  readonly value: Readonly<Record<string, unknown>>;
}

export type JobsText =
  | { readonly kind: 'valid'; readonly document: JobsDocument }
  | { readonly kind: 'invalid'; readonly faults: readonly [ConfigFault, ...ConfigFault[]] };

export type JobsFile =
  | { readonly kind: 'absent' }
  | { readonly kind: 'text'; readonly text: string; readonly sha256: string }
  | { readonly kind: 'refused'; readonly fault: ConfigFault };

const FILE_KEYS = ['$schema', 'version', 'revision', 'jobs'];
const OTHERS_MAY_WRITE = 0o002;
const SLICE = 25;
const SLOW_SLICE = 250;
const FIRST_PLACE = { line: 1, column: 1 };

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Never waits and never throws. */
export function readJobsFile(path: string): JobsFile {
  const file = readSmallFile(path);
  if (file.kind === 'absent') return file;
  if (file.kind === 'refused') return refused(file.reason, file.place);
  if ((file.mode & OTHERS_MAY_WRITE) !== 0 && process.platform !== 'win32')
    return refused('can be written by all users, and its commands have the rights of an operator: chmod o-w');
  return { kind: 'text', text: file.text, sha256: digestOf(file.text) };
}

const refused = (message: string, place = FIRST_PLACE): JobsFile => ({
  kind: 'refused',
  fault: { file: JOBS_FILE, path: '', message, ...place },
});

/** `zone`: of jobs that name none. `now`: a cron pattern must be due after it. */
export async function checkJobs(text: string, of: { readonly zone: string; readonly now: number }): Promise<JobsText> {
  const tree = readJson(text);
  const found: Finding[] = [...tree.findings];
  const report = (finding: Finding): void => void found.push(finding);
  const document = tree.value === undefined ? undefined : await readDocument(tree.value, report);
  for (const [path, job] of document?.at ?? []) await reportTiming(job, { path, ...of }, report);
  const [first, ...rest] = found
    .map(({ path, message, suggestion, place = tree.place(path) }) => ({
      file: JOBS_FILE,
      path,
      message,
      ...place,
      ...(suggestion === undefined ? {} : { suggestion }),
    }))
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
  if (first !== undefined || document === undefined)
    return {
      kind: 'invalid',
      faults: [first ?? { file: JOBS_FILE, path: '', message: 'is not valid', ...FIRST_PLACE }, ...rest],
    };
  const jobs = [...document.at.values()];
  return { kind: 'valid', document: { jobs, revision: document.revision, value: document.value } };
}

interface Draft extends Pick<JobsDocument, 'revision' | 'value'> {
  readonly at: ReadonlyMap<string, Job>;
}

async function readDocument(value: unknown, report: (finding: Finding) => void): Promise<Draft | undefined> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    report({ path: '', message: 'must be an object with version and jobs' });
    return undefined;
  }
  const document = value as Readonly<Record<string, unknown>>;
  reportUnknownKeys(document, { path: '', keys: FILE_KEYS }, report);
  if (document['version'] === undefined) report({ path: '', message: 'needs the key version: 1' });
  else if (document['version'] !== 1) report({ path: '/version', message: 'must be 1: this svc knows no other' });
  const { revision = 0, jobs } = document;
  const isRevision = typeof revision === 'number' && Number.isSafeInteger(revision) && revision >= 0;
  if (!isRevision) report({ path: '/revision', message: 'must be a whole number from 0' });
  if (document['$schema'] !== undefined && typeof document['$schema'] !== 'string')
    report({ path: '/$schema', message: 'must be a text' });
  if (!Array.isArray(jobs)) {
    report(
      jobs === undefined
        ? { path: '', message: 'needs the key jobs: a list, empty ([]) for no jobs' }
        : { path: '/jobs', message: 'must be a list' },
    );
    return undefined;
  }
  if (jobs.length > LARGEST_JOBS)
    report({ path: `/jobs/${LARGEST_JOBS}`, message: `is past the ${LARGEST_JOBS} jobs that a file may have` });
  const at = await readEntries(jobs.slice(0, LARGEST_JOBS), report);
  return { at, revision: isRevision ? revision : 0, value: document };
}

async function readEntries(jobs: readonly unknown[], report: (finding: Finding) => void): Promise<Map<string, Job>> {
  const at = new Map<string, Job>();
  const seen = new Map<string, number>();
  for (const [index, entry] of jobs.entries()) {
    if (index % SLOW_SLICE === SLOW_SLICE - 1) await turn();
    const path = pointerTo('/jobs', index);
    const job = readJob(entry, path, report);
    const id = (entry as { readonly id?: unknown } | null)?.id;
    const first = typeof id === 'string' ? seen.get(id) : undefined;
    if (first !== undefined)
      report({ path: `${path}/id`, message: `is the id of ${dotted(pointerTo('/jobs', first))} too: ids are unique` });
    else if (typeof id === 'string') seen.set(id, index);
    if (job !== undefined) at.set(path, job);
  }
  return at;
}

let checked = 0;

async function reportTiming(
  job: Job,
  { path, zone, now }: { readonly path: string; readonly zone: string; readonly now: number },
  report: (finding: Finding) => void,
): Promise<void> {
  if (job.timing.kind !== 'cron') return;
  checked += 1;
  if (checked % SLICE === 0) await turn();
  const message = await cronFaultOf(job.timing.pattern, { zone: job.timing.timezone ?? zone, now });
  if (message !== undefined) report({ path: `${path}/cron`, message });
}

async function cronFaultOf(
  pattern: string,
  { zone, now }: { readonly zone: string; readonly now: number },
): Promise<string | undefined> {
  const nextOf = async (text: string): Promise<number | undefined> =>
    (await dueTimes({ kind: 'cron', pattern: text, timezone: zone }, zone)).next(now);
  try {
    return (await nextOf(pattern)) === undefined ? 'is never due: no such day comes' : undefined;
  } catch (error) {
    const parts = pattern.trim().split(/\s+/);
    if (!pattern.startsWith('@') && parts.length !== 5)
      return 'must have five fields: minute, hour, day of the month, month, day of the week';
    const reason = messageOf(error).replace(/^CronPattern: /, '');
    return `cannot be read (${reason}); "0 9 * * 1-5" is 9:00 from Monday to Friday`;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** `at` in the past is a fault of a job that is added; in the file it counts as late. */
export async function isOver(
  job: Job,
  { zone, now }: { readonly zone: string; readonly now: number },
): Promise<boolean> {
  return job.timing.kind === 'at' && (await dueTimes(job.timing, zone)).next(now) === undefined;
}

export const jobsFaultLine = faultLine;
