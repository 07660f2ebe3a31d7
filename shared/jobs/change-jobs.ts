// Writes a changed jobs file, for the API of a host and for commands without one.
//
//   CHANGE-JOBS-1  The file is replaced as a whole, and only while it is the one that the change was made on. An edit by hand meanwhile stays.
//   CHANGE-JOBS-2  The mode of the file stays, and a symbolic link stays one: its target is replaced.
import { chmodSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { LARGEST_FILE_BYTES } from '../config/checks/small-file.ts';
import { stableJson, writeFileAtomic } from '../files/atomic-file.ts';
import { SvcError } from '../svc-error.ts';
import { type Job, LARGEST_JOBS } from './job.ts';
import { checkJobs, digestOf, isOver, type JobsDocument, jobsFaultLine, readJobsFile } from './jobs-file.ts';

export type Entry = Readonly<Record<string, unknown>>;

/** A file as it was read. `sha256`: undefined if there is none. */
export interface JobsSource {
  readonly document: Pick<JobsDocument, 'revision' | 'value'>;
  readonly sha256: string | undefined;
}

export const NO_FILE: JobsSource = {
  document: {
    revision: 0,
    value: { $schema: '../node_modules/svc/dist/schedule-jobs-schema.json', version: 1, jobs: [] },
  },
  sha256: undefined,
};

/** The jobs of the file with a change. `entry` undefined: removed. Throws `not_found` and `conflict`. */
export function changedEntries({ document }: JobsSource, id: string, entry: Entry | undefined): readonly Entry[] {
  const entries = document.value['jobs'] as readonly Entry[];
  const isThere = entries.some((one) => one['id'] === id);
  if (entry === undefined) {
    if (!isThere) throw noJob(id);
    return entries.filter((one) => one['id'] !== id);
  }
  if (isThere) return entries.map((one) => (one['id'] === id ? entry : one));
  if (entries.length >= LARGEST_JOBS)
    throw new SvcError('conflict', `the file has ${LARGEST_JOBS} jobs, which is the most`);
  return [...entries, entry];
}

export const noJob = (id: string): SvcError =>
  new SvcError('not_found', `there is no job ${id}`, { hint: 'svc jobs list' });

/** Throws `invalid_request` with every fault and its path below the job. `former`: the entry that it replaces. */
export async function checkEntry(
  id: string,
  entry: Entry,
  { zone, now, former }: { readonly zone: string; readonly now: number; readonly former: Job | undefined },
): Promise<Job> {
  const checked = await checkJobs(JSON.stringify({ version: 1, jobs: [{ ...entry, id: entry['id'] ?? id }] }), {
    zone,
    now,
  });
  const faults =
    checked.kind === 'invalid'
      ? checked.faults.map(({ path, message, suggestion }) => ({
          path: path.replace(/^\/jobs\/0/, ''),
          message: suggestion === undefined ? message : `${message}; did you mean ${suggestion}?`,
        }))
      : [];
  const job = checked.kind === 'valid' ? checked.document.jobs[0] : undefined;
  if (job !== undefined && job.id !== id) faults.push({ path: '/id', message: `must be ${id}, as in the address` });
  const isNew = job !== undefined && JSON.stringify(former?.timing) !== JSON.stringify(job.timing);
  if (job !== undefined && isNew && (await isOver(job, { zone, now })))
    faults.push({ path: '/at', message: 'is in the past' });
  if (job !== undefined && faults.length === 0) return job;
  const text = faults
    .map(({ path, message }) => `${path === '' ? 'the job' : path.slice(1).replaceAll('/', '.')} ${message}`)
    .join('; ');
  throw new SvcError('invalid_request', text, { details: { faults } });
}

export interface Written {
  readonly text: string;
  readonly sha256: string;
  readonly revision: number;
}

/** Replaces the file. Throws `conflict` if it is not `source` any more. */
export function writeJobs(path: string, source: JobsSource, entries: readonly Entry[]): Written {
  const revision = source.document.revision + 1;
  const text = stableJson({ ...source.document.value, revision, jobs: entries });
  if (Buffer.byteLength(text) > LARGEST_FILE_BYTES)
    throw new SvcError('conflict', `the jobs file would have more than ${LARGEST_FILE_BYTES} bytes`, {
      hint: 'remove jobs, or shorten their texts',
    });
  refuseOther(path, source);
  const target = targetOf(path);
  const mode = modeOf(target) ?? 0o600;
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  writeFileAtomic(target, text, { mode, beforeRename: () => refuseOther(path, source) });
  if (modeOf(target) !== mode) chmodSync(target, mode); // the umask took bits away that the file had
  return { text, sha256: digestOf(text), revision };
}

/** Throws `conflict` if the file is not the one of `sha256`. */
function refuseOther(path: string, { sha256 }: JobsSource): void {
  const file = readJobsFile(path);
  if (file.kind === 'text' ? file.sha256 === sha256 : file.kind === 'absent' && sha256 === undefined) return;
  throw changedByHand();
}

export const changedByHand = (reason = 'the jobs file was changed meanwhile'): SvcError =>
  new SvcError('conflict', reason, { hint: 'look at it again (svc jobs list), then repeat' });

/** Reads the file for a change without a host. Throws `config_invalid` for a file with faults. */
export async function readSource(
  path: string,
  of: { readonly zone: string; readonly now: number },
): Promise<JobsSource & { readonly jobs: readonly Job[] }> {
  const file = readJobsFile(path);
  if (file.kind === 'absent') return { ...NO_FILE, jobs: [] };
  if (file.kind === 'refused') throw refusedFile([jobsFaultLine(file.fault)]);
  const checked = await checkJobs(file.text, of);
  if (checked.kind === 'invalid') throw refusedFile(checked.faults.map(jobsFaultLine));
  return { document: checked.document, sha256: file.sha256, jobs: checked.document.jobs };
}

const refusedFile = (lines: readonly string[]): SvcError =>
  new SvcError('config_invalid', lines.join('\n'), { hint: 'svc jobs check lists every fault' });

function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // there is no file yet
  }
}

function modeOf(path: string): number | undefined {
  try {
    return statSync(path).mode & 0o777;
  } catch {
    return undefined;
  }
}
