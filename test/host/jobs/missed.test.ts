// Due times that were missed: while the host was down, its clock was set, its machine slept, or ingress was paused.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seeded } from '../../kits/crash/kit/random.ts';
import { entry, type JobsHost, jobsHost } from '../../support/hosts/jobs-host.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);
const SEEDS = [1, 2, 3, 4, 5, 6];

const found = ({ ledger }: JobsHost) =>
  ledger().map(({ due, until, count, state }) => ({ due: due ?? 0, until, count, state }));
const run = (due: number, state = 'done') => ({ due, until: null, count: 1, state });
const missed = (due: number, until: number, count: number) => ({ due, until, count, state: 'missed' });

/** The host is down while `ms` pass. */
async function down(made: JobsHost, ms: number): Promise<JobsHost> {
  await made.jobs.stop();
  await made.host.stop();
  made.host.clock.step(ms);
  const next = await made.restart();
  await next.host.advance(3 * SECOND);
  return next;
}

describe('missed due times', () => {
  it('run once after a stop, and have one row for the rest', async (t) => {
    const first = await jobsHost(t, { jobs: [entry('tea', { every: '10m', from: '2026-01-01T12:00Z' })] });
    const next = await down(first, 45 * MINUTE);

    assert.deepEqual(found(next), [missed(at('12:10'), at('12:30'), 3), run(at('12:40'))]);
    assert.deepEqual(
      next.host.events('job.missed').map(({ data }) => data),
      [{ job: 'tea', from: at('12:10'), until: at('12:30'), count: 3 }],
    );
  });

  it('run none out of the window, none by skip, and all of the window by run_all', async (t) => {
    const every = { every: '10m', from: '2026-01-01T12:00Z' };
    const first = await jobsHost(t, {
      jobs: [
        entry('a', { every: '1h', from: '2026-01-01T12:30Z', within: '5m' }),
        entry('b', { ...every, missed: 'skip' }),
        entry('c', { ...every, missed: 'run_all', overlap: 'queue', within: '30m' }),
      ],
    });
    const next = await down(first, 45 * MINUTE);
    const of = (job: string) =>
      next
        .ledger()
        .filter((one) => one.job === job)
        .map(({ due, state }) => [due, state]);

    assert.deepEqual(of('a'), [[at('12:30'), 'missed']]);
    assert.deepEqual(of('b'), [[at('12:10'), 'missed']]);
    assert.deepEqual(of('c'), [
      [at('12:10'), 'missed'],
      [at('12:20'), 'done'],
      [at('12:30'), 'done'],
      [at('12:40'), 'done'],
    ]);
  });

  it('that are too many are counted to 5,000, and the newest still runs', async (t) => {
    const first = await jobsHost(t, { jobs: [entry('tea', { cron: '* * * * *' })] });
    const next = await down(first, 10 * 24 * HOUR + 90 * SECOND);
    const end = at('12:01') + 10 * 24 * HOUR;

    assert.deepEqual(found(next).slice(0, 2), [
      { due: at('12:01'), until: end - MINUTE, count: 5_000, state: 'missed' },
      run(end),
    ]);
  });

  it('have a row each behind those that ran, where the clock was set back before the stop', async (t) => {
    const first = await jobsHost(t, {
      jobs: [entry('tea', { every: '10m', from: '2026-01-01T12:00Z', missed: 'skip' })],
    });
    await first.host.advance(21 * MINUTE);
    first.host.clock.step(-18 * MINUTE); // 12:03
    await first.host.advance(MINUTE);
    assert.deepEqual(
      first.host.rows('SELECT at FROM due').map(({ at: due }) => due),
      [at('12:10')],
    );
    const next = await down(first, 50 * MINUTE);

    assert.deepEqual(found(next), [run(at('12:10')), run(at('12:20')), missed(at('12:30'), at('12:50'), 3)]);
    assert.deepEqual(next.host.platform.said('room'), ['tea', 'tea']);
  });

  it('are none of a paused job, and of a timing that was changed', async (t) => {
    const every = { every: '10m', from: '2026-01-01T12:00Z' };
    const made = await jobsHost(t, { jobs: [entry('a', { ...every, paused: true }), entry('b', { ...every })] });
    made.write([entry('a', { ...every, paused: true }), entry('b', { every: '1h', from: '2026-01-01T12:00Z' })]);
    await made.host.advance(35 * MINUTE);
    made.write([entry('a', every), entry('b', { every: '1h', from: '2026-01-01T12:00Z' })]);
    await made.host.advance(10 * MINUTE);

    assert.deepEqual(found(made), [run(at('12:40'))]);
  });

  it('wait while ingress is paused, and then are decided by `missed`', async (t) => {
    const made = await jobsHost(t, { jobs: [entry('tea', { every: '10m', from: '2026-01-01T12:00Z' })] });
    await made.host.engine.gate.set({ state: 'paused', mode: 'reject' }, 'test');
    await made.host.advance(25 * MINUTE);
    assert.deepEqual(found(made), []);
    await made.host.engine.gate.set({ state: 'open' }, 'test');
    await made.host.advance(2 * SECOND);

    assert.deepEqual(found(made), [missed(at('12:10'), at('12:10'), 1), run(at('12:20'))]);
  });

  it('of run_all wait for the end of a pause that begins between two of them', async (t) => {
    let starts = Number.NEGATIVE_INFINITY;
    const first = await jobsHost(t, {
      jobs: [
        entry('tea', { every: '10m', from: '2026-01-01T12:00Z', missed: 'run_all', overlap: 'queue', within: '2h' }),
      ],
      async atPoint(name, host) {
        if (name !== 'job_stored') return;
        starts += 1;
        if (starts === 2) await host.engine.gate.set({ state: 'paused', mode: 'park' }, 'test');
      },
    });
    starts = 0;
    const paused = await down(first, 45 * MINUTE);
    const dues = (): readonly number[] => found(paused).map(({ due }) => due);
    assert.deepEqual(dues(), [at('12:10'), at('12:20')]);
    await paused.host.advance(20 * MINUTE);
    assert.deepEqual(dues(), [at('12:10'), at('12:20')]);
    await paused.host.engine.gate.set({ state: 'open' }, 'test');
    await paused.host.advance(2 * SECOND);

    assert.deepEqual(
      found(paused),
      ['12:10', '12:20', '12:30', '12:40', '12:50', '13:00'].map((time) => run(at(time))),
    );
  });

  it('of `at`: one in the past runs late once, and one that ran never again', async (t) => {
    const first = await jobsHost(t, {
      jobs: [entry('a', { at: '2026-01-01T11:30' }), entry('b', { at: '2026-01-01T10:00' })],
    });
    await first.host.advance(3 * SECOND);
    assert.deepEqual(
      first.ledger().map(({ job, due, state }) => [job, due, state]),
      [
        ['b', at('10:00'), 'missed'],
        ['a', at('11:30'), 'done'],
      ],
    );
    first.write([]);
    await first.host.advance(3 * SECOND);
    const next = await first.restart({ jobs: [entry('a', { at: '2026-01-01T11:30' })] });
    await next.host.advance(3 * SECOND);

    assert.deepEqual(next.host.platform.said('room'), ['a']);
  });

  for (const seed of SEEDS)
    it(`leave no due time out and run none twice, over stops, steps of the clock and kills (seed ${seed})`, async (t) => {
      const { pick, between, chance } = seeded(seed);
      const begin = at('12:00');
      const options = { missed: pick(['skip', 'run_once', 'run_all']), overlap: pick(['queue', 'allow']) };
      let made = await jobsHost(t, { jobs: [entry('tea', { every: '1m', from: '2026-01-01T12:00Z', ...options })] });
      let latest = begin;
      for (let step = 0; step < 14; step += 1) {
        const action = pick(['advance', 'advance', 'down', 'ahead', 'back', 'kill']);
        const ms = between(1, 400) * SECOND;
        if (action === 'advance') await made.host.advance(ms);
        else if (action === 'down') made = await down(made, chance(0.3) ? ms - 200 * SECOND : ms);
        else if (action === 'kill') {
          await made
            .restart({ killAt: { point: pick(['job_due', 'job_stored', 'job_ended']), pass: between(1, 3) } })
            .then((next) => {
              made = next;
            });
          if (!made.isKilled()) await made.host.advance(ms);
          if (made.isKilled()) made = await made.restart();
        } else made.host.clock.step(action === 'ahead' ? ms : -ms);
        latest = Math.max(latest, made.host.clock.now());
      }
      const left = latest - made.host.clock.now();
      made = await down(made, left + 5 * MINUTE);
      await made.host.advance(MINUTE);

      const rows = made.ledger().map(({ due, until, state }) => ({ from: due ?? 0, to: until ?? due ?? 0, state }));
      const last = made.host.clock.now() - MINUTE;
      const wrong: string[] = [];
      for (let due = begin + MINUTE; due <= last; due += MINUTE) {
        const held = rows.filter(({ from, to }) => from <= due && due <= to);
        if (held.length !== 1) wrong.push(`${new Date(due).toISOString()} is in ${held.length} rows`);
      }
      assert.deepEqual(wrong, []);
      assert.ok(
        rows.every(({ state }) => state !== 'running'),
        JSON.stringify(rows),
      );
      const ran = rows.filter(({ state }) => state === 'done').length;
      assert.equal(new Set(made.host.platform.calls.map(({ call }) => call.key)).size, ran);
    });
});
