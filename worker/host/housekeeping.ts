// Deletes old data: texts, delivery ids, sent messages, buttons, idempotency keys, starts. Small deletes, one commit each, every few
// minutes. Delivery ids outlive texts, so a platform's late repeat is still recognized. Dead letters stay until an operator decides.
//
//   HOUSEKEEPING-1  Ages use two clocks that distrust jumps of the wall clock. The clock of ids believes a jump only after the retention
//                   time of ids. A delivery whose id was deleted too early would be handled twice. The other clock believes a jump after an
//                   hour, so that a host that is seldom up erases texts in time.
import { type RawBuilder, sql as raw } from 'kysely';
import type { Timer } from '../../shared/time/clock.ts';
import type { Core } from '../core/core.ts';
import { forgetStarts } from '../database/starts-ledger.ts';
import { sql, statement } from '../database/statement.ts';
import type { Statement } from '../database/unit.ts';
import { KeptClock } from './kept-clock.ts';

export interface KeepFor {
  readonly bodyDays: number;
  readonly idDays: number;
  readonly outboxDays: number;
  /** Days for runs of jobs. Default 90. */
  readonly runDays?: number;
}

const DAY_MS = 86_400_000;
const BATCH = 500;
const EVERY_MS = 300_000;
const HOUR_MS = 3_600_000;
const BUTTON_DAYS = 90;

export class Housekeeping {
  readonly #core: Core;
  readonly #keep: () => KeepFor;
  readonly #also: (now: number) => Promise<void>;
  readonly #clock: KeptClock;
  readonly #clockOfIds: KeptClock;
  #timer: Timer | undefined;
  #stopped = false;
  /** Texts of items that ended before this time are erased already. */
  #erasedTo = 0;

  /** `also` runs after each pass with the current kept time. The promise of `also` must not reject. */
  constructor(core: Core, keep: () => KeepFor, also: (now: number) => Promise<void> = async () => {}) {
    this.#core = core;
    this.#keep = keep;
    this.#also = also;
    this.#clock = new KeptClock(core, 'kept_clock', () => HOUR_MS);
    this.#clockOfIds = new KeptClock(core, 'kept_clock_of_ids', () => keep().idDays * DAY_MS);
  }

  /** The clock for everything except ids. */
  now(): Promise<number> {
    return this.#clock.now();
  }

  start(): void {
    this.#timer = this.#core.clock.after(EVERY_MS, () => {
      void this.run().finally(() => {
        if (!this.#stopped) this.start();
      });
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** One pass: deletes each kind of row in batches until none is due. Never throws. */
  async run(): Promise<void> {
    let now: number | undefined;
    try {
      now = await this.#clock.keep();
      for (const make of this.#passes(now, await this.#clockOfIds.keep()))
        while (!this.#stopped && (await this.#batch([make()])) === BATCH);
      while (!this.#stopped && (await this.#batch(forgetStarts(BATCH))) === BATCH);
      if (!this.#stopped) this.#erasedTo = now - this.#keep().bodyDays * DAY_MS;
    } catch (error) {
      this.#core.log.warn({ err: error }, 'housekeeping did not finish');
    }
    if (!this.#stopped && now !== undefined) await this.#also(now);
  }

  /** Returns the number of rows that the last statement affected. */
  async #batch(statements: readonly Statement[]): Promise<number> {
    const answer = await this.#core.writer.commit({ name: 'housekeeping', statements });
    return answer.kind === 'committed' ? (answer.rows.at(-1)?.length ?? 0) : 0;
  }

  #passes(now: number, nowOfIds: number): readonly (() => Statement)[] {
    const { bodyDays, idDays, outboxDays, runDays = 90 } = this.#keep();
    const before = (days: number): number => now - days * DAY_MS;
    const texts = before(bodyDays);
    const erased = Math.min(this.#erasedTo, texts); // the clock may have been set back since
    return [
      // Starts where the last pass ended, so erased rows are not scanned again. `+state` makes SQLite use the index of the time instead of
      // the one of the state.
      () =>
        deletion(
          raw`UPDATE inbox SET body = NULL WHERE seq IN (SELECT seq FROM inbox WHERE done_at >= ${erased} AND done_at < ${texts} AND +state = 'done' AND body IS NOT NULL LIMIT ${BATCH}) RETURNING seq`,
        ),
      () =>
        deletion(
          raw`DELETE FROM inbox WHERE seq IN (SELECT seq FROM inbox WHERE done_at < ${nowOfIds - idDays * DAY_MS} AND +state = 'done' LIMIT ${BATCH}) RETURNING seq`,
        ),
      () =>
        deletion(
          raw`DELETE FROM handler_runs WHERE (item_id, handler) IN (SELECT item_id, handler FROM handler_runs AS run WHERE ${isOver('run')} LIMIT ${BATCH}) RETURNING item_id`,
        ),
      // Step results are deleted with their item's decision. The rows here belong to routes and dropped items.
      () =>
        deletion(
          raw`DELETE FROM once_results WHERE (item_id, handler, step) IN (SELECT item_id, handler, step FROM once_results AS run WHERE run.at < ${before(1)} AND ${isOver('run')} LIMIT ${BATCH}) RETURNING item_id`,
        ),
      () =>
        deletion(
          raw`DELETE FROM outbox WHERE seq IN (SELECT seq FROM outbox WHERE done_at < ${before(outboxDays)} AND (state = 'sent' OR is_dropped = 1) LIMIT ${BATCH}) RETURNING seq`,
        ),
      // The last run of each job stays: it says when the job ran.
      () =>
        deletion(
          raw`DELETE FROM job_runs WHERE run_id IN (SELECT run_id FROM job_runs AS run WHERE run.done_at < ${before(runDays)} AND EXISTS (SELECT 1 FROM job_runs AS later WHERE later.job = run.job AND later.started_at > run.started_at) LIMIT ${BATCH}) RETURNING run_id`,
        ),
      () =>
        deletion(
          raw`DELETE FROM buttons WHERE token IN (SELECT token FROM buttons WHERE created_at < ${before(BUTTON_DAYS)} LIMIT ${BATCH}) RETURNING token`,
        ),
      () =>
        deletion(
          raw`DELETE FROM dialogs WHERE owner IN (SELECT owner FROM dialogs WHERE expires_at < ${now} LIMIT ${BATCH}) RETURNING owner`,
        ),
      () =>
        deletion(
          raw`DELETE FROM idempotency WHERE (key, route) IN (SELECT key, route FROM idempotency WHERE at < ${before(1)} LIMIT ${BATCH}) RETURNING key`,
        ),
    ];
  }
}

/** True if the row's item is done, or never was one. Looked up by key, so the inbox is not scanned. */
const isOver = (table: string): RawBuilder<unknown> =>
  raw`NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.id = ${raw.ref(`${table}.item_id`)} AND inbox.state <> 'done')`;

/** A raw DELETE or UPDATE with RETURNING, so the number of affected rows is known. */
function deletion(query: RawBuilder<unknown>): Statement {
  return statement({ compile: () => query.compile(sql) });
}
