// Makes runs of due times. The due table holds one row a job: its next due time.
//
//   JOB-SCHEDULER-1  A due time is one unit: the row is taken as it was read, the next one is put, the run and its item are stored, and the event.
//                    A kill before it leaves the row; a kill after it leaves the run.
//   JOB-SCHEDULER-2  The ledger is unique by job and due time. A due time that comes again after the clock was set back does not run again.
//   JOB-SCHEDULER-3  While ingress is paused, and while no generation serves, nothing is due. A pause also stops a catch-up between two due times:
//                    its row names the next one, and `missed` decides anew at the end of the pause.
//   JOB-SCHEDULER-4  Due times are computed in slices, so that many of them do not hold the event loop.
import { jitterOf } from '../../shared/jobs/jitter.ts';
import type { Job } from '../../shared/jobs/job.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { commitOrThrow } from '../core/core.ts';
import type { Statement } from '../database/unit.ts';
import { type DueRow, putDue, removeDue, takeDue } from '../timers/due-store.ts';
import type { TimerService } from '../timers/timer-service.ts';
import { MOST_COUNTED } from './backlog.ts';
import { planOf, type Scheduled, scheduledOf } from './due-plan.ts';
import { JobStarts, type StartsDeps } from './job-starts.ts';
import { OPEN_GUARD, readDueRows, readKnown } from './job-store.ts';
import type { DueStep } from './missed.ts';
import { Slices } from './slices.ts';

const BY_TIME = 'job';
/** The reads and statements of a run cost as much as so many due times. */
const OF_A_RUN = 8;

export interface SchedulerDeps extends StartsDeps {
  readonly timers: TimerService;
  readonly isPaused: () => boolean;
  /** Zone of jobs that name none. */
  readonly zone: () => string;
  /** Runs a correction of the rows while no file is being taken in. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
}

/** A stored due row of a job. */
interface NextDue {
  readonly due: number;
  readonly at: number;
}

export interface ByHand {
  readonly actor: string;
  /** Rows that store the answer of the request in the same unit. */
  readonly keep: (run: { readonly runId: string }) => readonly Statement[];
}

export class JobScheduler {
  readonly #deps: SchedulerDeps;
  readonly #starts: JobStarts;
  readonly #slices = new Slices();
  #jobs = new Map<string, Scheduled>();
  #serves = false;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#starts = new JobStarts(deps);
    deps.timers.on(
      'job',
      (row) => this.#fire(row),
      () => this.#isReady,
    );
    deps.timers.onSetBack(async () => {
      await deps.inTurn(async () => {
        if (this.#serves) await this.align();
      });
    });
  }

  /** False while nothing is due: ingress is paused or no generation serves (JOB-SCHEDULER-3). */
  get #isReady(): boolean {
    return this.#serves && !this.#deps.isPaused() && this.#deps.targets() !== undefined;
  }

  /** The jobs by id, with their due times. */
  get jobs(): ReadonlyMap<string, Scheduled> {
    return this.#jobs;
  }

  /** `jobs` with their due times, for `alignment` and `serve`. */
  async prepare(jobs: readonly Job[]): Promise<ReadonlyMap<string, Scheduled>> {
    const zone = this.#deps.zone();
    const prepared = new Map<string, Scheduled>();
    for (const job of jobs) {
      await this.#slices.take();
      prepared.set(job.id, await scheduledOf(job, zone));
    }
    return prepared;
  }

  /** The stored rows fit these jobs: due times are looked at from now on. */
  serve(jobs: ReadonlyMap<string, Scheduled>): void {
    this.#jobs = new Map(jobs);
    this.#serves = true;
    this.#deps.timers.wake();
  }

  /** Corrects the rows of the jobs that are served: after the clock was set back, and after the default zone changed. */
  async align(): Promise<void> {
    const jobs = await this.prepare([...this.#jobs.values()].map(({ job }) => job));
    const statements = await this.alignment(jobs, new Map(this.#jobs));
    if (statements.length > 0) await commitOrThrow(this.#deps.core.writer, { name: 'job.aligned', statements });
    this.serve(jobs);
  }

  /**
   * Statements that make the due rows fit the jobs. A row is kept while timing and jitter are the same. Else it begins anew from now, and nothing is
   * caught up. `before`: the jobs that were served until now.
   */
  async alignment(
    jobs: ReadonlyMap<string, Scheduled>,
    before: ReadonlyMap<string, unknown>,
  ): Promise<readonly Statement[]> {
    const { core } = this.#deps;
    const now = core.clock.now();
    const rows = new Map((await readDueRows(core.reader)).map((row) => [row.id, row]));
    const statements: Statement[] = [];
    for (const [id, scheduled] of jobs) {
      await this.#slices.take();
      const row = rows.get(dueId(id));
      rows.delete(dueId(id));
      if (row !== undefined && this.#isRight(row, scheduled, now)) continue;
      const next = scheduled.job.paused ? undefined : await this.#firstDue(scheduled, { now, isNew: !before.has(id) });
      if (next !== undefined) statements.push(this.#rowOf(scheduled, next));
      else if (row !== undefined) statements.push(removeDue(row.id));
    }
    return [...statements, ...[...rows.keys()].map(removeDue)];
  }

  /** A due time later than the next one from now was computed while the clock was ahead. */
  #isRight({ data }: DueRow, { job, times, digest }: Scheduled, now: number): boolean {
    const { due, timing } = JSON.parse(data) as { readonly due: number; readonly timing: string };
    if (job.paused || timing !== digest) return false;
    const next = times.next(now);
    return next === undefined || due <= next;
  }

  /** `at` in the past counts as late for a job that the file has for the first time. */
  async #firstDue(
    { job, times }: Scheduled,
    { now, isNew }: { readonly now: number; readonly isNew: boolean },
  ): Promise<number | undefined> {
    const next = times.next(now);
    if (next !== undefined || job.timing.kind !== 'at' || !isNew) return next;
    const at = times.next(Number.NEGATIVE_INFINITY);
    if (at === undefined) return undefined;
    return (await readKnown(this.#deps.core.reader, { job: job.id, from: at, until: at })).length > 0 ? undefined : at;
  }

  async #fire(row: DueRow): Promise<boolean> {
    const { core } = this.#deps;
    const scheduled = this.#jobs.get(row.id.slice(dueId('').length));
    if (scheduled === undefined) {
      await core.writer.commit({ name: 'job.gone', statements: [takeDue(row)] });
      return true;
    }
    const { due, timing } = JSON.parse(row.data) as { readonly due: number; readonly timing: string };
    if (timing !== scheduled.digest) return false; // corrected when the file is taken in
    return this.#run(scheduled, { row, due });
  }

  async #run(scheduled: Scheduled, { row, due }: { readonly row: DueRow; readonly due: number }): Promise<boolean> {
    const { core } = this.#deps;
    await this.#slices.take(OF_A_RUN);
    const now = core.clock.now();
    const { steps, future } = await planOf(scheduled, { reader: core.reader, due, now, slices: this.#slices });
    let taken: DueRow | undefined = row;
    for (const [index, step] of steps.entries()) {
      if (!this.#isReady) return false;
      const next = steps[index + 1]?.due ?? future;
      taken = await this.#step(scheduled, {
        step,
        taken,
        next: next === undefined ? undefined : this.#next(scheduled, next),
      });
      if (taken === undefined) return true;
    }
    if (steps.length === 0) {
      const next = future === undefined ? undefined : this.#next(scheduled, future);
      await core.writer.commit({ name: 'job.again', statements: this.#moved(scheduled, row, next) });
    }
    return true;
  }

  /** Returns the row that the unit has put; undefined if there is none, or if the row had changed meanwhile. */
  async #step(
    scheduled: Scheduled,
    { step, taken, next }: { readonly step: DueStep; readonly taken: DueRow; readonly next: NextDue | undefined },
  ): Promise<DueRow | undefined> {
    const moved = this.#moved(scheduled, taken, next);
    if (FAILPOINTS) await this.#deps.core.point('job_due');
    const answer =
      step.kind === 'missed'
        ? await this.#starts.missed(scheduled.job, {
            ...step,
            count: Math.min(step.count, MOST_COUNTED),
            actor: BY_TIME,
            statements: moved,
          })
        : await this.#starts.start(scheduled.job, { due: step.due, actor: BY_TIME, statements: moved });
    if (FAILPOINTS) await this.#deps.core.point('job_stored');
    if (answer.kind === 'refused' && answer.reason === 'unique') {
      const again = await this.#deps.core.writer.commit({ name: 'job.again', statements: moved });
      if (again.kind === 'refused') return undefined;
    } else if (answer.kind === 'refused') return undefined;
    return next === undefined ? undefined : { ...taken, at: next.at, data: dataOf(scheduled, next) };
  }

  /** Starts a run by hand. Throws `conflict` if the job may not run beside an open run, and what the inbox throws. */
  async runNow(job: Job, { actor, keep }: ByHand): Promise<{ readonly runId: string }> {
    let started = '';
    const more = (runId: string): readonly Statement[] => {
      started = runId;
      return keep({ runId });
    };
    const answer = await this.#starts.start(job, { due: null, actor, statements: [], more });
    if (answer.kind === 'committed') return { runId: started };
    if (answer.guard === OPEN_GUARD)
      throw new SvcError('conflict', `a run of ${job.id} is open`, { hint: `svc jobs history ${job.id}` });
    throw new SvcError('storage_unavailable', `the run could not be stored: ${answer.detail}`);
  }

  #next({ job, times }: Scheduled, due: number): NextDue {
    return { due, at: due + jitterOf(job, due, times) };
  }

  #moved(scheduled: Scheduled, row: DueRow, next: NextDue | undefined): readonly Statement[] {
    return [takeDue(row), ...(next === undefined ? [] : [putNext(scheduled, next)])];
  }

  #rowOf(scheduled: Scheduled, due: number): Statement {
    return putNext(scheduled, this.#next(scheduled, due));
  }
}

const dueId = (id: string): string => `job/${id}`;

const dataOf = ({ digest }: Scheduled, { due }: NextDue): string => JSON.stringify({ due, timing: digest });

const putNext = (scheduled: Scheduled, next: NextDue): Statement =>
  putDue({
    id: dueId(scheduled.job.id),
    kind: 'job',
    at: next.at,
    capability: null,
    lane: null,
    data: dataOf(scheduled, next),
  });
