// That a worker is gone after its supervisor was killed.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { WITHOUT_SETPRIV } from '../../support/owners/without-setpriv.ts';
import { bundlePrograms } from '../../support/process/bundle.ts';
import { fixtureProgram } from '../../support/process/fixture-programs.ts';
import { hasBlocked, killIfThere, lives, startSupervisor } from '../../support/process/supervised.ts';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

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

const BLOCKS_AT_START = `import { writeFileSync } from 'node:fs';
import { definePlugin } from 'svc';
export default definePlugin({ name: 'blocker', setup() {
  if (!process.argv.includes('--supervised')) return; // the command looks at it as well, before
  writeFileSync('blocked', '');
  for (;;);
} });
`;

/** The idle one would outlive the end of its channel: what ends it is the kernel. */
const WORKERS = ['ignores-disconnect', 'blocks-its-loop-always'] as const;
let programs: ReadonlyMap<string, string>;

before(async () => {
  programs = await bundlePrograms(['supervisor/main.ts', ...WORKERS.map(fixtureProgram)]);
});

/** Kills one process, and waits for the end of another. */
async function endsWith(killed: number, other: number): Promise<void> {
  process.kill(killed, 'SIGKILL');
  await until(() => !lives(other), { what: `the end of pid ${other}` });
}

describe('a worker whose supervisor was killed', { concurrency: 2 }, () => {
  for (const worker of [WORKERS[0], WORKERS[1]])
    it(`is ended by the kernel: ${worker}`, { skip: noKernelGuard }, async (t) => {
      const run = startSupervisor(t, {
        supervisor: programs.get('supervisor-main') ?? '',
        worker: programs.get(worker) ?? '',
      });
      const { pid } = await run.state('running');
      t.after(() => killIfThere(pid ?? 0));
      if (worker === WORKERS[1]) await hasBlocked(run);

      await endsWith(run.child.pid ?? 0, pid ?? 0);
    });

  it('ends where the kernel does not help, though its loop is blocked', async (t) => {
    const project = await portProject(t, {
      keys: { plugins: { blocker: { use: './plugins/blocker.mjs' } } },
      plugins: { 'blocker.mjs': BLOCKER },
    });
    const started = await svc(['runtime', 'start', '--daemon', '--json'], { cwd: project.path, env: WITHOUT_SETPRIV });
    assert.equal(started.code, 0, started.stderr);
    const { pid, supervisorPid } = JSON.parse(started.stdout);
    writeFileSync(join(project.path, 'block'), '');
    await until(() => existsSync(join(project.path, 'blocked')), { what: 'the blocked loop' });

    await endsWith(supervisorPid, pid);
  });

  it('ends where the kernel does not help, though it is starting and blocked', async (t) => {
    const project = await portProject(t, {
      keys: { plugins: { blocker: { use: './plugins/blocker.mjs' } } },
      plugins: { 'blocker.mjs': BLOCKS_AT_START },
    });
    const start = startSvc(['runtime', 'start', '--daemon'], { cwd: project.path, env: WITHOUT_SETPRIV });
    t.after(() => start.child.kill('SIGKILL'));
    await until(() => existsSync(join(project.path, 'blocked')), { what: 'the blocked start' });
    const { state, supervisor, worker } = JSON.parse(project.read('.svc/supervisor.json'));
    assert.equal(state, 'starting');

    await endsWith(supervisor.pid, worker.pid);

    assert.equal(lives(supervisor.pid), false);
  });
});
