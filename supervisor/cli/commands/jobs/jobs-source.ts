// Where `svc jobs` reads and changes jobs: the running host over HTTP, else the file. Without a host nothing runs, so the file is all there is.
import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { loadConfig } from '../../../../shared/config/load.ts';
import {
  changedEntries,
  checkEntry,
  type Entry,
  noJob,
  readSource,
  writeJobs,
} from '../../../../shared/jobs/change-jobs.ts';
import { dueTimes } from '../../../../shared/jobs/due-times.ts';
import { JOBS_FILE, type Job } from '../../../../shared/jobs/job.ts';
import { checkJobs, type JobsDocument, readJobsFile } from '../../../../shared/jobs/jobs-file.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { CommandContext, HostClient } from '../../command.ts';
import { findRunning } from '../../connect/control-client.ts';
import { refuseOtherUser } from '../../other-user.ts';

export type ShownJob = Entry & { readonly id: string };

export interface JobsView {
  readonly file: {
    readonly state: string;
    readonly revision: number | null;
    readonly fault: {
      readonly line: number;
      readonly column: number;
      readonly path: string;
      readonly message: string;
    } | null;
  };
  readonly jobs: readonly ShownJob[];
}

export type JobChange =
  | { readonly kind: 'put'; readonly entryOf: (former: Entry | undefined) => Entry; readonly isForced: boolean }
  | { readonly kind: 'remove' }
  | { readonly kind: 'pause' | 'resume' };

export interface JobsSource {
  /** Undefined: nothing runs here. */
  readonly client: HostClient | undefined;
  list(): Promise<JobsView>;
  /** The job after the change; undefined after a removal. */
  change(id: string, change: JobChange): Promise<Entry | undefined>;
}

type Context = Pick<CommandContext, 'host' | 'project' | 'env'>;

export async function jobsSource(context: Context): Promise<JobsSource> {
  const project = context.project();
  return (await findRunning(project)) === undefined
    ? fileSource(project, context.env)
    : hostSource(await context.host());
}

/** Zone of jobs that name none. A configuration that cannot be read does not keep a person from their jobs. */
export function zoneOf(project: string, environment: Context['env']): string {
  try {
    return loadConfig({ project, mode: 'production', environment, servesNothing: true }).config.schedule.timezone;
  } catch {
    return 'UTC';
  }
}

const pathOf = (id: string): string => `/api/jobs/${encodeURIComponent(id)}`;

export function hostSource(client: HostClient): JobsSource {
  const find = async (id: string): Promise<{ entry: Entry | undefined; etag: string | undefined }> => {
    try {
      const { body, headers } = await client.request('GET', pathOf(id));
      return { entry: entryOf(body as Entry), etag: headers.get('etag') ?? undefined };
    } catch (error) {
      if (error instanceof SvcError && error.code === 'not_found') return { entry: undefined, etag: undefined };
      throw error;
    }
  };
  return {
    client,
    list: async () => (await client.request('GET', '/api/jobs')).body as JobsView,
    async change(id, change) {
      const idempotencyKey = randomUUID();
      if (change.kind === 'remove') return void (await client.request('DELETE', pathOf(id), { idempotencyKey }));
      if (change.kind !== 'put') {
        const { body } = await client.request('POST', `${pathOf(id)}/${change.kind}`, { body: {}, idempotencyKey });
        return body as Entry;
      }
      const { entry, etag } = await find(id);
      const { body } = await client.request('PUT', `${pathOf(id)}${change.isForced ? '' : '?targets=required'}`, {
        body: change.entryOf(entry),
        idempotencyKey,
        ...(etag === undefined ? {} : { headers: { 'If-Match': etag } }),
      });
      return body as Entry;
    },
  };
}

/** Fields that the host adds to an entry. `paused` is one, where the entry leaves it out. */
const ADDED = ['next', 'last', 'target'];

function entryOf(shown: Entry): Entry {
  const entry = Object.fromEntries(Object.entries(shown).filter(([key]) => !ADDED.includes(key)));
  const { paused, ...rest } = entry;
  return paused === true ? entry : rest;
}

function fileSource(project: string, environment: Context['env']): JobsSource {
  const path = resolve(project, JOBS_FILE);
  const of = (): { zone: string; now: number } => ({ zone: zoneOf(project, environment), now: Date.now() });
  return {
    client: undefined,
    async list() {
      const file = readJobsFile(path);
      if (file.kind === 'absent') return { file: { state: 'absent', revision: null, fault: null }, jobs: [] };
      if (file.kind === 'refused') return { file: { state: 'refused', revision: null, fault: file.fault }, jobs: [] };
      const checked = await checkJobs(file.text, of());
      if (checked.kind === 'invalid')
        return { file: { state: 'refused', revision: null, fault: checked.faults[0] }, jobs: [] };
      const { document } = checked;
      return {
        file: { state: 'taken', revision: document.revision, fault: null },
        jobs: await shownJobs(document, of()),
      };
    },
    async change(id, change) {
      refuseOtherUser(project);
      const source = await readSource(path, of());
      const former = source.jobs.find((job) => job.id === id);
      const entry = changedEntry(id, change, former?.entry);
      if (entry !== undefined) await checkEntry(id, entry, { ...of(), former });
      writeJobs(path, source, changedEntries(source, id, entry));
      return entry;
    },
  };
}

function changedEntry(id: string, change: JobChange, former: Entry | undefined): Entry | undefined {
  if (change.kind === 'put') return { ...change.entryOf(former), id };
  if (former === undefined) throw noJob(id);
  if (change.kind === 'remove') return undefined;
  const { paused: _paused, ...rest } = former;
  return change.kind === 'pause' ? { ...rest, paused: true } : rest;
}

const shownJobs = ({ jobs }: JobsDocument, of: { readonly zone: string; readonly now: number }): Promise<ShownJob[]> =>
  Promise.all(
    jobs.map(async (job) => ({
      ...job.entry,
      id: job.id,
      paused: job.paused,
      next: await nextOf(job, of),
      last: null,
      target: null,
    })),
  );

async function nextOf(
  job: Job,
  { zone, now }: { readonly zone: string; readonly now: number },
): Promise<string | null> {
  const next = job.paused ? undefined : (await dueTimes(job.timing, zone)).next(now);
  return next === undefined ? null : new Date(next).toISOString();
}
