// The supervisor with the limits that it has by default, over real processes: what other tests do with shorter ones. Takes a minute.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { limitsOf } from '../../../supervisor/machine/settings.ts';
import { isBusy, watchWaits } from '../../support/fair-time.ts';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import { QUICK, type Supervised } from '../../support/process/supervised.ts';
import { portProject, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const WORKERS = ['healthy', 'exits-1-at-start', 'exits-1-once-up', 'kept-up', 'never-up', 'ignores-sigterm'] as const;
const REAL = {
  restarts: 5,
  windowMs: 120_000,
  upMs: 30_000,
  watchdogMs: 15_000,
  stopMs: 8_000,
  delaysMs: [0, 1_000, 4_000, 16_000],
};
const SLOW_MS = 180_000;
/** Clock ticks a second. */
const TICKS = 100;
const ROUNDS = 50;

const supervise = overWorkers(WORKERS, { settings: REAL });

/** Seconds that the supervisor and its ended workers have taken. */
function cpuSeconds({ child }: Supervised): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
  const [user, system, ofUser, ofSystem] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  return ((user ?? 0) + (system ?? 0) + (ofUser ?? 0) + (ofSystem ?? 0)) / TICKS;
}

/** Milliseconds from each end of a worker to the next start. */
function waits(run: Supervised): readonly number[] {
  const times = (message: string): readonly number[] =>
    run
      .log()
      .split('\n')
      .filter((line) => line.includes(`"msg":"${message}"`))
      .map((line) => Date.parse(JSON.parse(line).time));
  const ends = times('worker ended');
  return times('worker started')
    .slice(1)
    .map((start, index) => start - (ends[index] ?? Number.NaN));
}

describe('the real numbers', { concurrency: true }, () => {
  it('are those of the supervisor', () => {
    const { starts, spanMs, upMs, watchdogMs, stopMs, delaysMs } = limitsOf({ ...QUICK, ...REAL });

    assert.deepEqual({ restarts: starts, windowMs: spanMs, upMs, watchdogMs, stopMs, delaysMs }, REAL);
  });

  it('wait 0, 1, 4, 16 s when each worker is killed as soon as it is up, and end in failed', async (t) => {
    const run = supervise(t, 'healthy');
    const killed = new Set<number>();

    await until(
      async () => {
        const { state, pid } = await run.status();
        if (state === 'running' && pid !== null && !killed.has(pid)) {
          killed.add(pid);
          process.kill(pid, 'SIGKILL');
        }
        return state === 'failed';
      },
      { what: 'failed', timeoutMs: SLOW_MS },
    );

    assert.equal(killed.size, 5);
    const seen = waits(run);
    assert.equal(seen.length, 4);
    for (const [index, ms] of seen.entries()) {
      const planned = REAL.delaysMs[index] ?? 0;
      assert.ok(ms >= planned && ms < planned * 1.1 + 5_000, `waits: ${seen.join(' ')}`);
    }
  });

  for (const [worker, env] of [
    ['exits-1-at-start', {}],
    ['exits-1-once-up', {}],
    ['kept-up', { KEPT_AS: 'crashes at start after 22 s of health' }],
  ] as const)
    it(`end a loop of crashes after 5 starts, with at most 1 s of CPU: ${worker}`, async (t) => {
      const run = supervise(t, worker, { environment: env });

      // Asked seldom: each question costs, too.
      const { exits } = await until(
        async () => {
          const now = await run.status();
          return now.state === 'failed' ? now : undefined;
        },
        { what: 'failed', timeoutMs: SLOW_MS, everyMs: 2_000 },
      );

      assert.equal(exits.length, 5);
      const seconds = cpuSeconds(run);
      t.diagnostic(`${seconds} s of CPU`);
      assert.ok(seconds <= 1, `${seconds} s of CPU`);
    });

  it('end a worker that is never up at 30 s', async (t) => {
    const run = supervise(t, 'never-up', { settings: { restarts: 1 } });

    const { exits, reason } = await run.state('failed', SLOW_MS);

    assert.match(reason ?? '', /not up within 30000 ms/);
    // The clock of a run starts a little after that of its state.
    assert.ok((exits[0]?.durationMs ?? 0) >= 29_000, `${exits[0]?.durationMs} ms`);
  });

  it('kill a worker that ignores SIGTERM at 8 s', async (t) => {
    const run = supervise(t, 'ignores-sigterm');
    await run.state('running');
    const from = performance.now();

    const { last } = (await run.call('stop')) as { last: { detail: string } };

    assert.match(last.detail, /not drained within 8000 ms/);
    assert.ok(performance.now() - from >= 8_000);
  });

  it('take no sleep of the machine for a hung worker, longer than the watchdog', async (t) => {
    const run = supervise(t, 'healthy');
    const { pid } = await run.state('running');
    const both = [run.child.pid ?? 0, pid ?? 0];

    for (const each of both) process.kill(each, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, REAL.watchdogMs + 3_000));
    for (const each of [...both].reverse()) process.kill(each, 'SIGCONT');

    await until(() => run.trace().some(({ event }) => event.kind === 'clock_jump'), {
      what: 'the sleep to be noticed',
      timeoutMs: SLOW_MS,
    });
    const now = await run.status();
    assert.deepEqual([now.state, now.pid, now.exits.length], ['running', pid, 0]);
  });
});

describe('two commands `start --daemon`', () => {
  it(`make one daemon, and both tell it, ${ROUNDS} rounds 0-300 ms apart`, async (t) => {
    const { path } = await portProject(t);
    const times: number[] = [];
    const slow: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const start = async (delayMs: number) => {
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        const [from, waited] = [performance.now(), watchWaits()];
        const ended = await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path });
        return { ...ended, ms: performance.now() - from, waitedMs: waited() };
      };

      const both = await Promise.all([start(0), start((300 * round) / (ROUNDS - 1))]);

      assert.deepEqual(
        both.map(({ code, stderr }) => `${code}${stderr}`),
        ['0', '0'],
        `round ${round}`,
      );
      const [one, other] = both.map(({ stdout }) => JSON.parse(stdout));
      assert.equal(one.supervisorPid, other.supervisorPid, `round ${round}`);
      const from = performance.now();
      await svc(['runtime', 'status'], { cwd: path });
      // Where even a short answer takes long, the machine has other work.
      const limitMs = Math.max(2_000, 10 * (performance.now() - from));
      times.push(...both.map(({ ms }) => ms));
      // Also where something waited for a processor for as long as it was late.
      for (const { ms, waitedMs = isBusy() ? ms : 0 } of both)
        if (ms > limitMs + waitedMs) slow.push(`${ms} ms of ${limitMs}, ${waitedMs} ms of waits, in round ${round}`);
      assert.equal((await svc(['runtime', 'stop'], { cwd: path })).code, 0);
    }
    assert.deepEqual(slow, []);
    const median = times.sort((a, b) => a - b)[ROUNDS] ?? 0;
    t.diagnostic(`${Math.round(median)} ms in the middle, ${Math.round(times.at(-1) ?? 0)} ms at most`);
  });
});
