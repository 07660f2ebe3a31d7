// The listening socket that outlives its workers, over the built programs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { ProjectPaths } from '../../../shared/files/paths.ts';
import { freePort } from '../../support/free-port.ts';
import { type SteadyTally, sendSteadily } from '../../support/http/steady-requests.ts';
import { lives } from '../../support/process/supervised.ts';
import { CLI, portProject, supervisorStatus, svc, untilReplaced } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const PER_SECOND = 20;
const MOST_OPEN = 1_000;
const BEFORE = 20;
const SOME = 20;

interface Daemon {
  readonly path: string;
  readonly paths: ProjectPaths;
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly port: number;
  readonly supervisorPid: number;
  readonly log: () => string;
  readonly write: (name: string, text: string) => void;
  /** Changes the port in the configuration. */
  readonly move: (to: number) => void;
}

/** While the file `wait` is there, it is being loaded. */
const WAITING = `import { existsSync } from 'node:fs';
import { definePlugin } from 'svc';
while (existsSync('wait')) await new Promise((resolve) => setTimeout(resolve, 20));
export default definePlugin({ name: 'own', setup() {} });
`;

async function daemon(
  t: TestContext,
  env: Readonly<Record<string, string>> = {},
  keys: Readonly<Record<string, unknown>> = {},
): Promise<Daemon> {
  const options = { keys, plugins: { 'own.mjs': WAITING } };
  const { path, paths, url, token, port, read, write } = await portProject(t, options);
  const { code, stdout, stderr } = await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path, env });
  assert.equal(code, 0, stderr);
  const { pid, supervisorPid } = JSON.parse(stdout);
  const move = (to: number): void =>
    write('svc.config.yml', read('svc.config.yml').replace(/port: \d+/, `port: ${to}`));
  const log = (): string => read('.svc/runtime.log');
  return { path, paths, url, token, port, pid, supervisorPid, log, move, write };
}

async function status(path: string) {
  return JSON.parse((await svc(['runtime', 'status', '--json'], { cwd: path })).stdout);
}

/** Requests go on while the worker is replaced, until the next one has answered some. */
async function throughout(
  { paths, url, pid }: Daemon,
  replace: () => Promise<unknown>,
  requests = sendSteadily(`${url}/pub/health`, PER_SECOND, { mostOpen: MOST_OPEN }),
): Promise<SteadyTally> {
  await until(() => requests.answered() > BEFORE, { what: 'answers of the first worker' });
  await replace();
  await untilReplaced({ paths }, pid);
  const so = requests.answered();
  await until(() => requests.answered() > so + BEFORE, { what: 'answers of the next worker' });
  return requests.end();
}

function assertNothingLost({ sent, answered, refused, cut, others }: SteadyTally, mayBeCut: number): void {
  assert.deepEqual({ refused, others }, { refused: 0, others: [] });
  assert.ok(cut <= mayBeCut, `${cut} of ${sent} were cut`);
  assert.equal(answered + cut, sent);
}

describe('the listening socket', () => {
  it('refuses nobody while a killed worker is replaced', async (t) => {
    const host = await daemon(t);

    const requests = sendSteadily(`${host.url}/pub/health`, PER_SECOND, { mostOpen: MOST_OPEN });
    let sent = 0;

    const kill = async (): Promise<void> => {
      process.kill(host.pid, 'SIGKILL');
      await until(() => !lives(host.pid), { what: 'the end of the worker', everyMs: 1 });
      sent = requests.sent();
    };
    const tally = await throughout(host, kill, requests);

    // What the dead worker had accepted died with it, and nothing that came later.
    assertNothingLost(tally, MOST_OPEN);
    assert.ok(tally.lastCut <= sent, `request ${tally.lastCut} was cut, and ${sent} were sent before the worker's end`);
  });

  it('refuses and cuts nobody over a restart from the Console', async (t) => {
    const host = await daemon(t);

    const tally = await throughout(host, async () => {
      const headers = { authorization: `Bearer ${host.token}` };
      const response = await fetch(`${host.url}/api/system/restart`, { method: 'POST', headers });
      assert.equal(response.status, 202, await response.text());
    });

    assertNothingLost(tally, 0);
  });

  it('refuses and cuts nobody over `runtime restart`', async (t) => {
    const host = await daemon(t);

    const tally = await throughout(host, async () => {
      const { code, stderr } = await svc(['runtime', 'restart'], { cwd: host.path });
      assert.equal(code, 0, stderr);
    });

    assertNothingLost(tally, 0);
  });

  it('takes each line that comes over a restart, or tells it to come again', async (t) => {
    const host = await daemon(t);
    const headers = { authorization: `Bearer ${host.token}`, 'content-type': 'application/json' };
    const body = (): string => JSON.stringify({ person: 'ann', text: 'hello', delivery: randomUUID() });

    const tally = await throughout(
      host,
      () => svc(['runtime', 'restart'], { cwd: host.path }),
      sendSteadily(`${host.url}/api/chat/say`, PER_SECOND, { method: 'POST', headers, body, mostOpen: MOST_OPEN }),
    );

    // Who connects and is slow with its request finds a host that stops: see test/host/http/drain.test.ts.
    const late = tally.others.filter((answer) => answer.includes('"code":"draining"'));
    const others = tally.others.filter((answer) => !late.includes(answer));
    assertNothingLost({ ...tally, others, sent: tally.sent - late.length }, 0);
  });

  it('has somebody who answers probes while a plugin of the next worker loads; all else is handled after that', async (t) => {
    const host = await daemon(t, {}, { plugins: { sandbox: {}, own: { use: './plugins/own.mjs' } } });
    host.write('wait', '');
    const headers = { authorization: `Bearer ${host.token}`, 'content-type': 'application/json' };
    const body = (): string => JSON.stringify({ person: 'ann', text: 'hello', delivery: randomUUID() });
    const ask = async (what: string) => fetch(host.url + what, { headers }).then((answer) => answer.json());

    const restarted = svc(['runtime', 'restart', '--timeout', '300'], { cwd: host.path });
    const report = await until(
      async () => {
        const now = (await ask('/api/system/readiness')) as Readonly<Record<string, unknown>>;
        return now['state'] === 'starting' ? now : undefined;
      },
      { what: 'the next worker to start' },
    );
    const lines = Array.from({ length: SOME }, () =>
      fetch(`${host.url}/api/chat/say`, { method: 'POST', headers, body: body() }).then(({ status }) => status),
    );
    const probes = [await fetch(`${host.url}/pub/health`), await fetch(`${host.url}/pub/ready`)];
    rmSync(join(host.path, 'wait'));

    assert.deepEqual([report['schema'], report['ready']], ['svc.readiness/1', false]);
    assert.deepEqual(
      probes.map(({ status }) => status),
      [200, 503],
    );
    assert.deepEqual(await Promise.all(lines), Array(SOME).fill(202));
    assert.equal((await restarted).code, 0);
    const { total } = (await ask('/api/inbox?limit=1')) as { readonly total: number };
    assert.equal(total, SOME);
  });

  it('is held by the supervisor, says status, and closed once nobody waits for a worker', async (t) => {
    const host = await daemon(t);
    assert.equal((await status(host.path)).socket, 'supervisor');

    await svc(['runtime', 'stop'], { cwd: host.path });

    await assert.rejects(fetch(`${host.url}/pub/health`), isRefused);
  });

  it('is closed in failed, where connections would wait for nothing', async (t) => {
    const host = await daemon(t);
    breakConfiguration(host.path);

    process.kill(host.pid, 'SIGKILL');

    await until(async () => (await supervisorStatus(host)).state === 'failed', { what: 'failed' });
    await assert.rejects(fetch(`${host.url}/pub/health`), isRefused);
    assert.equal((await status(host.path)).socket, null);
  });

  it('moves to another port with a restart', async (t) => {
    const host = await daemon(t);
    const port = await freePort();
    host.move(port);

    const { code, stderr } = await svc(['runtime', 'restart'], { cwd: host.path });

    assert.equal(code, 0, stderr);
    assert.equal((await fetch(`http://127.0.0.1:${port}/pub/health`)).status, 200);
    await assert.rejects(fetch(`${host.url}/pub/health`), isRefused);
    const { socket, exits } = await status(host.path);
    assert.deepEqual([socket, exits.length], ['supervisor', 1], 'with the first worker that is started for it');
  });

  it('moved to a port that is taken, ends in failed naming its holder, and recovers on command', async (t) => {
    const host = await daemon(t);
    const stranger = createServer().listen(0, '127.0.0.1');
    t.after(() => stranger.close());
    await until(() => stranger.listening, { what: 'the stranger' });
    const { port } = stranger.address() as { port: number };
    host.move(port);

    const failed = await svc(['runtime', 'restart'], { cwd: host.path });
    const after = await status(host.path);
    host.move(host.port);
    const recovered = await svc(['runtime', 'restart'], { cwd: host.path });

    assert.equal(after.budget.left, after.budget.limit - 1, 'the first start alone is spent');
    assert.equal(failed.code, 1);
    assert.match(failed.stdout, new RegExp(`port ${port} is held by pid ${process.pid}`));
    assert.deepEqual([after.state, after.exits.length], ['failed', 2]);
    assert.equal(recovered.code, 0, recovered.stdout);
    assert.equal((await fetch(`${host.url}/pub/health`)).status, 200);
  });

  it('is taken from the owner of a foreground worker that hands one down', async (t) => {
    const project = await portProject(t);
    const owners = createServer().listen(0, '127.0.0.1');
    t.after(() => owners.close());
    await until(() => owners.listening, { what: 'the socket of the owner' });
    const { port } = owners.address() as { port: number };
    const handle: unknown = Reflect.get(owners, '_handle');
    const script = `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"`;
    const args = [process.execPath, CLI, 'runtime', 'start', '--mode', 'production'];
    const child = spawn('/bin/sh', ['-c', script, ...args], {
      cwd: project.path,
      stdio: ['ignore', 'ignore', 'ignore', handle as 'pipe'],
    });
    t.after(() => child.kill('SIGKILL'));
    owners.close(); // from here on it is the worker's

    const now = await until(
      async () => {
        const ready = await fetch(`http://127.0.0.1:${port}/pub/ready`);
        return ready.ok ? status(project.path) : undefined;
      },
      { everyMs: 50, what: 'the worker' },
    );

    assert.deepEqual([now.socket, now.address.port, now.pid], ['inherited', port, child.pid]);
    assert.equal((await fetch(`http://127.0.0.1:${port}/pub/health`)).status, 200);
  });

  it('is bound by the worker where Node cannot hold it, and status says so', async (t) => {
    const without = 'import net from "node:net"; delete net._createServerHandle;';
    const host = await daemon(t, { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(without)}` });

    const { code, stderr } = await svc(['runtime', 'restart'], { cwd: host.path });

    assert.equal(code, 0, stderr);
    const now = await status(host.path);
    assert.equal(now.socket, 'worker');
    assert.match(now.notes.join(), /cannot hold the listening socket/);
    assert.doesNotMatch(
      host.log(),
      /another host is about to listen/,
      'a worker has not to wait for its own supervisor',
    );
  });
});

const isRefused = (error: Error): boolean => (error.cause as NodeJS.ErrnoException).code === 'ECONNREFUSED';

function breakConfiguration(path: string): void {
  appendFileSync(join(path, 'svc.config.yml'), 'no_such_key: 1\n');
}
