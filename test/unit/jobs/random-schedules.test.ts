// Random schedules on the scheduler itself, over stops, kills, pauses, runs that stay open, and clocks that are set: each due time has one run, or
// lies in one missed range, and none has two.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import '../../../shared/process/failpoints.ts';
import { newRuntimeId, type ProjectId } from '../../../shared/identifiers.ts';
import { type DueTimes, dueTimes } from '../../../shared/jobs/due-times.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { checkJobs } from '../../../shared/jobs/jobs-file.ts';
import { type Database, Sqlite } from '../../../shared/sqlite.ts';
import type { Core } from '../../../worker/core/core.ts';
import { migrate } from '../../../worker/database/migrate.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { GroupCommit } from '../../../worker/database/sqlite/group-commit.ts';
import type { Unit, UnitAnswer } from '../../../worker/database/unit.ts';
import { Inbox } from '../../../worker/inbox/inbox.ts';
import { MOST_COUNTED } from '../../../worker/jobs/backlog.ts';
import { JobEnds } from '../../../worker/jobs/job-ends.ts';
import { JobScheduler } from '../../../worker/jobs/job-scheduler.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';
import type { DueRow, SetBack } from '../../../worker/timers/due-store.ts';
import type { TimerService } from '../../../worker/timers/timer-service.ts';
import { type Random, seeded } from '../../kits/crash/kit/random.ts';

const SEEDS = 20;
const STEPS = 14;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Before a change of daylight saving in the zone, both hemispheres. */
const BEGINNINGS: readonly [readonly [string, string], ...(readonly [string, string])[]] = [
  ['2026-03-28T18:00Z', 'Europe/London'],
  ['2026-10-24T18:00Z', 'Europe/London'],
  ['2026-03-07T20:00Z', 'America/New_York'],
  ['2026-11-01T00:00Z', 'America/New_York'],
  ['2026-04-04T08:00Z', 'Australia/Lord_Howe'],
  ['2026-10-03T08:00Z', 'Australia/Lord_Howe'],
  ['2026-06-01T00:00Z', 'Asia/Kathmandu'],
];
const PATTERNS = [
  '30 1 * * *',
  '0,30 2 * * *',
  '*/15 * * * *',
  '7 * * * *',
  '15 */2 * * 6,0',
  '0 9 * * 1-5',
  '45 5 1 * *',
  '@daily',
] as const;

function timingOf({ pick, between }: Random, { begin, zone }: { begin: number; zone: string }): object {
  const kind = pick(['cron', 'cron', 'every', 'at']);
  if (kind === 'cron') return { cron: pick(PATTERNS), timezone: pick([zone, zone, 'UTC', 'Asia/Kolkata']) };
  const from = `${new Date(begin + between(-300, 30) * MINUTE).toISOString().slice(0, 16)}Z`;
  if (kind === 'every') return { every: pick(['1m', '90s', '7m', '1h', '25h']), from };
  return { at: new Date(begin + between(-120, 3_000) * MINUTE).toISOString().slice(0, 19), timezone: zone };
}

async function jobsOf(random: Random, of: { readonly begin: number; readonly zone: string }): Promise<readonly Job[]> {
  const { pick } = random;
  const jobs = Array.from({ length: 3 }, (_, index) => {
    const missed = pick(['skip', 'run_once', 'run_all']);
    const overlap = missed === 'run_all' ? pick(['queue', 'allow']) : pick(['skip', 'queue', 'allow']);
    const timing = timingOf(random, of);
    return {
      id: `job-${index}`,
      ...timing,
      missed,
      overlap,
      within: pick(['1m', '20m', '3h', '2d']),
      ...(random.chance(0.5) ? { jitter: 'every' in timing ? '20s' : pick(['20s', '5m', '1h']) } : {}),
      do: { say: { to: { endpoint: 'a', conversation: 'c' }, text: 'It is time.' } },
    };
  });
  const checked = await checkJobs(JSON.stringify({ version: 1, jobs }), { zone: of.zone, now: of.begin });
  assert.equal(checked.kind, 'valid', JSON.stringify(checked));
  return checked.kind === 'valid' ? checked.document.jobs : [];
}

class Killed extends Error {}

interface Ledger {
  readonly job: string;
  readonly due: number;
  readonly until: number | null;
  readonly count: number;
  readonly state: string;
  readonly item_id: string | null;
}

/** A host of which only what jobs need is there. The database outlives its starts. */
class World {
  readonly clock: ManualClock;
  readonly jobs: readonly Job[];
  readonly #zone: string;
  readonly #database: Database = new Sqlite(':memory:');
  readonly #group: GroupCommit;
  readonly #core: Core;
  #fire: (row: DueRow) => Promise<boolean | void> = () => Promise.resolve(false);
  #putRight: (by: SetBack) => Promise<void> = () => Promise.resolve();
  #isKnown = false;
  isPaused = false;
  /** The process dies at the commit of so many units from now, before it or after. */
  kill: { left: number; readonly where: 'before' | 'after' } | undefined;

  constructor({ begin, zone, jobs }: { readonly begin: number; readonly zone: string; readonly jobs: readonly Job[] }) {
    this.clock = new ManualClock(begin);
    this.jobs = jobs;
    this.#zone = zone;
    migrate(this.#database, begin);
    this.#group = new GroupCommit(this.#database);
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    this.#core = {
      runtimeId: newRuntimeId(),
      projectId: '' as ProjectId,
      clock: this.clock,
      writer: { commit: (unit) => this.#commit(unit), onHead: () => () => {} },
      reader: new SqliteReader(() => this.#database),
      log,
      point: () => undefined,
    };
  }

  async #commit(unit: Unit): Promise<UnitAnswer> {
    if (this.kill !== undefined) this.kill.left -= 1;
    const isLast = this.kill?.left === 0;
    if (isLast && this.kill?.where === 'before') throw new Killed();
    const [answer] = this.#group.run([unit]).answers;
    if (isLast) throw new Killed();
    return answer as UnitAnswer;
  }

  async start(): Promise<void> {
    this.kill = undefined;
    const core = this.#core;
    const timers = {
      on: (_kind: string, fire: (row: DueRow) => Promise<boolean>) => {
        this.#fire = fire;
      },
      onSetBack: (putRight: (by: SetBack) => Promise<void>) => {
        this.#putRight = putRight;
      },
      wake: () => {},
    };
    const scheduler = new JobScheduler({
      core,
      inbox: new Inbox(core, () => ({ maxPending: 1e6, maxPendingBytes: 1e9 })),
      targets: () => ({ endpoint: (name) => name, hasCommand: () => true, prefix: '/' }),
      stored: () => {},
      timers: timers as unknown as TimerService,
      isPaused: () => this.isPaused,
      zone: () => this.#zone,
      inTurn: (work) => work(),
    });
    const prepared = await scheduler.prepare(this.jobs);
    const before = new Map(this.#isKnown ? this.jobs.map(({ id }) => [id, 0]) : []);
    const statements = await scheduler.alignment(prepared, before);
    this.#isKnown = true;
    if (statements.length > 0) await core.writer.commit({ name: 'start', statements });
    scheduler.serve(prepared);
    await this.look();
  }

  /** As a wake of the timer does. */
  async look(): Promise<void> {
    try {
      for (;;) {
        const rows = this.#dueRows(this.clock.now());
        const fired = [];
        for (const row of rows) fired.push(await this.#fire(row));
        if (fired.every((one) => one === false)) return;
      }
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      await this.start();
    }
  }

  /** Time passes while the host runs. */
  async advance(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    for (;;) {
      const [next] = this.#dueRows(end);
      if (next === undefined || this.isPaused) break;
      this.clock.moveTo(Math.max(next.at, this.clock.now()));
      await this.look();
    }
    this.clock.moveTo(end);
  }

  async setClock(byMs: number): Promise<void> {
    this.clock.step(byMs);
    if (byMs < 0) await this.#putRight({ byMs: -byMs, after: this.clock.now() });
    await this.look();
  }

  /** The items of runs that are open end, but for some. */
  async endRuns(share: number, { chance }: Random): Promise<void> {
    for (const { item_id: item } of this.ledger().filter(({ state }) => state === 'running'))
      if (chance(share))
        this.#database.prepare("UPDATE inbox SET state = 'done', done_at = ? WHERE id = ?").run(this.clock.now(), item);
    this.kill = undefined;
    await new JobEnds(this.#core).look();
  }

  #dueRows(until: number): DueRow[] {
    return this.#database.prepare('SELECT * FROM due WHERE at <= ? ORDER BY at, seq').all(until) as DueRow[];
  }

  ledger(): readonly Ledger[] {
    return this.#database.prepare('SELECT * FROM job_runs ORDER BY job, due').all() as Ledger[];
  }

  /** Due times of which an item was stored. */
  delivered(): readonly string[] {
    return (this.#database.prepare('SELECT delivery_id FROM inbox').pluck().all() as string[]).map(
      (id) => id.split('/')[1] ?? '',
    );
  }

  close(): void {
    this.#database.close();
  }
}

async function live(world: World, random: Random): Promise<void> {
  const { pick, between, chance } = random;
  let latest = world.clock.now();
  await world.start();
  for (let step = 0; step < STEPS; step += 1) {
    const ms = pick([MINUTE, 10 * MINUTE, HOUR, 9 * HOUR]) * between(1, 4) - between(0, 50_000);
    const action = pick(['advance', 'advance', 'kill', 'down', 'suspend', 'ahead', 'back', 'back while down', 'pause']);
    if (action === 'kill') world.kill = { left: between(1, 6), where: pick(['before', 'after']) };
    if (action === 'advance' || action === 'kill') await world.advance(Math.min(ms, 2 * HOUR));
    else if (action === 'down') {
      world.clock.moveTo(world.clock.now() + ms);
      await world.start();
    } else if (action === 'suspend') {
      world.clock.moveTo(world.clock.now() + ms);
      await world.look();
    } else if (action === 'back while down') {
      world.clock.step(-Math.min(ms, 2 * HOUR));
      await world.start();
    } else if (action === 'pause') {
      world.isPaused = true;
      await world.advance(ms);
      if (chance(0.3)) await world.start();
      world.isPaused = false;
      await world.look();
    } else await world.setClock(action === 'ahead' ? ms : -Math.min(ms, 2 * HOUR));
    await world.endRuns(pick([0.3, 1]), random);
    latest = Math.max(latest, world.clock.now());
  }
  world.clock.moveTo(latest);
  await world.setClock(Math.max(0, latest - world.clock.now()) + 2 * HOUR);
  await world.advance(2 * HOUR);
  await world.endRuns(1, random);
}

/** Due times behind `after`, up to `until`. */
function between(times: DueTimes, after: number, until: number): readonly number[] {
  const dues: number[] = [];
  for (let due = times.next(after); due !== undefined && due <= until; due = times.next(due)) dues.push(due);
  return dues;
}

describe('random schedules', () => {
  it(`leave no due time out and run none twice (seeds 1 to ${SEEDS})`, async () => {
    let states = new Set<string>();
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const random = seeded(seed);
      const [beginning, zone] = random.pick(BEGINNINGS);
      const begin = Date.parse(beginning);
      const jobs = await jobsOf(random, { begin, zone });
      const world = new World({ begin, zone, jobs });
      await live(world, random);
      const ledger = world.ledger();
      const delivered = world.delivered();
      for (const job of jobs) {
        const where = `seed ${seed}, ${JSON.stringify(job.entry)}`;
        const times = await dueTimes(job.timing, zone);
        const rows = ledger.filter((row) => row.job === job.id);
        const until = world.clock.now() - job.jitterMs - 2 * MINUTE;
        const wrong = between(times, begin, until)
          .map((due) => [due, rows.filter((row) => row.due <= due && due <= (row.until ?? row.due)).length] as const)
          .filter(([, held]) => held !== 1)
          .map(([due, held]) => `${new Date(due).toISOString()} is in ${held} rows`);
        assert.deepEqual(wrong, [], where);
        const ofRuns = rows.filter((row) => row.item_id !== null).map(({ due }) => `${job.id}@${due}`);
        assert.deepEqual(delivered.filter((id) => id.startsWith(`${job.id}@`)).toSorted(), ofRuns.toSorted(), where);
        const ranges = rows.filter((row) => row.state === 'missed' && row.due > begin && row.count < MOST_COUNTED);
        assert.deepEqual(
          ranges.map(({ due, until: end }) => between(times, due - 1, end ?? due).length),
          ranges.map(({ count }) => count),
          where,
        );
      }
      states = new Set([...states, ...ledger.map(({ state }) => state)]);
      world.close();
    }
    assert.deepEqual([...states].toSorted(), ['done', 'missed', 'skipped']);
  });
});
