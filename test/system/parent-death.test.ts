// How soon a worker is gone after its supervisor was killed. Numbers in titles are rows of the table of faults.
//
// A busy machine may be late with anything: of some deaths the quickest has to keep the time, and all of them have to come.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { bundlePrograms } from '../support/bundle.ts';
import { lives, startSupervisor } from '../support/supervised.ts';
import { portProject, svc } from '../support/svc-command.ts';
import { until } from '../support/until.ts';
import { WITHOUT_SETPRIV } from '../support/without-setpriv.ts';

const ROUNDS = 10;
const SLOW_MS = 60_000;
const noKernelGuard =
  process.platform !== 'linux'
    ? 'the kernel ends a child with its parent on Linux alone'
    : !existsSync('/usr/bin/setpriv') && 'setpriv is not there';
const BLOCKER = `import { existsSync, writeFileSync } from 'node:fs';
import { definePlugin } from 'svc';
export default definePlugin({ name: 'blocker', setup() {
  setInterval(() => {
    if (!existsSync('block')) return;
    writeFileSync('blocked', '');
    for (;;);
  }, 20).unref();
} });
`;

const WORKERS = ['listens', 'blocks-its-loop-always'] as const;
let programs: ReadonlyMap<string, string>;

before(async () => {
  programs = await bundlePrograms([
    'supervisor/main.ts',
    ...WORKERS.map((name) => `test/support/fixture-programs/${name}.ts`),
  ]);
});

/** Milliseconds from the kill of one process to the end of another. */
async function outlivedBy(killed: number, other: number): Promise<number> {
  const from = performance.now();
  process.kill(killed, 'SIGKILL');
  await until(() => !lives(other), { what: `the end of pid ${other}`, timeoutMs: SLOW_MS, everyMs: 1 });
  return performance.now() - from;
}

/** The quickest of some rounds, of which no more are played than are needed. */
async function quickest(limitMs: number, play: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && best > limitMs; round += 1) best = Math.min(best, await play());
  return best;
}

describe('a worker whose supervisor was killed', () => {
  for (const [worker, row] of [
    [WORKERS[0], 17],
    [WORKERS[1], 18],
  ] as const)
    it(`is gone within 50 ms by the kernel: ${worker} (${row})`, { skip: noKernelGuard }, async (t) => {
      const ms = await quickest(50, async () => {
        const run = startSupervisor(t, {
          supervisor: programs.get('supervisor-main') ?? '',
          worker: programs.get(worker) ?? '',
        });
        const { pid } = await run.state('running');
        return outlivedBy(run.child.pid ?? 0, pid ?? 0);
      });

      assert.ok(ms <= 50, `${ms} ms`);
    });

  it('is gone within 300 ms where the kernel does not help, though its loop is blocked (18)', async (t) => {
    const ms = await quickest(300, async () => {
      const project = await portProject(t, {
        keys: { plugins: { blocker: { use: './plugins/blocker.mjs' } } },
        plugins: { 'blocker.mjs': BLOCKER },
      });
      const started = await svc(['runtime', 'start', '--daemon', '--json'], {
        cwd: project.path,
        env: WITHOUT_SETPRIV,
      });
      assert.equal(started.code, 0, started.stderr);
      const { pid, supervisorPid } = JSON.parse(started.stdout);
      writeFileSync(join(project.path, 'block'), '');
      await until(() => existsSync(join(project.path, 'blocked')), { what: 'the blocked loop', timeoutMs: SLOW_MS });
      return outlivedBy(supervisorPid, pid);
    });

    assert.ok(ms <= 300, `${ms} ms`);
  });
});
