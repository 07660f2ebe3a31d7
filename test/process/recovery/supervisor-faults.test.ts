// What may happen around a supervisor: its own death, folders and sockets that go away, processes that stay behind, a machine that sleeps.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { bindFault } from '../../../shared/process/port-owner.ts';
import { limitFiles } from '../../support/disk/limit-files.ts';
import { removeLive } from '../../support/disk/remove-live.ts';
import { freePort } from '../../support/free-port.ts';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import { killIfThere, lives, type Supervised } from '../../support/process/supervised.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const WORKERS = [
  'healthy',
  'listens',
  'blocks-its-loop-always',
  'never-up',
  'leaves-grandchild',
  'grandchild-holds-port',
  'binds-itself',
  'exits-beside-another',
  'ignores-every-end',
] as const;
const HOST = '127.0.0.1';

const supervise = overWorkers(WORKERS);

const isFree = async (port: number): Promise<boolean> => (await bindFault(HOST, port)) === undefined;

describe('a project that another owner took between the look at it and the start', () => {
  it('is left to that one after one start', async (t) => {
    const run = supervise(t, 'exits-beside-another');

    assert.deepEqual(await run.ended, { code: 1, signal: null });
    assert.equal(run.log().split('one start').length - 1, 1);
    assert.match(run.log(), /a worker started by foreground runs already, pid \d+/);
  });
});

describe('a supervisor that is told to stop', () => {
  it('refuses a restart from then on, and still stops', async (t) => {
    const run = supervise(t, 'ignores-every-end', { settings: { stopMs: 60_000 } });
    await run.state('running');
    void run.call('stop');
    assert.equal((await run.state('draining')).drain, 'stop');

    await assert.rejects(run.call('restart'), /draining: the runtime is stopping/);

    await run.call('stop', { now: true });
    assert.equal((await run.ended).code, 0);
  });
});

describe('a project folder that has two names', () => {
  it('is one project: a second supervisor, by the other name, finds the lock taken', async (t) => {
    const project = temporaryProject(t);
    const link = `${project.path}-link`;
    symlinkSync(project.path, link);
    t.after(() => rmSync(link));
    const first = supervise(t, 'healthy', { project });
    const { pid, supervisorPid } = await first.state('running');
    await until(async () => (await first.status()).ready, { what: 'a ready host' });

    const second = supervise(t, 'healthy', { project: { ...project, path: link, paths: projectPaths(link) } });

    // The lock by an open file (O_EXLOCK) is of macOS alone, and is one by itself: both names open the same file.
    assert.deepEqual(await second.ended, { code: 0, signal: null }); // 0: the holder is ready
    const now = await first.status();
    assert.deepEqual([now.pid, now.supervisorPid], [pid, supervisorPid]);
  });
});

describe('the lock of a supervisor', () => {
  it('keeps a second one out though nothing answers for the first: its socket is gone, and it stands still', async (t) => {
    const project = temporaryProject(t);
    const first = supervise(t, 'healthy', { project });
    const { pid, supervisorPid } = await first.state('running');
    process.kill(supervisorPid ?? 0, 'SIGSTOP');
    t.after(() => first.child.kill('SIGCONT'));
    rmSync(`${project.paths.stateDir}/control.sock`);

    const second = supervise(t, 'healthy', { project });
    await until(() => second.child.exitCode !== null, { what: 'the end of the second one' });
    process.kill(supervisorPid ?? 0, 'SIGCONT');

    assert.deepEqual(await second.ended, { code: 1, signal: null }); // not 0: nobody says that the holder is ready
    const now = await until(() => first.status(), { what: 'its socket' });
    assert.deepEqual([now.pid, now.supervisorPid, now.exits.length], [pid, supervisorPid, 0]);
  });
});

describe('a worker for which the machine has no room', () => {
  const missing = spawnSync('prlimit', ['--version']).status !== 0 && 'there is no prlimit here';

  it('is tried again within the budget, and starts once there is room', { skip: missing }, async (t) => {
    const run = supervise(t, 'healthy', { settings: { delaysMs: [0, 300], restarts: 1_000 } });
    const { pid } = await run.state('running');
    limitFiles(run, 3);

    process.kill(pid ?? 0, 'SIGKILL');
    await until(() => run.log().includes('worker could not be started'), { what: 'a start that fails' });
    limitFiles(run, 1_024);

    assert.notEqual((await run.state('running')).pid, pid);
    assert.match(run.log(), /"reason":"spawn [^"]*EMFILE/);
  });
});

describe('the supervisor killed', () => {
  it('leaves nothing and starts again on its port, also over a socket and records of the dead', async (t) => {
    const project = temporaryProject(t);
    const port = await freePort();
    const first = supervise(t, 'listens', { project, settings: { port } });
    await first.state('running');
    first.child.kill('SIGKILL');
    await first.ended;
    assert.equal(existsSync(`${project.paths.stateDir}/control.sock`), true);

    const status = await supervise(t, 'listens', { project, settings: { port } }).state('running');

    assert.deepEqual([status.socket, status.exits.length], ['supervisor', 0]);
  });

  it('leaves no process when it is killed while it starts one', async (t) => {
    const run = supervise(t, 'never-up', { settings: { upMs: 60_000 } });
    const { pid } = await run.state('starting');

    run.child.kill('SIGKILL');

    await until(() => !lives(pid ?? 0), { what: 'the end of the worker' });
  });

  it('names the grandchild in a session of its own that still holds the port', async (t) => {
    const project = temporaryProject(t);
    const port = await freePort();
    const first = supervise(t, 'grandchild-holds-port', { project, settings: { port } });
    await first.state('running');
    const grandchild = Number(project.read('grandchild'));
    t.after(() => killIfThere(grandchild));
    first.child.kill('SIGKILL');
    await first.ended;

    const run = supervise(t, 'listens', { project, settings: { port } });
    const { reason, exits } = await run.state('failed');

    assert.match(reason ?? '', new RegExp(`port ${port} is held by pid ${grandchild} `));
    assert.deepEqual(exits, []);
    process.kill(grandchild, 'SIGKILL');
    await until(() => isFree(port), { what: 'the port' });
    await run.call('restart');
    await run.state('running');
  });
});

describe('the supervisor with a worker of another version', () => {
  it('lets a worker that names no `listen` bind its address, over restarts, and says so', async (t) => {
    const port = await freePort();
    const run = supervise(t, 'binds-itself', { settings: { port }, environment: { BIND_PORT: String(port) } });
    const first = await run.state('running');
    assert.equal(await greeting(port), 'hello');
    assert.equal(first.socket, 'worker');
    assert.match(first.notes.join(), /of a version that binds the listening socket by itself/);

    process.kill(first.pid ?? 0, 'SIGKILL');
    const second = await next(run, first);
    assert.equal(await greeting(port), 'hello');
    await run.call('restart');
    const third = await next(run, second);

    assert.equal(await greeting(port), 'hello');
    assert.deepEqual(
      third.exits.map(({ signal, code }) => signal ?? code),
      ['SIGKILL', 51],
    );
    assert.equal(third.socket, 'worker');
  });
});

/** What a worker says to whoever connects. */
async function greeting(port: number): Promise<string> {
  let text = '';
  for await (const chunk of connect(port, HOST).setEncoding('utf8')) text += chunk;
  return text;
}

const next = (run: Supervised, { runtimeId }: RuntimeStatus): Promise<RuntimeStatus> =>
  until(
    async () => {
      const now = await run.status();
      return now.ready && now.runtimeId !== runtimeId ? now : undefined;
    },
    { what: 'the next worker' },
  );

describe('the supervisor and the rest of the machine', () => {
  for (const [how, end] of [
    ['was killed', ({ pid }) => void process.kill(pid ?? 0, 'SIGKILL')],
    ['is restarted', (_, run) => void run.call('restart')],
  ] as readonly (readonly [string, (status: RuntimeStatus, run: Supervised) => void])[])
    it(`ends in failed, naming the grandchild that shares the held port, when the worker ${how}`, async (t) => {
      const port = await freePort();
      const run = supervise(t, 'grandchild-holds-port', { settings: { port } });
      const status = await run.state('running');
      const grandchild = Number(run.project.read('grandchild'));
      t.after(() => killIfThere(grandchild));

      end(status, run);
      const { reason, exits, socket } = await run.state('failed');

      assert.match(reason ?? '', new RegExp(`port ${port} is held by pid ${grandchild} `));
      assert.deepEqual([exits.length, socket], [2, null]);
      process.kill(grandchild, 'SIGKILL');
      await until(() => isFree(port), { what: 'the port' });
      await run.call('restart');
      await run.state('running');
    });

  it('ends in failed when each worker is killed as soon as it is up', async (t) => {
    const run = supervise(t, 'healthy');
    const killed = new Set<number>();

    const status = await until(
      async () => {
        const now = await run.status();
        if (now.state === 'running' && now.pid !== null && !killed.has(now.pid)) {
          killed.add(now.pid);
          process.kill(now.pid, 'SIGKILL');
        }
        return now.state === 'failed' ? now : undefined;
      },
      { what: 'failed' },
    );

    assert.equal(killed.size, 5);
    assert.deepEqual(new Set(status.exits.map(({ signal }) => signal)), new Set(['SIGKILL']));
  });

  for (const loss of ['removed', 'moved'] as const) {
    it(`stops when .svc is ${loss} while it runs, and says so in a new one`, async (t) => {
      const run = supervise(t, 'listens', { settings: { port: await freePort() } });
      const { pid } = await run.state('running');
      const { stateDir } = run.project.paths;

      if (loss === 'removed') removeLive(stateDir);
      else renameSync(stateDir, `${stateDir}-elsewhere`);

      assert.deepEqual(await run.ended, { code: 0, signal: null });
      assert.equal(lives(pid ?? 0), false);
      assert.match(run.log(), /\.svc was removed, moved or replaced while running: stopping/);
      assert.equal(statSync(stateDir).mode & 0o777, 0o700);
    });
  }

  it('does not take a sleep of the machine for a hung worker', async (t) => {
    const watchdogMs = 10_000;
    const run = supervise(t, 'healthy', { settings: { watchdogMs } });
    const { pid } = await run.state('running');
    const both = [run.child.pid ?? 0, pid ?? 0];

    for (const each of both) process.kill(each, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 1.5 * watchdogMs));
    for (const each of [...both].reverse()) process.kill(each, 'SIGCONT');

    await until(() => run.trace().some(({ event }) => event.kind === 'clock_jump'), {
      what: 'the sleep to be noticed',
    });
    const seen = run.trace().length;
    await until(() => run.trace().length > seen + 20, { what: 'heartbeats after the sleep' });
    const now = await run.status();
    assert.deepEqual([now.state, now.pid, now.exits.length], ['running', pid, 0]);
  });
});
