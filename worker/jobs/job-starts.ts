// The units that store what becomes of a due time, or of a run by hand: a run with its item, a skipped or failed run, a missed range.
//
//   JOB-STARTS-1  Run, item, event and the statements of the caller are one unit. The guard of `overlap` is in it too.
import { uuidv7 } from '../../shared/identifiers.ts';
import type { Job } from '../../shared/jobs/job.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import type { Statement, UnitAnswer } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { HostEvent, NewEvent } from '../events/event-types.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { type JobItem, type JobTargets, jobItem } from './job-item.ts';
import { countEnd, insertRun, type JobRun, OPEN_GUARD, refuseOpenRuns } from './job-store.ts';

const MOST_WAITING = 100;

export interface StartsDeps {
  readonly core: Core;
  readonly inbox: Pick<Inbox, 'storeWith'>;
  /** Undefined while no generation serves. */
  readonly targets: () => JobTargets | undefined;
  /** An item was stored. */
  readonly stored: () => void;
}

export interface StartOf {
  /** Null: by hand. */
  readonly due: number | null;
  readonly actor: string;
  readonly statements: readonly Statement[];
  /** Further statements, which need the id of the run. */
  readonly more?: (runId: string) => readonly Statement[];
}

export class JobStarts {
  readonly #deps: StartsDeps;

  constructor(deps: StartsDeps) {
    this.#deps = deps;
  }

  /** A due time with too many open runs becomes a skipped run; a run by hand is refused then, with the guard `OPEN_GUARD`. */
  async start(job: Job, of: StartOf): Promise<UnitAnswer> {
    const to = this.#deps.targets();
    if (to === undefined) throw new SvcError('endpoint_unavailable', 'no plugin and no account is served now');
    const now = this.#deps.core.clock.now();
    const runId = uuidv7(now);
    const run = newRun(job, { runId, due: of.due, actor: of.actor, now });
    const item = await jobItem({ job, runId, due: of.due, actor: of.actor, now }, to);
    const statements = [...of.statements, ...(of.more?.(runId) ?? [])];
    if (item.kind === 'failed') return this.#failed(run, { reason: item.reason, statements });
    const most = job.overlap === 'skip' ? 1 : MOST_WAITING + 1;
    const guard = job.overlap === 'allow' ? [] : [refuseOpenRuns({ job: job.id, most })];
    const answer = await this.#store(run, { item, statements: [...guard, ...statements] });
    if (answer.kind === 'committed' || answer.guard !== OPEN_GUARD || of.due === null) return answer;
    return this.#skipped(run, statements);
  }

  /** One row for all due times from `due` to `until`. */
  missed(
    job: Job,
    range: {
      readonly due: number;
      readonly until: number;
      readonly count: number;
      readonly actor: string;
      readonly statements: readonly Statement[];
    },
  ): Promise<UnitAnswer> {
    const now = this.#deps.core.clock.now();
    const { due, until, count, actor, statements } = range;
    const run = { ...newRun(job, { runId: uuidv7(now), due, actor, now }), state: 'missed', until, count } as const;
    const event = this.#event(run, { type: 'job.missed', data: { job: job.id, from: due, until, count } });
    return this.#end({ ...run, done_at: now }, { statements, event });
  }

  async #store(
    run: JobRun,
    of: { readonly item: Extract<JobItem, { kind: 'item' }>; readonly statements: readonly Statement[] },
  ): Promise<UnitAnswer> {
    const answer = await this.#deps.inbox.storeWith(of.item.delivery, (item) => {
      const data = { job: run.job, due: run.due, lateMs: run.late_ms, item };
      const events = recordEvents([this.#event(run, { type: 'job.started', data })]);
      return { name: 'job.due', statements: [...of.statements, insertRun({ ...run, item_id: item }), ...events] };
    });
    if (answer.kind === 'committed') this.#deps.stored();
    return answer;
  }

  #failed(
    run: JobRun,
    { reason, statements }: { readonly reason: string; readonly statements: readonly Statement[] },
  ): Promise<UnitAnswer> {
    const data = { job: run.job, due: run.due, outcome: 'failed', durationMs: 0, reason };
    const event = this.#event(run, { type: 'job.ended', data });
    return this.#end({ ...run, state: 'failed', reason, done_at: run.started_at }, { statements, event });
  }

  #skipped(run: JobRun, statements: readonly Statement[]): Promise<UnitAnswer> {
    const reason = 'overlap';
    const event = this.#event(run, { type: 'job.skipped', data: { job: run.job, due: run.due, reason } });
    return this.#end({ ...run, state: 'skipped', reason, done_at: run.started_at }, { statements, event });
  }

  #end(run: JobRun, { statements, event }: { readonly statements: readonly Statement[]; readonly event: NewEvent }) {
    const total = countEnd({ name: run.job, outcome: run.state, count: run.count, at: run.started_at });
    return this.#deps.core.writer.commit({
      name: 'job.due',
      statements: [...statements, insertRun(run), total, ...recordEvents([event])],
    });
  }

  #event(run: JobRun, event: JobEvent): NewEvent {
    const { clock, runtimeId } = this.#deps.core;
    return { at: clock.now(), runtimeId, subject: run.job, runId: run.run_id, actor: run.actor, ...event };
  }
}

type JobEvent<E = HostEvent> = E extends { readonly type: `job.${string}`; readonly data: unknown }
  ? Pick<E, 'type' | 'data'>
  : never;

const newRun = (
  job: Job,
  of: { readonly runId: string; readonly due: number | null; readonly actor: string; readonly now: number },
): JobRun => ({
  run_id: of.runId,
  job: job.id,
  due: of.due,
  until: null,
  count: 1,
  state: 'running',
  reason: null,
  item_id: null,
  actor: of.actor,
  late_ms: of.due === null ? 0 : Math.max(0, of.now - of.due),
  started_at: of.now,
  done_at: null,
});
