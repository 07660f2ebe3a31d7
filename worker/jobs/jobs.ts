// Scheduled jobs: the good set, which is stored, and what runs of it.
//
//   JOBS-1  A valid file becomes the good set in one unit with the due rows that fit it. A file that is refused changes nothing: the good set goes on,
//           also over restarts. A file that is gone is refused while the good set is not empty.
//   JOBS-2  `start` never rejects. What fails for want of the storage is tried again each second.
import type { ConfigFault } from '../../shared/config/fault.ts';
import type { Job } from '../../shared/jobs/job.ts';
import { checkJobs, type JobsDocument, type JobsFile, readJobsFile } from '../../shared/jobs/jobs-file.ts';
import { messageOf } from '../../shared/svc-error.ts';
import type { Timer } from '../../shared/time/clock.ts';
import { type Core, commitOrThrow } from '../core/core.ts';
import { readMeta, writeMeta } from '../database/project-state.ts';
import type { Statement } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { Inbox } from '../inbox/inbox.ts';
import type { JobFigures } from '../metrics/job-metrics.ts';
import type { TimerService } from '../timers/timer-service.ts';
import { GOOD_SET } from './good-set.ts';
import { JobEnds } from './job-ends.ts';
import type { JobTargets } from './job-item.ts';
import { JobScheduler } from './job-scheduler.ts';
import { countEnd, endRun, readItemState, readOpenRuns, readTotals } from './job-store.ts';
import { JobsFileWatch } from './jobs-file-watch.ts';

const LOOK_MS = 1_000;
const ENDS_MS = 100;
const GOOD_SHA = 'jobs_sha256';

export interface JobsDeps {
  readonly core: Core;
  /** The file. */
  readonly path: string;
  readonly inbox: Pick<Inbox, 'storeWith'>;
  readonly timers: TimerService;
  readonly targets: () => JobTargets | undefined;
  readonly isPaused: () => boolean;
  readonly zone: () => string;
  /** An item was stored. */
  readonly stored: () => void;
  /** Adds the hidden plugin. Called before the first item of a job can run. */
  readonly needPlugin: () => Promise<void>;
  /** Ends an item that has not begun, with `statements` in the same unit. */
  readonly dropItem: (id: string, statements: readonly Statement[]) => Promise<void>;
}

/** Gets the jobs that are taken in. */
export type Join = (jobs: JobScheduler['jobs']) => Promise<readonly Statement[]>;

export type FileState =
  | { readonly state: 'absent' }
  | { readonly state: 'taken' }
  | { readonly state: 'refused'; readonly code: FileFault; readonly fault: ConfigFault };
export type FileFault = 'gone' | 'unreadable' | 'invalid';

/** The set that runs. `text` is the file from which it was taken. */
export interface GoodSet {
  readonly document: JobsDocument;
  readonly sha256: string;
}

export class Jobs {
  readonly scheduler: JobScheduler;
  readonly #deps: JobsDeps;
  readonly #watch: JobsFileWatch;
  readonly #ends: JobEnds;
  #good: GoodSet | undefined;
  #file: FileState = { state: 'absent' };
  #zone = '';
  #timer: Timer | undefined;
  #endsTimer: Timer | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #underWay = 0;
  #starting: Promise<void> | undefined;
  #isLoaded = false;
  #isStopped = true;
  #needsLook = true;

  constructor(deps: JobsDeps) {
    this.#deps = deps;
    this.#watch = new JobsFileWatch(deps.path);
    this.#ends = new JobEnds(deps.core);
    this.scheduler = new JobScheduler({
      ...deps,
      inTurn: (work) => this.inTurn(work),
    });
  }

  get file(): FileState {
    return this.#file;
  }
  get good(): GoodSet | undefined {
    return this.#good;
  }
  get path(): string {
    return this.#deps.path;
  }
  /** True once the stored set was read. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }
  /** True while neither the file nor a change of it is being taken in. */
  get isIdle(): boolean {
    return this.#underWay === 0;
  }
  job(id: string): Job | undefined {
    return this.scheduler.jobs.get(id)?.job;
  }

  /** For metrics. Undefined while no job was ever there. Rejects while the database cannot be read. */
  async figures(): Promise<JobFigures | undefined> {
    if (this.#good === undefined && this.#file.state === 'absent') return undefined;
    const totals = await readTotals(this.#deps.core.reader);
    return { totals, jobs: [...this.scheduler.jobs.keys()], isFileOk: this.#file.state !== 'refused' };
  }

  /** Reads the stored set and the file, then looks at the file each second. Resolves after the first try. */
  start(): Promise<void> {
    this.#isStopped = false;
    this.#starting ??= this.#look();
    return this.#starting;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#endsTimer?.cancel();
    await this.#turn.catch(() => {});
  }

  /** Takes the file in now, as at a reload. Never rejects. */
  async takeInNow(): Promise<void> {
    await this.inTurn(() => this.takeIn()).catch((error: unknown) => this.#failed(error));
  }

  /** Changes of the file and their taking in, one after the other. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    const next = this.#turn
      .catch(() => {})
      .then(work)
      .finally(() => {
        this.#underWay -= 1;
      });
    this.#turn = next;
    return next;
  }

  /** The items of runs that ended are noted soon. */
  itemEnded(): void {
    this.#needsLook = true;
    if (!this.#isLoaded || this.#good === undefined || this.#isStopped) return;
    // Many items end together: one look notes them all.
    this.#endsTimer ??= this.#deps.core.clock.after(ENDS_MS, () => {
      this.#endsTimer = undefined;
      void this.#ends.look().catch((error: unknown) => this.#failed(error));
    });
  }

  /** Each second: the file, a changed default zone, and runs whose items were ended beside the handlers. */
  async #look(): Promise<void> {
    try {
      await this.inTurn(async () => {
        if (!this.#isLoaded) await this.#load();
        else if (this.#watch.isReady()) await this.takeIn();
        else if (this.#good !== undefined && this.#zone !== this.#deps.zone()) await this.#alignZone();
        if (this.#good !== undefined && (this.#needsLook || this.#good.document.jobs.length > 0)) {
          this.#needsLook = false;
          await this.#ends.look();
        }
      });
    } catch (error) {
      this.#failed(error);
      // Without the stored set nobody knows whether items of jobs wait. Without their handler they would become dead letters.
      if (!this.#isLoaded) await this.#deps.needPlugin().catch(() => {});
    }
    if (!this.#isStopped) this.#timer = this.#deps.core.clock.after(LOOK_MS, () => void this.#look());
  }

  async #load(): Promise<void> {
    const { core } = this.#deps;
    const text = await readMeta(core.reader, GOOD_SET);
    const sha256 = await readMeta(core.reader, GOOD_SHA);
    if (text !== undefined && sha256 !== undefined) {
      await this.#deps.needPlugin(); // items of earlier runs may wait for it
      const checked = await checkJobs(text, this.#when());
      if (checked.kind === 'valid')
        await this.#serve(
          { document: checked.document, sha256 },
          new Map(checked.document.jobs.map(({ id }) => [id, 0])),
        );
      else
        core.log.error(
          { fault: checked.faults[0].message },
          'the stored jobs cannot be read by this svc: the file is read anew',
        );
    }
    this.#isLoaded = true;
    await this.takeIn();
  }

  /** Reads the file. To be called in turn. `join`: further statements of the unit that takes it in. */
  async takeIn(join: Join = async () => []): Promise<void> {
    this.#watch.reading();
    try {
      await this.#take(readJobsFile(this.#deps.path), join);
    } catch (error) {
      this.#watch.unread();
      throw error;
    }
  }

  async #take(file: JobsFile, join: Join): Promise<void> {
    const taken = this.#good;
    if (file.kind === 'refused') return this.#refuse('unreadable', file.fault);
    if (file.kind === 'absent') {
      if (taken === undefined || taken.document.jobs.length === 0) {
        this.#file = { state: 'absent' };
        return undefined;
      }
      return this.#refuse('gone', goneFault());
    }
    if (file.sha256 === taken?.sha256) {
      this.#file = { state: 'taken' };
      return undefined;
    }
    const checked = await checkJobs(file.text, this.#when());
    if (checked.kind === 'invalid') return this.#refuse('invalid', checked.faults[0]);
    const good = { document: checked.document, sha256: file.sha256 };
    await this.#serve(good, this.scheduler.jobs, { text: file.text, join });
    this.#file = { state: 'taken' };
    return undefined;
  }

  /** `taken`: to be stored as the new good set. */
  async #serve(
    good: GoodSet,
    before: ReadonlyMap<string, unknown>,
    taken?: { readonly text: string; readonly join: Join },
  ): Promise<void> {
    const { core, needPlugin } = this.#deps;
    const { jobs, revision } = good.document;
    const { sha256 } = good;
    const prepared = await this.scheduler.prepare(jobs);
    const rows = await this.scheduler.alignment(prepared, before);
    const event = {
      type: 'job.file_taken',
      at: core.clock.now(),
      runtimeId: core.runtimeId,
      data: { revision, jobs: jobs.length, sha256 },
    } as const;
    const stored =
      taken === undefined
        ? []
        : [
            writeMeta(GOOD_SET, taken.text),
            writeMeta(GOOD_SHA, sha256),
            ...(await taken.join(prepared)),
            ...recordEvents([event]),
          ];
    await needPlugin();
    if (FAILPOINTS) await core.point('job_file');
    if (rows.length + stored.length > 0)
      await commitOrThrow(core.writer, { name: 'job.file_taken', statements: [...rows, ...stored] });
    this.#good = good;
    this.#zone = this.#deps.zone();
    this.scheduler.serve(prepared);
    if (taken !== undefined) core.log.info({ jobs: jobs.length, revision }, 'scheduled jobs taken in');
    await this.#skipRemoved();
  }

  async #alignZone(): Promise<void> {
    await this.scheduler.align();
    this.#zone = this.#deps.zone();
  }

  /** A removed job ends its open run. Its runs that have not begun are skipped. */
  async #skipRemoved(): Promise<void> {
    const { core, dropItem } = this.#deps;
    for (const run of await readOpenRuns(core.reader)) {
      if (this.scheduler.jobs.has(run.job) || run.item_id === null) continue;
      if ((await readItemState(core.reader, run.item_id))?.state !== 'received') continue;
      const at = core.clock.now();
      const reason = 'removed';
      const event = {
        type: 'job.skipped',
        at,
        runtimeId: core.runtimeId,
        subject: run.job,
        runId: run.run_id,
        data: { job: run.job, due: run.due, reason },
      } as const;
      await dropItem(run.item_id, [
        endRun({ run: run.run_id, state: 'skipped', reason, at }),
        countEnd({ name: run.job, outcome: 'skipped', count: 1, at }),
        ...recordEvents([event]),
      ]);
    }
  }

  async #refuse(code: FileFault, fault: ConfigFault): Promise<void> {
    const { core } = this.#deps;
    const before = this.#file;
    const isTold =
      before.state === 'refused' &&
      before.code === code &&
      before.fault.line === fault.line &&
      before.fault.message === fault.message;
    if (isTold) return;
    const { line, column } = fault;
    core.log.error(
      { code, line, column, reason: fault.message },
      'the jobs file is refused: the last good set goes on',
    );
    const event = {
      type: 'job.file_refused',
      at: core.clock.now(),
      runtimeId: core.runtimeId,
      data: { code, line, column },
    } as const;
    await core.writer.commit({ name: 'job.file_refused', statements: recordEvents([event]) });
    this.#file = { state: 'refused', code, fault }; // not before the commit: the event would not come again
  }

  #when(): { readonly zone: string; readonly now: number } {
    return { zone: this.#deps.zone(), now: this.#deps.core.clock.now() };
  }

  #failed(error: unknown): void {
    this.#deps.core.log.warn({ error: messageOf(error) }, 'scheduled jobs: tried again in a second');
  }
}

const goneFault = (): ConfigFault => ({
  file: 'data/schedule-jobs.json',
  path: '',
  line: 1,
  column: 1,
  message: 'is gone: the last good set goes on. Put it back; "jobs": [] is an empty list',
});
