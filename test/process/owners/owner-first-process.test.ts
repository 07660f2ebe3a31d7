// The worker as the first process of a pid namespace, as in a container; and as a child of the first process, as launchd's are. Needs root.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { type First, firstProcess, hostCommand, namespaceMissing, says } from '../../support/process/first-process.ts';
import { CLI, type Ended, portProject, svc } from '../../support/svc-command.ts';
import type { Cleanup, TemporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const NEEDS = { concurrency: 3, skip: namespaceMissing() };
/** Whether this Node can make way for a shell. */
const MAKES_WAY = 'execve' in process;

const startedFirst = (
  t: Cleanup,
  project: TemporaryProject,
  { shell = '', env = {} }: { readonly shell?: string; readonly env?: Readonly<Record<string, string>> } = {},
): First =>
  firstProcess(t, [...(shell === '' ? [] : ['sh', '-c', shell, 'sh']), ...hostCommand(project.path)], { env });

/** Loaded before the program: sends the first process the signal when the worker sets its umask, the first thing that a worker does. */
function sendsEarly(signal: string): string {
  const code = `import { isMainThread } from 'node:worker_threads';
    const { umask } = process;
    if (isMainThread) process.umask = (mask) => {
      process.umask = umask;
      process.kill(1, '${signal}');
      return umask(mask);
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

/** Leaves a process without a parent in the namespace of the first process; gives its entry in /proc. */
function orphanIn(first: number): string {
  const inside = ['--target', String(first), '--pid', '--mount', 'sh', '-c', 'sleep 0.1 >/dev/null & echo $!'];
  const { stdout } = spawnSync('nsenter', inside, { encoding: 'utf8' });
  assert.match(stdout, /^\d+\n$/);
  return `/proc/${first}/root/proc/${stdout.trim()}`;
}

describe('a worker that is the first process', NEEDS, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    it(`drains and ends with 0 on ${signal}, which the kernel would keep from a first process without a handler`, async (t) => {
      const first = startedFirst(t, await portProject(t));
      await says(first, 'worker up');

      process.kill(await first.pid(), signal);

      const { code, stdout } = await first.ended;
      assert.equal(code, 0, stdout);
      assert.match(stdout, /"worker stopped"/);
    });

  for (const signal of ['SIGTERM', 'SIGINT'])
    it(`ends with 0 on a ${signal} that comes before the worker listens to it`, async (t) => {
      const first = startedFirst(t, await portProject(t), { env: { NODE_OPTIONS: sendsEarly(signal) } });
      let ended: Ended | undefined;
      void first.ended.then((how) => {
        ended = how;
      });

      await until(() => ended !== undefined, { what: 'its end' });

      assert.equal(ended?.code, 0, `${ended?.stdout}${ended?.stderr}`);
    });

  it('is the owner for whoever shares its project: a start and a stop from outside are refused with its name', async (t) => {
    const project = await portProject(t);
    const first = startedFirst(t, project);
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

  it('is not the owner of a host whose shell has ended: that one can be stopped, and a restart is refused', async (t) => {
    const project = await portProject(t);
    const first = startedFirst(t, project, {
      shell: 'sh -c \'"$@" &\' sh "$@"; sleep 600',
      env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' },
    });
    await says(first, 'worker up');
    const inside = ['--target', String(await first.pid()), '--pid', '--mount', process.execPath, CLI, 'runtime'];
    const run = (verb: string) => {
      const args = [...inside, verb, '--json', '--project', project.path];
      const { status, stdout } = spawnSync('nsenter', args, { encoding: 'utf8', timeout: 60_000 });
      return { status, said: JSON.parse(stdout) };
    };

    const [status, restart, stop] = [run('status'), run('restart'), run('stop')];

    assert.equal(status.said.owner, 'foreground');
    assert.equal(restart.said.error.code, 'no_restart_owner');
    assert.equal(stop.status, 0, JSON.stringify(stop.said));
    await first.end();
  });

  it('has what its children leave behind reaped, where Node can make way for a shell, else says that nobody does', async (t) => {
    const first = startedFirst(t, await portProject(t));
    await says(first, 'worker up');
    const orphan = orphanIn(await first.pid());

    if (MAKES_WAY) await until(() => !existsSync(orphan), { what: 'the end of the orphan, reaped' });
    process.kill(await first.pid(), 'SIGTERM');
    const { stdout } = await first.ended;

    assert.equal(/first process here, without an init: .*docker run --init/.test(stdout), !MAKES_WAY, stdout);
  });

  for (const [shell, file] of [
    ['no shell', '/dev/null'],
    ['bash for one', '/bin/bash'],
  ] as const)
    it(`stays the first process where the image has ${shell}, and says what that means`, async (t) => {
      const first = startedFirst(t, await portProject(t), { shell: `mount --bind ${file} /bin/sh && exec "$@"` });
      await says(first, 'worker up');
      process.kill(await first.pid(), 'SIGTERM');

      const { code, stdout } = await first.ended;

      assert.equal(code, 0);
      assert.match(stdout, /"pid":1,/);
      assert.match(stdout, /first process here, without an init/);
    });

  it('ends with the code of its worker: 51, and 78', async (t) => {
    const project = await portProject(t);
    const restarted = startedFirst(t, project);
    await says(restarted, 'worker up');
    const headers = { authorization: `Bearer ${project.token}` };
    assert.equal((await fetch(`${project.url}/api/system/restart`, { method: 'POST', headers })).status, 202);
    assert.equal((await restarted.ended).code, 51);

    writeFileSync(project.paths.config, 'http: {port: wrong}\n');
    assert.equal((await startedFirst(t, project).ended).code, 78);
  });

  it('waits without a port where its restart window is spent, until the oldest start has left it', async (t) => {
    const project = await portProject(t, { keys: { supervisor: { restarts: 1, windowSeconds: 45 } } }); // two starts fit in on a busy machine
    const killed = startedFirst(t, project);
    await says(killed, 'worker up');
    process.kill(await killed.pid(), 'SIGKILL');
    await killed.ended;

    const waiting = startedFirst(t, project);
    await says(waiting, 'waiting, without a port');
    await assert.rejects(fetch(`${project.url}/pub/health`));
    await says(waiting, 'worker up');
    assert.equal((await fetch(`${project.url}/pub/health`)).status, 200);
    process.kill(await waiting.pid(), 'SIGTERM');
    assert.equal((await waiting.ended).code, 0);
  });

  it('ends with 0 when it is stopped while it waits', async (t) => {
    const project = await portProject(t, { keys: { supervisor: { restarts: 1, windowSeconds: 600 } } });
    const killed = startedFirst(t, project);
    await says(killed, 'worker up');
    process.kill(await killed.pid(), 'SIGKILL');
    await killed.ended;

    const waiting = startedFirst(t, project);
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
    const first = startedFirst(t, project, { shell: owner, env: { XPC_SERVICE_NAME: 'io.svc.test', KILL: 'yes' } });

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
    const first = startedFirst(t, project, { shell: OWNER, env: { XPC_SERVICE_NAME: 'io.svc.test' } });

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
    const first = startedFirst(t, project, {
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
