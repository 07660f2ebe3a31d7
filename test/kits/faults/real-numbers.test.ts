// The limits that a supervisor has by default. The pure machine shows what it does by them; here is what takes minutes of real time.
// Numbers in titles are rows of the table of faults.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { limitsOf } from '../../../supervisor/machine/settings.ts';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import { QUICK, type Supervised } from '../../support/process/supervised.ts';
import { portProject, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const WORKERS = ['kept-up'] as const;
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

describe('the real numbers', { concurrency: true }, () => {
  it('are those of the supervisor', () => {
    const { starts, spanMs, upMs, watchdogMs, stopMs, delaysMs } = limitsOf({ ...QUICK, ...REAL });

    assert.deepEqual({ restarts: starts, windowMs: spanMs, upMs, watchdogMs, stopMs, delaysMs }, REAL);
  });

  it('end a loop of crashes that each come after 22 s of health, after 5 starts', async (t) => {
    const run = supervise(t, 'kept-up', { environment: { KEPT_AS: 'crashes at start after 22 s of health' } });

    // Asked seldom: each question costs, too.
    const { exits } = await until(async () => [await run.status()].find(({ state }) => state === 'failed'), {
      what: 'failed',
      timeoutMs: SLOW_MS,
      everyMs: 2_000,
    });

    assert.equal(exits.length, 5);
    t.diagnostic(`${cpuSeconds(run)} s of CPU`);
  });
});

describe('two commands `start --daemon`', () => {
  it(`make one daemon, and both tell it, ${ROUNDS} rounds 0-300 ms apart`, async (t) => {
    const { path } = await portProject(t);
    for (let round = 0; round < ROUNDS; round += 1) {
      const start = async (delayMs: number) => {
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        return svc(['runtime', 'start', '--daemon', '--json'], { cwd: path });
      };

      const both = await Promise.all([start(0), start((300 * round) / (ROUNDS - 1))]);

      assert.deepEqual(
        both.map(({ code, stderr }) => `${code}${stderr}`),
        ['0', '0'],
        `round ${round}`,
      );
      const [one, other] = both.map(({ stdout }) => JSON.parse(stdout));
      assert.equal(one.supervisorPid, other.supervisorPid, `round ${round}`);
      assert.equal((await svc(['runtime', 'stop'], { cwd: path })).code, 0);
    }
  });
});
