// Cron jobs of plugins: one due row per job, and each due time is computed from the last. A job missed while the host was down runs once,
// or not at all if the plugin sets `skip`.
//
//   CRON-1  The item of a due time is stored once: its delivery id consists of capability and time.
//   CRON-2  The item of a due time and the next due time are stored in one transaction.
//   CRON-3  A clock that was ahead blocks no job. A due time computed from that clock is withdrawn once the clock is right. Jobs that ran
//           early do not run again, because their delivery ids are known.
//   CRON-4  croner is loaded only if there is a job.
import { SvcError } from '../../../shared/svc-error.ts';
import { cronTimes } from '../../../shared/time/cron-times.ts';
import { type Core, commitOrThrow } from '../../core/core.ts';
import { sql, statement } from '../../database/statement.ts';
import type { CronCapability } from '../../handling/plan/capabilities.ts';
import type { GenerationView } from '../../handling/plan/generation-view.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { Delivery } from '../../inbox/prepare-item.ts';
import { type DueRow, putDue, takeDue } from '../../timers/due-store.ts';
import type { TimerService } from '../../timers/timer-service.ts';

export interface CronDeps {
  readonly inbox: Inbox;
  readonly timers: TimerService;
  readonly stored: () => void;
  readonly timezone: () => string;
}

/** A due time counts as missed after this delay. */
const LATE_MS = 60_000;

export class CronService {
  readonly #core: Core;
  readonly #deps: CronDeps;
  #jobs = new Map<string, CronCapability>();
  #next: NextDue = () => undefined;
  /** True once the rows match the jobs. Before, due rows belong to jobs that are not loaded yet. */
  #serves = false;

  constructor(core: Core, deps: CronDeps) {
    this.#core = core;
    this.#deps = deps;
    deps.timers.on(
      'cron',
      (row) => this.#fire(row),
      () => this.#serves,
    );
    deps.timers.onSetBack(async () => {
      if (this.#jobs.size > 0) await this.#align(); // without jobs nothing serves yet, and stored rows must stay
    });
  }

  /** True if the job does not run for this due time, since it is missed. */
  isSkipped(capability: string, at: number): boolean {
    const job = this.#jobs.get(`cron/${capability}`);
    return job !== undefined && this.#isMissed(job, at);
  }

  #isMissed({ spec }: CronCapability, at: number): boolean {
    return this.#core.clock.now() - at > LATE_MS && spec.missed === 'skip';
  }

  /** Adds rows of new jobs and removes those of deleted jobs. A changed pattern or time zone starts anew. */
  async serve(generation: GenerationView): Promise<void> {
    this.#jobs = new Map(generation.capabilities.ofKind('cron').map((job) => [dueId(job), job]));
    if (this.#jobs.size > 0) this.#next = await loadNextDue();
    await this.#align();
    this.#serves = true;
    this.#deps.timers.wake();
  }

  /** Gives each job a row. A stored due time is kept if it is not later than the next one from now. */
  async #align(): Promise<void> {
    const { reader, writer, clock } = this.#core;
    const rows = await reader.all(sql.selectFrom('due').selectAll().where('kind', '=', 'cron'));
    const now = clock.now();
    const isKept = (row: DueRow): boolean => {
      const job = this.#jobs.get(row.id);
      return job !== undefined && row.data === JSON.stringify(this.#patternOf(job)) && !this.#isAhead(row, now);
    };
    const gone = rows
      .filter((row) => !isKept(row))
      .map((row) => statement(sql.deleteFrom('due').where('id', '=', row.id)));
    const fresh = [...this.#jobs.values()].flatMap((job) => {
      if (rows.some((row) => row.id === dueId(job) && isKept(row))) return [];
      const at = this.#next(this.#patternOf(job), now);
      return at === undefined ? [] : [this.#row(job, at)];
    });
    if (gone.length + fresh.length > 0)
      await commitOrThrow(writer, { name: 'cron.serve', statements: [...gone, ...fresh] });
  }

  /** A due time later than the next one from now: it was computed while the clock was ahead. */
  #isAhead({ id, at }: DueRow, now: number): boolean {
    const job = this.#jobs.get(id);
    const next = job && this.#next(this.#patternOf(job), now);
    return next !== undefined && at > next;
  }

  async #fire(row: DueRow): Promise<boolean | void> {
    const { writer, clock } = this.#core;
    const job = this.#jobs.get(row.id);
    if (job === undefined) return false; // a row of another generation, corrected when that one serves
    const missed = this.#isMissed(job, row.at);
    const at = this.#next(this.#patternOf(job), clock.now());
    const next = at === undefined ? [] : [this.#row(job, at)];
    const unit = { name: 'cron.due', statements: [takeDue(row), ...next] };
    const delivery: Delivery = {
      endpoint: job.id,
      deliveryId: `cron/${row.at}`,
      payload: { kind: 'cron', due: row.at },
      lane: job.id,
      capability: job.id,
    };
    const answer = await (missed ? writer.commit(unit) : this.#deps.inbox.storeWith(delivery, unit));
    if (answer.kind === 'refused' && answer.reason === 'unique') await writer.commit({ ...unit, name: 'cron.again' });
    if (answer.kind === 'committed' && !missed) this.#deps.stored();
  }

  #patternOf(job: CronCapability): { at: string; timezone: string } {
    return { at: job.spec.at, timezone: job.spec.timezone ?? this.#deps.timezone() };
  }

  #row(job: CronCapability, at: number) {
    return putDue({
      id: dueId(job),
      kind: 'cron',
      at,
      capability: job.id,
      lane: null,
      data: JSON.stringify(this.#patternOf(job)),
    });
  }
}

const dueId = (job: CronCapability): string => `cron/${job.id}`;

type NextDue = (pattern: { readonly at: string; readonly timezone: string }, now: number) => number | undefined;

const loadNextDue = async (): Promise<NextDue> => (await cronTimes('any')).next;

/** The next due time of a pattern. Undefined if there is none. Throws for an invalid pattern. */
export async function nextRun(pattern: Parameters<NextDue>[0], now: number): Promise<number | undefined> {
  return (await loadNextDue())(pattern, now);
}

/** Throws `definition_invalid` for an invalid pattern or time zone. Called at assembly. */
export async function refuseBadPatterns(jobs: readonly CronCapability[], timezone: string): Promise<void> {
  if (jobs.length === 0) return;
  const next = await loadNextDue();
  const isReadable = (of: Parameters<NextDue>[0]): boolean => {
    try {
      next(of, 0);
      return true;
    } catch {
      return false; // croner's error does not name the faulty part; cronFault below does
    }
  };
  for (const { id, slot, spec } of jobs) {
    const of = { at: spec.at, timezone: spec.timezone ?? timezone };
    if (isReadable(of)) continue;
    const { cronFault } = await import('../../timers/cron-fault.ts');
    const { message, hint } = cronFault(of, (at) => isReadable({ at, timezone: 'UTC' }));
    throw new SvcError('definition_invalid', `${id}: ${message}`, { hint, details: { plugin: slot } });
  }
}
