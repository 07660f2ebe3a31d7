// The worker as the first process of a pid namespace, as in a container; and as a child of the first process, as launchd's are. Needs root.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { CLI, type Ended, portProject, svc } from '../support/svc-command.ts';
import type { Cleanup, TemporaryProject } from '../support/temporary-project.ts';
import { until } from '../support/until.ts';

const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child'];
const refused = spawnSync('unshare', [...UNSHARE, 'true'], { stdio: 'ignore' }).status !== 0;
const NEEDS = { skip: refused ? 'unshare --pid is refused here (not root, or no Linux)' : false };

interface First {
  /** The first process of the namespace, by its pid outside. */
  readonly pid: () => Promise<number>;
  readonly output: () => string;
  readonly ended: Promise<Ended>;
}

const START = ['runtime', 'start', '--mode', 'production', '--no-watch', '--project'];

function firstProcess(
  t: Cleanup,
  project: TemporaryProject,
  { shell = '', env = {} }: { readonly shell?: string; readonly env?: Readonly<Record<string, string>> } = {},
): First {
  const worker = [process.execPath, CLI, ...START, project.path];
  const command = shell === '' ? worker : ['sh', '-c', shell, 'sh', ...worker];
  const child = spawn('unshare', [...UNSHARE, ...command], {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => void child.kill('SIGKILL'));
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      text[name] += chunk;
    });
  const children = `/proc/${child.pid}/task/${child.pid}/children`;
  return {
    output: () => text.stdout + text.stderr,
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, ...text }))),
    pid: async () =>
      Number((await until(() => readFileSync(children, 'utf8').trim(), { what: 'the first process' })).split(' ')[0]),
  };
}

/** Loaded before the program: sends itself the signal when the worker sets its umask, the first thing that a worker does. */
function sendsEarly(signal: string): string {
  const code = `import { isMainThread } from 'node:worker_threads';
    const { umask } = process;
    if (isMainThread) process.umask = (mask) => {
      process.umask = umask;
      process.kill(process.pid, '${signal}');
      return umask(mask);
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

const says = (first: First, text: string): Promise<unknown> =>
  until(() => first.output().includes(text), { what: text });

describe('a worker that is the first process', NEEDS, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    it(`drains and ends with 0 on ${signal}, which the kernel would keep from a first process without a handler`, async (t) => {
      const first = firstProcess(t, await portProject(t));
      await says(first, 'worker up');

      process.kill(await first.pid(), signal);

      const { code, stdout } = await first.ended;
      assert.equal(code, 0, stdout);
      assert.match(stdout, /"worker stopped"/);
    });

  for (const signal of ['SIGTERM', 'SIGINT'])
    it(`ends with 0 on a ${signal} that comes before the worker listens to it`, async (t) => {
      const first = firstProcess(t, await portProject(t), { env: { NODE_OPTIONS: sendsEarly(signal) } });
      let ended: Ended | undefined;
      void first.ended.then((how) => {
        ended = how;
      });

      await until(() => ended !== undefined, { what: 'its end', timeoutMs: 120_000 });

      assert.equal(ended?.code, 0, `${ended?.stdout}${ended?.stderr}`);
    });

  it('is the owner for whoever shares its project: a start and a stop from outside are refused with its name', async (t) => {
    const project = await portProject(t);
    const first = firstProcess(t, project);
    await says(first, 'worker up');

    for (const args of [['--daemon'], ['--mode', 'production', '--no-watch']]) {
      const { code, stderr } = await svc(['runtime', 'start', ...args], { cwd: project.path });
      assert.equal(code, 1);
      assert.match(stderr, /started by container/);
      assert.match(stderr, /docker stop/);
    }
    const stop = await svc(['runtime', 'stop'], { cwd: project.path });
    assert.equal(stop.code, 1);
    assert.match(stop.stderr, /belongs to container[^]*docker stop/);
    assert.equal((await fetch(`${project.url}/pub/health`)).status, 200);
    process.kill(await first.pid(), 'SIGTERM');
    assert.equal((await first.ended).code, 0);
  });

  it('says that nobody reaps what its children leave behind', async (t) => {
    const first = firstProcess(t, await portProject(t));
    await says(first, 'worker up');
    process.kill(await first.pid(), 'SIGTERM');

    assert.match((await first.ended).stdout, /first process here, without an init/);
  });

  it('waits without a port where its restart window is spent, until the oldest start has left it', async (t) => {
    const project = await portProject(t, { keys: { supervisor: { restarts: 1, windowSeconds: 45 } } }); // two starts fit in on a busy machine
    const killed = firstProcess(t, project);
    await says(killed, 'worker up');
    process.kill(await killed.pid(), 'SIGKILL');
    await killed.ended;

    const waiting = firstProcess(t, project);
    await says(waiting, 'waiting, without a port');
    await assert.rejects(fetch(`${project.url}/pub/health`));
    await says(waiting, 'worker up');
    assert.equal((await fetch(`${project.url}/pub/health`)).status, 200);
    process.kill(await waiting.pid(), 'SIGTERM');
    assert.equal((await waiting.ended).code, 0);
  });

  it('ends with 0 when it is stopped while it waits', async (t) => {
    const project = await portProject(t, { keys: { supervisor: { restarts: 1, windowSeconds: 600 } } });
    const killed = firstProcess(t, project);
    await says(killed, 'worker up');
    process.kill(await killed.pid(), 'SIGKILL');
    await killed.ended;

    const waiting = firstProcess(t, project);
    await says(waiting, 'waiting, without a port');
    process.kill(await waiting.pid(), 'SIGTERM');

    assert.equal((await waiting.ended).code, 0);
  });
});

describe('a worker under launchd', NEEDS, () => {
  // Starts it again while it does not end with 0, as KeepAlive with SuccessfulExit false does; every start is killed once it is up.
  const OWNER = `n=0
while [ $n -lt 20 ]; do
  n=$((n + 1))
  "$@" & worker=$!
  [ -z "$KILL" ] || { while ! [ -s up ] && kill -0 $worker 2>/dev/null; do sleep 0.05; done; }
  [ -z "$KILL" ] || { : >up; kill -9 $worker 2>/dev/null; }
  wait $worker; code=$?
  echo "start $n ended with $code"
  [ $code -eq 0 ] && exit 0
done`;

  it('ends the sixth start within the window with 0, so that launchd lets it be', async (t) => {
    const project = await portProject(t, { keys: { log_level: 'fatal', supervisor: { windowSeconds: 3_600 } } });
    const owner = OWNER.replaceAll('[ -s up ]', `[ -s '${project.paths.workerRecord}' ]`).replaceAll(
      ': >up;',
      `rm -f '${project.paths.workerRecord}';`,
    );
    const first = firstProcess(t, project, { shell: owner, env: { XPC_SERVICE_NAME: 'io.svc.test', KILL: 'yes' } });

    const { stdout } = await first.ended;

    assert.deepEqual(stdout.match(/start \d+ ended with \d+/g), [
      ...[1, 2, 3, 4, 5].map((n) => `start ${n} ended with 137`),
      'start 6 ended with 0',
    ]);
    assert.match(stdout, /the restart window is spent/);
  });

  it('gives an invalid configuration up the same way: launchd would try it for ever', async (t) => {
    const project = await portProject(t);
    spawnSync('mkdir', ['-m', '700', project.paths.stateDir]);
    writeFileSync(project.paths.config, 'http: {port: wrong}\n');
    const first = firstProcess(t, project, { shell: OWNER, env: { XPC_SERVICE_NAME: 'io.svc.test' } });

    const { stdout } = await first.ended;

    assert.deepEqual(stdout.match(/start \d+ ended with \d+/g), [
      ...[1, 2, 3, 4, 5].map((n) => `start ${n} ended with 78`),
      'start 6 ended with 0',
    ]);
  });

  it('cuts the log that launchd writes for it and never rotates', async (t) => {
    const project = await portProject(t, { keys: { supervisor: { log: { maxBytes: 65_536, maxFiles: 2 } } } });
    const { stateDir, serviceLog } = project.paths;
    spawnSync('mkdir', ['-m', '700', stateDir]);
    writeFileSync(serviceLog, '{"msg":"a line of long ago"}\n'.repeat(10_000));
    const first = firstProcess(t, project, {
      shell: `"$@" >>'${serviceLog}' 2>&1; true`,
      env: { XPC_SERVICE_NAME: 'io.svc.test' },
    });

    await until(() => readFileSync(serviceLog, 'utf8').includes('worker up'), { what: 'worker up' });

    assert.ok(statSync(serviceLog).size < 65_536);
    assert.match(readFileSync(`${serviceLog}.1`, 'utf8'), /^(\{"msg":"a line of long ago"\}\n)+/);
    assert.equal((await svc(['runtime', 'status'], { cwd: project.path })).code, 0);
    process.kill(await first.pid(), 'SIGKILL');
  });
});
