// What becomes of the due times of one job up to now. Read by its run, and by a preview of what the end of a pause begins.
import { type DueTimes, dueTimes } from '../../shared/jobs/due-times.ts';
import { jitterOf } from '../../shared/jobs/jitter.ts';
import { type Job, timingDigest } from '../../shared/jobs/job.ts';
import { checkJobs } from '../../shared/jobs/jobs-file.ts';
import { readMeta } from '../database/project-state.ts';
import type { Reader } from '../database/unit.ts';
import { listDues } from './backlog.ts';
import { GOOD_SET } from './good-set.ts';
import { rowDigest } from './job-item.ts';
import { readDueRows, readKnown } from './job-store.ts';
import { type DueStep, planDues } from './missed.ts';
import { Slices } from './slices.ts';

const LATE_MS = 60_000;

/** A job with its due times. */
export interface Scheduled {
  readonly job: Job;
  readonly times: DueTimes;
  readonly digest: string;
}

export const scheduledOf = async (job: Job, zone: string): Promise<Scheduled> => ({
  job,
  digest: rowDigest(timingDigest(job.timing, zone), job.jitterMs),
  times: await dueTimes(job.timing, zone),
});

interface PlanOf {
  readonly reader: Reader;
  /** The stored due time. */
  readonly due: number;
  readonly now: number;
  readonly slices: Slices;
}

/** `future`: the due time behind the steps. */
export async function planOf(
  { job, times }: Scheduled,
  { reader, due, now, slices }: PlanOf,
): Promise<{ readonly steps: readonly DueStep[]; readonly future: number | undefined }> {
  const jitter = (at: number): number => jitterOf(job, at, times);
  const known = await readKnown(reader, { job: job.id, from: due, until: now });
  const listed = await listDues({
    times,
    from: due,
    until: now,
    known: known.flatMap((one) => [one.due ?? 0, ...(one.until === null ? [] : [one.until])]),
    slices,
  });
  // The jitter of the newest due times may not be over yet.
  const dues = listed.dues.filter((at, index) => index === 0 || at + job.jitterMs <= now || at + jitter(at) <= now);
  const steps = planDues({
    dues,
    hole: listed.hole,
    isKnown: (at) => known.some((one) => one.due !== null && one.due <= at && at <= (one.until ?? one.due)),
    isLate: (at) => now - at > LATE_MS && now - at - jitter(at) > LATE_MS,
    missed: job.missed,
    windowFrom: now - job.withinMs,
  });
  const isWhole = dues.length === listed.dues.length;
  return { steps, future: (isWhole ? listed.next : undefined) ?? times.next(dues.at(-1) ?? due) };
}

/** The jobs of the good set as it is stored. Empty if there is none. */
export async function readGoodSet(
  reader: Reader,
  when: { readonly zone: string; readonly now: number },
): Promise<ReadonlyMap<string, Scheduled>> {
  const text = await readMeta(reader, GOOD_SET);
  const checked = text === undefined ? undefined : await checkJobs(text, when);
  const jobs = checked?.kind === 'valid' ? checked.document.jobs : [];
  return new Map(await Promise.all(jobs.map(async (job) => [job.id, await scheduledOf(job, when.zone)] as const)));
}

/** Runs that are due, and due times that count as missed. */
export interface JobDue {
  readonly job: string;
  readonly runs: number;
  readonly missed: number;
}

/** What the due rows begin now, by the `missed` of each job. Nothing is changed. */
export async function previewDue(reader: Reader, jobs: ReadonlyMap<string, Scheduled>, now: number): Promise<JobDue[]> {
  const slices = new Slices();
  const all: JobDue[] = [];
  for (const row of await readDueRows(reader)) {
    const scheduled = jobs.get(row.id.slice('job/'.length));
    const { due, timing } = JSON.parse(row.data) as { readonly due: number; readonly timing: string };
    if (scheduled === undefined || timing !== scheduled.digest || row.at > now) continue;
    const { steps } = await planOf(scheduled, { reader, due, now, slices });
    const runs = steps.filter(({ kind }) => kind === 'run').length;
    const missed = steps.reduce((sum, step) => sum + (step.kind === 'missed' ? step.count : 0), 0);
    if (steps.length > 0) all.push({ job: scheduled.job.id, runs, missed });
  }
  return all.toSorted((one, other) => (one.job < other.job ? -1 : 1));
}
