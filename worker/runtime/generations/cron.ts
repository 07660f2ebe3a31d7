// Plugins' own times: one due row for each, the next computed from the last. What was missed while the host was down runs once, or
// not at all where the plugin says `skip`.
//
//   C1  An item of a due time is stored once: its delivery id is the capability and the instant.
//   C2  The next due time and the item of this one are one unit.
//   C3  A clock that was ahead holds up no job: a due time that it led to is taken back once the clock is right. What it ran ahead of its
//       time does not run again then (C1).
//   C4  croner is loaded where there is a job, and only there.
import type { Cron } from 'croner';
import { SvcError } from '../../../shared/svc-error.ts';
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

/** Later than this a due time counts as missed. */
const LATE_MS = 60_000;

export class CronService {
  readonly #core: Core;
  readonly #deps: CronDeps;
  #jobs = new Map<string, CronCapability>();
  #next: NextDue = () => undefined;
  /** The rows are those of the jobs. Before that, what is due is of jobs to come. */
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
      if (this.#jobs.size > 0) await this.#align(); // none: nothing serves yet, and what is stored is of jobs to come
    });
  }

  /** Rows of jobs that are new; those of jobs that went are removed. A changed pattern or zone starts anew. */
  async serve(generation: GenerationView): Promise<void> {
    this.#jobs = new Map(generation.capabilities.ofKind('cron').map((job) => [dueId(job), job]));
    if (this.#jobs.size > 0) this.#next = await loadNextDue();
    await this.#align();
    this.#serves = true;
    this.#deps.timers.wake();
  }

  /** A row for each job, at its next time from now or before. */
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

  /** C3. */
  #isAhead({ id, at }: DueRow, now: number): boolean {
    const job = this.#jobs.get(id);
    const next = job && this.#next(this.#patternOf(job), now);
    return next !== undefined && at > next;
  }

  async #fire(row: DueRow): Promise<boolean | void> {
    const { writer, clock } = this.#core;
    const job = this.#jobs.get(row.id);
    if (job === undefined) return false; // of another generation: it is put right when that serves
    const missed = clock.now() - row.at > LATE_MS && job.spec.missed === 'skip';
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

let loaded: NextDue | undefined;

async function loadNextDue(): Promise<NextDue> {
  if (loaded !== undefined) return loaded;
  const { Cron: Pattern }: { Cron: typeof Cron } = await import('croner');
  loaded = ({ at, timezone }, now) => new Pattern(at, { timezone, paused: true }).nextRun(new Date(now))?.getTime();
  return loaded;
}

/** When a pattern is due next; undefined when it never is. Throws for one that cannot be read. */
export async function nextRun(pattern: Parameters<NextDue>[0], now: number): Promise<number | undefined> {
  return (await loadNextDue())(pattern, now);
}

/** Throws `definition_invalid` for a pattern or zone that cannot be read; called at assembly. */
export async function refuseBadPatterns(jobs: readonly CronCapability[], timezone: string): Promise<void> {
  if (jobs.length === 0) return;
  const next = await loadNextDue();
  const isReadable = (of: Parameters<NextDue>[0]): boolean => {
    try {
      next(of, 0);
      return true;
    } catch {
      return false; // croner's reason names neither the part nor what it takes: cron-fault.ts does
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
