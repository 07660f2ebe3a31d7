// A host in the foreground over its whole life, as its owner and the machine see it: what it holds, what it leaves, how it ends.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeLive } from '../../support/disk/remove-live.ts';
import { CTRL_C, terminal, terminalMissing } from '../../support/process/terminal.ts';
import { CLI, portProject, type StartedSvc, startSvc, svc } from '../../support/svc-command.ts';
import type { TemporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const START = ['runtime', 'start', '--mode', 'production', '--no-watch'];
const SLOW = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'slow', setup(p) {
  let running = 0;
  p.command('slow', { summary: 'Takes its time', timeoutMs: 600_000 }, () => {
    running += 1;
    return new Promise((resolve) => setTimeout(resolve, 600_000));
  });
  p.route('GET /running', { scope: 'full' }, () => ({ json: { running } }));
} });
`;

interface Own {
  readonly project: TemporaryProject & { readonly port: number };
  get(path: string): Promise<Response>;
  post(path: string, body: object): Promise<Response>;
  up(): Promise<void>;
  /** A handler is at work that does not end by itself. */
  busy(): Promise<void>;
}

async function own(t: TestContext, supervisor: Readonly<Record<string, unknown>> = {}): Promise<Own> {
  const { url, ...project } = await portProject(t, {
    keys: { plugins: { sandbox: {}, slow: { use: './plugins/slow.js' } }, supervisor },
    plugins: { 'slow.js': SLOW },
  });
  const headers = { authorization: `Bearer ${project.token}`, 'content-type': 'application/json' };
  const get = (path: string): Promise<Response> => fetch(url + path, { headers });
  const post = (path: string, body: object): Promise<Response> =>
    fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return {
    project,
    get,
    post,
    async up() {
      await until(async () => (await get('/pub/ready')).ok, { what: 'the host to be ready' });
    },
    async busy() {
      await post('/api/chat/say', { person: 'ann', text: '/slow', delivery: randomUUID() });
      // Of this process: that an item is being handled is also told of one that was cut before.
      await until(
        async () => {
          const { running } = (await (await get('/plugins/slow/running')).json()) as { readonly running: number };
          return running === 1;
        },
        { what: 'the handler' },
      );
    },
  };
}

function start(t: TestContext, { project }: Own): StartedSvc {
  const run = startSvc(START, { cwd: project.path });
  t.after(() => void run.child.kill('SIGKILL'));
  return run;
}

/** Locks that a process holds on a file (Linux). */
function locksOn(file: string, pid: number): number {
  const { ino } = statSync(file);
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => line.includes(` ${pid} `) && line.includes(`:${ino} `)).length;
}

describe('a host in the foreground', { concurrency: 3 }, () => {
  it('keeps its lock whatever it is asked, and files that only its owner can read', async (t) => {
    const host = await own(t);
    const { project, get, post, up } = host;
    const run = start(t, host);
    await up();
    const { pid } = JSON.parse(project.read('.svc/worker.json')) as { readonly pid: number };
    const lock = join(project.paths.stateDir, 'writer.lock');
    const before = locksOn(lock, pid);

    const paths = ['metrics', 'logs', 'config', 'plugins', 'inbox', 'outbox', 'events?format=json', 'openapi.json'];
    for (const path of [...paths, 'system/status', 'system/readiness', 'chat/messages?person=ann'])
      assert.equal((await get(`/api/${path}`)).status, 200, path);
    assert.equal((await post('/api/system/reload', {})).status, 200);
    for (const command of ['doctor', 'runtime status', 'config show', 'runtime start --once --mode test'])
      await svc([...command.split(' '), '--json'], { cwd: project.path });
    const second = await svc(START, { cwd: project.path });

    if (process.platform === 'linux') assert.ok(before > 0, 'the lock is seen at all');
    assert.equal(locksOn(lock, pid), before);
    assert.equal(second.code, 1);
    assert.match(second.stderr, new RegExp(`already running as pid ${pid}`));
    const open = readdirSync(project.paths.stateDir).filter(
      (name) => (statSync(join(project.paths.stateDir, name)).mode & 0o077) !== 0,
    );
    assert.deepEqual(open, [], 'others can read these');
    assert.equal(statSync(project.paths.stateDir).mode & 0o777, 0o700);
    run.child.kill('SIGTERM');
    assert.equal((await run.ended).code, 0);
  });

  it('refuses a taken address before anything of it begins, naming who holds it', async (t) => {
    const host = await own(t);
    const stranger = createServer().listen(host.project.port, '127.0.0.1');
    t.after(() => stranger.close());
    await once(stranger, 'listening');

    const { code, stdout, stderr } = await start(t, host).ended;

    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`port ${host.project.port} is held by pid ${process.pid}`));
    assert.match(stderr, /Change http\.host or http\.port, or end what holds it/);
    assert.doesNotMatch(stdout, /generation|endpoint/);
    assert.equal(existsSync(host.project.paths.database), false);
  });

  for (const [loss, lose] of [
    ['removed', removeLive],
    ['moved', (folder: string) => renameSync(folder, `${folder}-elsewhere`)],
  ] as const)
    it(`stops when .svc is ${loss} while it runs, says so, and leaves the project to another`, async (t) => {
      const host = await own(t);
      const lost = start(t, host);
      await host.up();

      lose(host.project.paths.stateDir);

      assert.equal((await lost.ended).code, 0);
      assert.match(lost.output(), /\.svc was removed, moved or replaced while running: stopping/);
      start(t, host);
      await host.up();
    });

  it("that a plugin's configuration ended with 78 is no crash to the next start", async (t) => {
    const host = await own(t);
    const { project } = host;
    const good = project.read('svc.config.yml');
    project.write('svc.config.yml', good.replace('sandbox: {}', 'sandbox: { colour: red }'));

    assert.equal((await start(t, host).ended).code, 78);
    project.write('svc.config.yml', good);
    start(t, host);
    await host.up();

    const { lastExits } = (await (await host.get('/api/system/status')).json()) as {
      readonly lastExits: readonly { readonly end: string; readonly code: number | null }[];
    };
    assert.deepEqual([lastExits[0]?.end, lastExits[0]?.code], ['config', 78]);
    assert.match(await (await host.get('/api/metrics')).text(), /svc_restarts_total\{reason="config",[^}]*\} 1\n/);
    const { items } = (await (await host.get('/api/events?format=json&types=runtime.stopping')).json()) as {
      readonly items: readonly { readonly data: unknown }[];
    };
    assert.deepEqual(items[0]?.data, { reason: 'config_invalid', exitCode: 78 });
  });

  it('drains at the first Ctrl-C of a terminal and ends at once with 130 at the second', {
    skip: terminalMissing(),
  }, async (t) => {
    const host = await own(t, { stopTimeoutSeconds: 300 });
    const { shows, type, ended, screen } = terminal(t, START, host.project.path);
    await host.up();
    await host.busy();

    type(CTRL_C);
    type(CTRL_C); // as npm passes SIGINT on after the terminal's own
    await shows('stopping; Ctrl-C again ends it without a drain');
    await shows('worker stopping');
    const { stdout } = await svc(['runtime', 'status', '--json'], { cwd: host.project.path });
    assert.equal((JSON.parse(stdout) as { readonly state: string }).state, 'draining');
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    // Presses within half a second of the first are the first.
    await until(
      () => {
        if (!isOver) type(CTRL_C);
        return isOver;
      },
      { what: 'a later Ctrl-C to end it', everyMs: 100 },
    );

    assert.equal(await ended, 130, screen());
  });

  it('goes on after a hang-up without a terminal, as nohup begins it', async (t) => {
    const host = await own(t);
    const run = start(t, host);
    await host.up();

    run.child.kill('SIGHUP');
    await until(() => run.output().includes('SIGHUP changes nothing'), { what: 'the hang-up to be told of' });

    assert.equal((await host.get('/pub/ready')).status, 200);
    run.child.kill('SIGTERM');
    assert.equal((await run.ended).code, 0);
    assert.doesNotMatch(run.output(), /"reason":"SIGHUP"/);
  });

  it('drains when its terminal hangs up', { skip: terminalMissing() }, async (t) => {
    const host = await own(t);
    const window = spawn('script', ['-qc', `exec '${process.execPath}' '${CLI}' ${START.join(' ')}`, '/dev/null'], {
      cwd: host.project.path,
      stdio: 'ignore',
    });
    await host.up();

    window.kill('SIGKILL');

    await until(() => /"reason": ?"SIGHUP"/.test(host.project.read('.svc/worker.json')), {
      what: 'the end with its reason',
    });
  });

  it('writes its log as lines of JSON with --json, on a terminal too', { skip: terminalMissing() }, async (t) => {
    const host = await own(t);
    const { shows, type, ended, screen } = terminal(t, [...START, '--json'], host.project.path);
    await host.up();
    await shows('worker up');
    type(CTRL_C);

    assert.equal(await ended, 0, screen());
    const lines = screen()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    assert.ok(
      lines.some((line) => (JSON.parse(line) as { readonly msg: string }).msg === 'worker stopped'),
      screen(),
    );
  });

  it('ends with 0 after its terminal is gone, over which its last write and Node itself stumble', {
    skip: terminalMissing(),
  }, async (t) => {
    const { project, up } = await own(t);
    const ended = join(project.path, 'ended');
    const words = [process.execPath, CLI, ...START].map((word) => `'${word}'`).join(' ');
    // A shell that outlives the terminal, and sees how the host ends.
    const command = `trap '' HUP; ${words}; echo $? >ended`;
    const window = spawn('script', ['-qc', command, '/dev/null'], { cwd: project.path, stdio: 'ignore' });
    await up();
    window.kill('SIGKILL');
    await once(window, 'close');

    assert.equal((await svc(['runtime', 'stop'], { cwd: project.path })).code, 0);

    await until(() => existsSync(ended) && readFileSync(ended, 'utf8').endsWith('\n'), { what: 'the shell to tell' });
    assert.equal(readFileSync(ended, 'utf8'), '0\n');
  });
});

describe('svc runtime stop', { concurrency: 3 }, () => {
  for (const owner of ['foreground', 'daemon'])
    it(`says what the drain has cut, which waits for the next start (${owner})`, async (t) => {
      const host = await own(t, { stopTimeoutSeconds: 1 });
      const { path: cwd } = host.project;
      const begin = async (): Promise<void> => {
        if (owner === 'daemon') assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd })).code, 0);
        else start(t, host);
        await host.up();
        await host.busy();
      };
      await begin();

      const { code, stdout } = await svc(['runtime', 'stop', '--json'], { cwd });
      const after = (await svc(['runtime', 'status'], { cwd })).stdout;
      await begin();
      const text = await svc(['runtime', 'stop'], { cwd });

      // Of a machine too slow to close all the rest in time it is the worker besides (test/unit/process/stop-app.test.ts).
      const { cut } = JSON.parse(stdout) as { readonly cut: readonly { readonly name: string }[] };
      assert.deepEqual([code, text.code], [0, 0]);
      assert.ok(
        cut.some(({ name }) => name === 'handlers' || name === 'worker'),
        stdout,
      );
      assert.match(after, /handlers: 1 did not end|worker: /);
      assert.match(text.stdout, /^stopped; cut: .*(handlers: \d did not end|worker: )/);
    });

  it('says that a worker which was ended at once was killed, with --json as well', async (t) => {
    const host = await own(t);
    const { path: cwd } = host.project;
    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd })).code, 0);

    const { stdout } = await svc(['runtime', 'stop', '--now', '--json'], { cwd });

    assert.deepEqual(JSON.parse(stdout).cut, [{ name: 'worker', count: null, reason: 'was killed: stop --now' }]);
  });
});

describe('a host on /dev/null', { concurrency: 3 }, () => {
  it('keeps its standard descriptors to the end: a file under the number of one of them ends Node', async (t) => {
    const { project, up } = await own(t);
    const fixture = fileURLToPath(new URL('../../support/fixture-programs/tells-its-descriptors.mjs', import.meta.url));
    const run = startSvc(START, { cwd: project.path, env: { NODE_OPTIONS: `--import=${fixture}` } });
    await up();
    run.child.kill('SIGTERM');

    const { code, stderr } = await run.ended;
    assert.deepEqual([code, /^descriptors (.*)$/m.exec(stderr)?.[1]], [0, '0 1 2'], stderr);
  });
});

/** Loaded before the program: what it writes to its stdout comes late, as where the machine is busy and the thread that writes waits for its turn. */
const WRITES_LATE = `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { write } = fs;
fs.write = (descriptor, ...rest) => (descriptor === 1 ? void setTimeout(write, 300, descriptor, ...rest) : write(descriptor, ...rest));
syncBuiltinESMExports();`;

describe('a host on a pipe that takes its lines late', { concurrency: 3 }, () => {
  it('ends once its last line is there', async (t) => {
    const { project, up } = await own(t);
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(WRITES_LATE)}`;
    const run = startSvc(START, { cwd: project.path, env: { NODE_OPTIONS } });
    t.after(() => void run.child.kill('SIGKILL'));
    await up();
    run.child.kill('SIGTERM');

    const { code, stdout } = await run.ended;
    assert.equal(code, 0);
    assert.match(stdout, /"msg":"worker stopped"\}\n$/);
  });
});

describe('the project of a command', { concurrency: 3 }, () => {
  it('is the nearest folder above that holds svc.config.yml, or the one that is named', async (t) => {
    const { path } = await portProject(t);
    const below = join(path, 'plugins', 'deep', 'down');
    mkdirSync(below, { recursive: true });
    const projectOf = async (cwd: string, ...args: string[]): Promise<unknown> =>
      JSON.parse((await svc(['config', 'check', '--json', ...args], { cwd })).stdout).file;

    assert.equal(await projectOf(below), join(path, 'svc.config.yml'));
    assert.equal(await projectOf('/', '--project', path), join(path, 'svc.config.yml'));
    assert.equal((await svc(['config', 'check', '--json'], { cwd: '/' })).code, 1);
  });
});
