// What a supervisor does with time: what it tells of it is true, and a step of the wall clock moves nothing that it waits for.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import type { Supervised } from '../../support/process/supervised.ts';
import { shiftedBy } from '../../support/shifted-clock.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const supervise = overWorkers(['healthy']);
const HOUR_MS = 3_600_000;
/** Long enough for a busy machine to look at it while it lasts. */
const DELAY_MS = 5_000;
/** By which two clocks of a machine may differ over some seconds, and of a busy one over more. */
const SLEW_MS = 1_000;

const kill = ({ pid }: RuntimeStatus): void => void process.kill(pid ?? 0, 'SIGKILL');

const next = (run: Supervised, ends: number): Promise<RuntimeStatus> =>
  until(async () => [await run.status()].find(({ exits, ready }) => exits.length === ends && ready), {
    what: 'the next worker',
  });

async function heartbeats(run: Supervised, count: number): Promise<void> {
  const seen = run.trace().length;
  const later = () => run.trace().slice(seen);
  await until(() => later().filter(({ event }) => event.kind === 'heartbeat').length >= count, { what: 'heartbeats' });
}

describe('a step of the wall clock', () => {
  for (const [name, stepMs] of [
    ['an hour forward', HOUR_MS],
    ['an hour back', -HOUR_MS],
  ] as const)
    it(`${name} moves neither the window nor a delay nor the watchdog`, async (t) => {
      const project = temporaryProject(t);
      const file = join(project.path, 'shift');
      const run = supervise(t, 'healthy', {
        project,
        environment: shiftedBy(file),
        settings: { delaysMs: [0, DELAY_MS] },
      });
      kill(await run.state('running'));
      const before = await next(run, 1);
      const step = (ms: number): void => writeFileSync(file, String(ms));

      step(stepMs);
      await heartbeats(run, 20);
      const after = await run.status();
      kill(after);
      await run.state('backing_off');
      step(0); // and back again, while it waits
      const back = await next(run, 2);

      assert.equal(after.pid, before.pid);
      assert.deepEqual(
        [before, after, back].map(({ budget }) => budget?.left),
        [3, 3, 2],
      );
      const shifted = Date.parse(back.exits[1]?.at ?? '') - Date.parse(back.exits[0]?.at ?? '');
      assert.ok(Math.abs(shifted - stepMs) < HOUR_MS / 2, `the supervisor saw a step of ${shifted} ms`);
      const steps = run.trace();
      const kinds = new Set(steps.flatMap(({ event, after: { state } }) => [event.kind, state.kind]));
      assert.deepEqual([kinds.has('hung'), kinds.has('clock_jump')], [false, false]);
      const wait = steps.findIndex(({ after: { state } }) => state.kind === 'backing_off');
      const waits = steps.slice(wait);
      const over = waits.find(({ after: { state } }) => state.kind === 'starting');
      const waitedMs = (over?.moment.now ?? Number.NaN) - (waits[0]?.moment.now ?? 0);
      assert.ok(waitedMs >= DELAY_MS && waitedMs < HOUR_MS / 2, `${waitedMs} ms`);
    });
});

describe('the time that status tells', () => {
  it('is when the state was entered, and stays for as long as the state does', async (t) => {
    const run = supervise(t, 'healthy', { settings: { delaysMs: [60_000] } });
    const sinceOf = ({ since }: RuntimeStatus): number => Date.parse(since);
    const first = await run.state('running');
    await heartbeats(run, 5);

    const still = await run.status();
    const killedAt = Date.now();
    kill(still);
    const waiting = await run.state('backing_off');
    const seenAt = Date.now();
    await run.call('restart');
    const again = await run.state('running');
    const upAt = Date.now();

    assert.equal(still.since, first.since);
    assert.ok(sinceOf(first) <= killedAt);
    assert.ok(sinceOf(waiting) >= killedAt && sinceOf(waiting) <= seenAt, waiting.since);
    assert.ok(sinceOf(again) >= seenAt && sinceOf(again) <= upAt, again.since);
    const lines = run
      .log()
      .split('\n')
      .filter((line) => line.startsWith('{')); // the worker prints as well
    const entered = (msg: string) => JSON.parse(lines.findLast((line) => line.includes(`"msg":"${msg}"`)) ?? '{}').time;
    for (const [msg, status] of [
      ['supervisor backing off', waiting],
      ['supervisor running', again],
    ] as const)
      assert.ok(Date.parse(entered(msg)) >= sinceOf(status) - SLEW_MS, `${entered(msg)} ${status.since}`);
    assert.equal(JSON.parse(run.project.read('.svc/supervisor.json')).since, again.since);
    const { nextStartAt } = waiting.budget ?? {};
    const untilNextMs = Date.parse(nextStartAt ?? '') - sinceOf(waiting);
    assert.ok(untilNextMs >= 59_000 && untilNextMs <= 67_000, `${untilNextMs} ms`);
  });
});

describe('an end that status tells', () => {
  it('is of the worker that it names, with code or signal and for how long that had lived', async (t) => {
    const run = supervise(t, 'healthy');
    const first = await run.state('running');
    await heartbeats(run, 100); // some seconds, so that the least of its life says something

    const killedAt = Date.now();
    kill(first);
    const { exits } = await next(run, 1);
    const seenAt = Date.now();

    const [end] = exits;
    assert.deepEqual(
      [end?.pid, end?.runtimeId, end?.code, end?.signal, end?.wasUp, end?.run],
      [first.pid, first.runtimeId, null, 'SIGKILL', true, 1],
    );
    const startedAt = Date.parse(first.startedAt ?? '');
    const livedMs = end?.durationMs ?? Number.NaN;
    const [least, most] = [killedAt - startedAt - SLEW_MS, seenAt - startedAt + SLEW_MS];
    assert.ok(livedMs >= least && livedMs <= most, `${livedMs} ms, not ${least} to ${most}`);
  });
});
