// `supervisor.standby`: a spare worker that has loaded everything and touches nothing until its turn, over the built programs.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isStopped } from '../../../shared/process/process-identity.ts';
import { sendSteadily } from '../../support/http/steady-requests.ts';
import { lives } from '../../support/process/supervised.ts';
import { portProject, supervisorStatus, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

type Project = Awaited<ReturnType<typeof portProject>>;

const status = supervisorStatus;

interface Pair {
  readonly worker: number;
  readonly spare: number;
  readonly supervisor: number;
}

async function pair(project: Project): Promise<Pair> {
  const now = await until(
    async () => {
      const found = await status(project);
      return found.ready && found.standby === 'ready' ? found : undefined;
    },
    { what: 'a worker and its spare' },
  );
  const lines = project.read('.svc/runtime.log').trimEnd().split('\n');
  const spare = lines.map((line) => JSON.parse(line)).findLast(({ msg }) => msg === 'spare worker ready');
  return { worker: now.pid ?? 0, spare: spare.pid, supervisor: now.supervisorPid ?? 0 };
}

async function daemon(t: TestContext, keys: Readonly<Record<string, unknown>> = {}): Promise<Project & Pair> {
  const project = await portProject(t, { keys: { supervisor: { standby: true, ...keys } } });
  const { code, stderr } = await svc(['runtime', 'start', '--daemon'], { cwd: project.path });
  assert.equal(code, 0, stderr);
  return { ...project, ...(await pair(project)) };
}

const openFiles = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).map((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`);
    } catch {
      return ''; // closed meanwhile
    }
  });

/** What it has open of the project besides the log, and its sockets: stores, locks, a way in. */
const held = (pid: number, { path }: Project): readonly string[] =>
  openFiles(pid).filter((file) => (file.startsWith(path) && !/runtime\.log/.test(file)) || file.startsWith('socket:'));

/** Not reaped yet, perhaps a zombie. */
const isThere = (pid: number): boolean => existsSync(`/proc/${pid}`);
const isZombie = (pid: number): boolean => /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

/** Looks at the spare all the time for as long as the worker is there; gives how often, and what the spare has taken up meanwhile. */
async function lookUntilReaped({ worker, spare, ...project }: Project & Pair) {
  const atRest = new Set(held(spare, project));
  const taken = new Set<string>();
  for (let looks = 0; ; looks += 1) {
    const now = held(spare, project);
    if (!isThere(worker)) return { looks, taken: [...taken] }; // asked after the look: reaped in between it does not count
    for (const file of now) if (!atRest.has(file)) taken.add(file);
    await setImmediate();
  }
}

const isInPlace = (host: Project & Pair): Promise<unknown> =>
  until(async () => [await status(host)].find(({ pid, ready }) => pid === host.spare && ready), {
    what: 'the spare in its place',
  });

describe('a spare worker', { concurrency: 3 }, () => {
  it('takes up nothing while the killed one is not reaped, however long that takes', async (t) => {
    const host = await daemon(t);
    process.kill(host.supervisor, 'SIGSTOP'); // nobody else reaps it
    process.kill(host.worker, 'SIGKILL');
    await until(() => isZombie(host.worker), { what: 'a dead worker that is not reaped' });
    const looking = lookUntilReaped(host);
    for (let turn = 0; turn < 500; turn += 1) await setImmediate();
    assert.ok(isThere(host.worker));

    process.kill(host.supervisor, 'SIGCONT');

    const { looks, taken } = await looking;
    assert.ok(looks > 100, `${looks} looks`);
    assert.deepEqual(taken, []);
    await isInPlace(host);
    assert.ok(
      held(host.spare, host).some((file) => file.endsWith('writer.lock')),
      'and would be seen to',
    );
  });

  it('takes up nothing while one that is hung is not ended and reaped', async (t) => {
    const host = await daemon(t, { watchdogSeconds: 5 });

    process.kill(host.worker, 'SIGSTOP');

    const { looks, taken } = await lookUntilReaped(host);
    assert.ok(looks > 100, `${looks} looks`);
    assert.deepEqual(taken, []);
    await isInPlace(host);
  });

  it('opens no store, takes the place of a killed one with nobody refused, and is followed by another', async (t) => {
    const host = await daemon(t);
    const stores = (pid: number) => openFiles(pid).filter((file) => /\.sqlite|writer\.lock/.test(file));
    const before = { worker: stores(host.worker).length > 0, spare: stores(host.spare) };
    const requests = sendSteadily(`${host.url}/pub/health`, 20, { mostOpen: 1_000 });
    await until(() => requests.answered() > 20, { what: 'answers' });

    process.kill(host.worker, 'SIGKILL');

    const next = await until(async () => ((await status(host)).pid === host.spare ? pair(host) : undefined), {
      what: 'the spare in its place',
    });
    const { refused, others } = await requests.end();
    assert.deepEqual(before, { worker: true, spare: [] });
    assert.deepEqual({ refused, others }, { refused: 0, others: [] });
    assert.notEqual(next.spare, host.spare);
    assert.equal((await svc(['runtime', 'stop'], { cwd: host.path })).code, 0);
    await until(() => !lives(next.spare), { what: 'the end of the spare' });
  });

  it('is not taken once the lockfile has changed', async (t) => {
    const host = await daemon(t);
    host.write('package-lock.json', '{ "lockfileVersion": 3 }');

    const { code } = await svc(['runtime', 'restart'], { cwd: host.path });

    assert.equal(code, 0);
    assert.notEqual((await status(host)).pid, host.spare);
    await until(() => !lives(host.spare), { what: 'the end of the spare' });
  });

  it('starts with the configuration as it is at its turn, not as it was while it waited', async (t) => {
    const host = await daemon(t);
    const before = await status(host);
    host.write('svc.config.yml', `${host.read('svc.config.yml')}\ninbox: { bodyDays: 3 }\n`);

    process.kill(host.worker, 'SIGKILL');

    const after = await until(
      async () => {
        const found = await status(host);
        return found.pid === host.spare && found.ready ? found : undefined;
      },
      { what: 'the spare in its place' },
    );
    assert.notEqual(after.configVersion, before.configVersion);
  });

  it('refuses at its turn a configuration that has become wrong meanwhile', async (t) => {
    const host = await daemon(t);
    host.write('svc.config.yml', `${host.read('svc.config.yml')}\nno_such_key: 1\n`);

    process.kill(host.worker, 'SIGKILL');

    const after = await until(
      async () => {
        const found = await status(host);
        return found.state === 'failed' ? found : undefined;
      },
      { what: 'the refusal' },
    );
    assert.match(JSON.stringify(after.exits.at(-1)), /no_such_key/);
  });

  it('is not waited for when it was killed', async (t) => {
    const host = await daemon(t);
    process.kill(host.spare, 'SIGKILL');
    await until(async () => (await status(host)).standby === 'none', {
      what: 'its loss to be seen',
    });

    assert.match(
      readFileSync(join(host.path, '.svc/runtime.log'), 'utf8'),
      /"reason":"SIGKILL","msg":"spare worker lost"/,
    );
    assert.equal((await svc(['runtime', 'restart'], { cwd: host.path })).code, 0);
  });

  it('is not waited for when it was stopped', async (t) => {
    const host = await daemon(t);
    process.kill(host.spare, 'SIGSTOP');
    await until(() => isStopped(host.spare), { what: 'the spare to have stopped' });

    process.kill(host.worker, 'SIGKILL');

    const after = await until(async () => ((await status(host)).pid === host.worker ? undefined : pair(host)), {
      what: 'the next worker',
    });
    assert.notEqual(after.worker, host.spare);
    assert.equal((await status(host)).exits.length, 1);
    await until(() => !lives(host.spare), { what: 'the end of the stopped one' });
  });

  it('ends with its supervisor', async (t) => {
    const host = await daemon(t);

    process.kill(host.supervisor, 'SIGKILL');

    await until(() => !lives(host.spare) && !lives(host.worker), { what: 'the end of both' });
  });
});
