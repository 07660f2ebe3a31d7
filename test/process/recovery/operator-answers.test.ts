// What an operator is told, and spared, in a bad hour: a wrong configuration before a restart, workers that were killed, one that is frozen.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { identify } from '../../../shared/process/process-identity.ts';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const FOREGROUND = ['runtime', 'start', '--mode', 'production', '--no-watch'];

const json = async (cwd: string, ...words: string[]) => {
  const { code, stdout } = await svc(['runtime', ...words, '--json'], { cwd });
  return { code, ...JSON.parse(stdout) };
};

describe('a restart', () => {
  it('over a configuration that is wrong by now is refused with 78, and the worker goes on', async (t) => {
    const { path, read, write } = await portProject(t);
    const good = read('svc.config.yml');
    const { pid } = await json(path, 'start', '--daemon');

    write('svc.config.yml', `${good}lgo_level: debug\n`);
    const refused = await svc(['runtime', 'restart'], { cwd: path });
    const meanwhile = await json(path, 'status');
    write('svc.config.yml', good);
    const restarted = await json(path, 'restart');

    assert.equal(refused.code, 78);
    assert.match(
      refused.stderr,
      /svc\.config\.yml:\d+:\d+ lgo_level is not a key here; did you mean log_level\?\n.*the worker that runs goes on/,
    );
    assert.deepEqual([meanwhile.code, meanwhile.ready, meanwhile.pid, meanwhile.exits], [0, true, pid, []]);
    assert.deepEqual([restarted.code, restarted.ready], [0, true]);
  });

  it('that systemd would count as one failure too many is refused, and the worker goes on', async (t) => {
    const { path } = await portProject(t);
    const ends: unknown[] = [];
    for (let start = 1; start <= 4; start += 1) {
      const run = startSvc(FOREGROUND, { cwd: path, env: { INVOCATION_ID: 'x', NOTIFY_SOCKET: '/nonexistent' } });
      t.after(() => run.child.kill('SIGKILL'));
      const isReady = async () => (await svc(['runtime', 'status'], { cwd: path })).code === 0;
      await until(isReady, { what: 'ready' });
      const { stderr } = await svc(['runtime', 'restart', '--timeout', '1'], { cwd: path });
      ends.push(
        /4 starts lie in its window\n +try again in \d+ s/.test(stderr) ? await isReady() : (await run.ended).code,
      );
    }

    assert.deepEqual(ends, [51, 51, 51, true]);
  });

  it('judges by the variables that the daemon was started with, not by those of the shell', async (t) => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    const { path } = await portProject(t, { keys: { host: { name: '${OF_THE_DAEMON}' } } });
    const env = { OF_THE_DAEMON: 'aida' };
    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path, env })).code, 0);

    assert.equal((await json(path, 'restart')).code, 0);
    assert.equal((await json(path, 'restart', '--daemon')).code, 0);
    const again = await json(path, 'start', '--daemon');
    assert.deepEqual([again.code, again.alreadyRunning], [0, true]);
  });

  it('says that it waits where the budget of starts is spent, until when, and what would not', async (t) => {
    const { path } = await portProject(t, { keys: { supervisor: { restarts: 1, windowSeconds: 3_600 } } });
    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path })).code, 0);

    const { code, stdout, stderr } = await restartDeferred(path);

    assert.equal(code, 1);
    assert.match(
      stderr,
      /deferred: 1 starts within 3600 s: .*, next start at \d{4}-\S+Z; `svc runtime restart` once more starts it now/,
    );
    assert.match(stdout, /not ready within \d+ s; deferred/);
    const list = await svc(['endpoints', 'list'], { cwd: path });
    assert.deepEqual([list.code, /^svc: the host is deferred: .*, next start at /.test(list.stderr)], [1, true]);
    const now = await svc(['runtime', 'restart'], { cwd: path });

    assert.equal(now.code, 0, now.stdout + now.stderr);
  });

  it('of the supervisor keeps the address of the daemon, whatever port the variables of the shell name', async (t) => {
    const stranger = createServer().listen(0, '127.0.0.1');
    t.after(() => stranger.close());
    await once(stranger, 'listening');
    const { port: taken } = stranger.address() as AddressInfo;
    const { path, port, write, read } = await portProject(t);
    write('svc.config.yml', read('svc.config.yml').replace(/port: \d+/, `port: \${BOT_PORT:-${taken}}`));
    const env = { BOT_PORT: String(port) };
    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path, env })).code, 0);

    const { code, ready, reasons } = await json(path, 'restart', '--daemon');

    assert.deepEqual([code, ready, reasons], [0, true, []]);
    assert.equal((await json(path, 'status')).address.port, port);
  });
});

describe('a worker in the foreground that was killed', () => {
  it('is told by status while nothing runs, and by the next worker as one of those before it', async (t) => {
    const { path } = await portProject(t);
    const first = await started(t, path);
    const { pid, runtimeId } = await json(path, 'status');

    first.child.kill('SIGKILL');
    await first.ended;
    const gone = await svc(['runtime', 'status'], { cwd: path });
    const goneAsJson = await json(path, 'status');
    await started(t, path);
    const { exits } = await json(path, 'status');
    const { stdout } = await svc(['runtime', 'status'], { cwd: path });

    assert.equal(gone.code, 3);
    assert.match(
      gone.stdout,
      /^nothing is running\nthe last worker, started by foreground at \S+, ended without a word/,
    );
    assert.match(goneAsJson.lastEnd, /ended without a word/);
    assert.deepEqual(
      exits.map((exit: Record<string, unknown>) => [exit['pid'], exit['runtimeId'], exit['reason'], exit['code']]),
      [[pid, runtimeId, 'crashed', null]],
    );
    assert.match(
      stdout,
      new RegExp(
        `^ended +unseen, the next one started \\S+: pid ${pid}, runtime ${runtimeId}, crashed: pid ${pid} ended without a word$`,
        'm',
      ),
    );
  });
});

describe('a worker that does not answer', () => {
  it('is named by every command that asks it, with what can be done', async (t) => {
    const { path, write } = await portProject(t);
    const { pid = 0 } = await silent(t, path);
    const record = { ...identify(pid), owner: 'foreground', mode: 'production', startedAt: new Date().toISOString() };
    write('.svc/worker.json', JSON.stringify(record));

    const answers = await Promise.all(['status', 'reload'].map((verb) => svc(['runtime', verb], { cwd: path })));

    for (const { code, stderr } of answers) {
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`^svc: the worker, pid ${pid}, runs but does not answer\\n.*kill -KILL ${pid}`));
    }
    const { stdout } = await svc(['doctor', '--only', 'owner.single'], { cwd: path });
    assert.match(stdout, new RegExp(`the worker, pid ${pid}, runs but does not answer\\n.*kill -CONT ${pid}`));
    const stopped = await svc(['runtime', 'stop'], { cwd: path });
    assert.equal(stopped.code, 0);
    assert.match(stopped.stderr, new RegExp(`stopping pid ${pid}, which does not answer: SIGTERM`));
  });
});

async function started(t: TestContext, cwd: string): Promise<ReturnType<typeof startSvc>> {
  const run = startSvc(FOREGROUND, { cwd });
  t.after(() => run.child.kill('SIGKILL'));
  await until(async () => (await svc(['runtime', 'status'], { cwd })).code === 0, {
    what: 'ready',
  });
  return run;
}

/** Holds the worker's socket and says nothing, as a frozen worker does. */
async function silent(t: TestContext, project: string): Promise<ReturnType<typeof spawn>> {
  mkdirSync(`${project}/.svc`, { recursive: true });
  chmodSync(`${project}/.svc`, 0o700);
  const program = `require('node:net').createServer(() => {}).listen('.svc/worker.sock', () => console.log('listens'));`;
  const child = spawn(process.execPath, ['-e', program], { cwd: project, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return child;
}

/** On a busy machine the first seconds may go by before the former worker has ended. The next restart starts the host, another one is deferred again. */
async function restartDeferred(path: string) {
  for (let seconds = 2; ; seconds *= 4) {
    const ended = await svc(['runtime', 'restart', '--timeout', String(seconds)], { cwd: path });
    if (/deferred: 1 starts/.test(ended.stderr) || seconds > 60) return ended;
    await svc(['runtime', 'restart'], { cwd: path });
  }
}
