// What a worker leaves in its process group ends before anything else of the host begins.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import type { SupervisorSettings } from '../../../shared/api/ipc.ts';
import { bootId, identify } from '../../../shared/process/process-identity.ts';
import { supervisedBy } from '../../../supervisor/workers/process-group.ts';
import { WITHOUT_SETPRIV } from '../../support/owners/without-setpriv.ts';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import { lateGroupKill } from '../../support/process/late-group-kill.ts';
import { killIfThere, lives, type Supervised } from '../../support/process/supervised.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

interface End {
  /** What becomes of the first worker by itself. */
  readonly leavesAs?: 'silent' | 'late' | 'deaf';
  readonly settings?: Partial<SupervisorSettings>;
  readonly end?: (run: Supervised) => Promise<unknown>;
}

const supervise = overWorkers(['leaves-grandchild', 'ignores-every-end']);
const LATE_MS = 1_000;
/** Successors of a worker that was too slow may be too slow as well, where the machine is busy. */
const OFTEN = { restarts: 1_000, delaysMs: [0] };

const killWorker = async (run: Supervised): Promise<void> =>
  void process.kill((await run.status()).pid ?? 0, 'SIGKILL');

const ENDS: Readonly<Record<string, End>> = {
  'was killed': { end: killWorker },
  'was silent': { leavesAs: 'silent', settings: { watchdogMs: 400, ...OFTEN } },
  'was not up in time': { leavesAs: 'late', settings: { upMs: 1_500, ...OFTEN } },
  'did not drain in time': { leavesAs: 'deaf', settings: { stopMs: 200 }, end: (run) => run.call('restart') },
};

function start(t: TestContext, { leavesAs, settings = {} }: End, environment = lateGroupKill(LATE_MS)) {
  const as = leavesAs === undefined ? {} : { LEAVES_AS: leavesAs };
  return supervise(t, 'leaves-grandchild', { settings, environment: { ...environment, ...as } });
}

/** Once it is there as a whole: who reads may come between the making of the file and its line. */
const firstLine = (run: Supervised, name: string): string | undefined =>
  run.project.read(name).split('\n').slice(0, -1)[0];

/** The first worker's, once that has come as far as it comes. */
async function grandchildOf(t: TestContext, run: Supervised): Promise<number> {
  const pid = Number(await until(() => firstLine(run, 'grandchildren'), { what: 'the grandchild' }));
  t.after(() => killIfThere(pid));
  return pid;
}

/** What the second worker saw before it did anything else. */
const seenBy = (run: Supervised): Promise<string> => until(() => firstLine(run, 'seen'), { what: 'the next worker' });

describe('the process group of a worker', () => {
  for (const [how, end] of Object.entries(ENDS))
    it(`has ended as a whole before the next start, when the worker ${how}`, async (t) => {
      const run = start(t, end);
      const grandchild = await grandchildOf(t, run);
      if (end.end !== undefined) await run.state('running').then(() => end.end?.(run));

      const seen = await seenBy(run);

      assert.equal(seen, `${grandchild} is gone`);
    });

  it('has ended as a whole before a stop with --now is answered', async (t) => {
    const run = start(t, { leavesAs: 'deaf' });
    const grandchild = await grandchildOf(t, run);
    await run.state('running');

    await run.call('stop', { now: true });

    assert.equal(lives(grandchild), false);
    assert.equal((await run.ended).code, 0);
  });

  it('is still on its way when a start asks for a spare that was killed: that one is not taken', async (t) => {
    const run = start(t, { settings: { standby: true } });
    const worker = (await run.state('running')).pid ?? 0;
    const readyLine = () =>
      run
        .log()
        .split('\n')
        .find((line) => line.includes('"msg":"spare worker ready"'));
    const spare = JSON.parse(await until(readyLine, { what: 'a spare' })).pid;

    // While it stands still: it hears of both ends before the group of the worker has ended.
    run.child.kill('SIGSTOP');
    for (const pid of [worker, spare]) process.kill(pid, 'SIGKILL');
    run.child.kill('SIGCONT');
    await until(async () => [await run.status()].find((now) => now.ready && now.pid !== worker), {
      what: 'the next worker',
    });

    const { exits, budget } = await run.status();
    assert.deepEqual([exits.length, budget?.left], [1, 3]);
  });

  it('is waited for no longer than 2 s where it cannot be ended, and named', async (t) => {
    const run = start(t, {}, lateGroupKill());
    const grandchild = await grandchildOf(t, run);
    await run.state('running');

    await killWorker(run);
    const seen = await seenBy(run);

    assert.equal(seen, `${grandchild} lives`);
    const line = run
      .log()
      .split('\n')
      .find((text) => text.includes('processes of an ended worker live on'));
    assert.deepEqual(JSON.parse(line ?? '{}').pids, [grandchild]);
  });
});

describe('a worker that outlived its supervisor and hears no SIGTERM', () => {
  it('gets 5 s for it, then SIGKILL with its group, and only then is another one started', async (t) => {
    const project = temporaryProject(t);
    const first = supervise(t, 'ignores-every-end', { project, environment: WITHOUT_SETPRIV });
    const { pid } = await first.state('running');
    const left = [pid ?? 0, Number(project.read('grandchild'))];
    t.after(() => left.forEach((each) => killIfThere(each)));
    first.child.kill('SIGKILL');
    await first.ended;
    assert.deepEqual(left.map(lives), [true, true]);

    const second = supervise(t, 'ignores-every-end', { project });
    await second.state('running');

    assert.deepEqual(left.map(lives), [false, false]);
    const at = (kind: string) => second.trace().find(({ event }) => event.kind === kind)?.moment.now ?? Number.NaN;
    const tookMs = at('clear') - at('lock_held');
    assert.ok(tookMs >= 4_990, `${tookMs} ms`);
  });
});

/** What leads a group of its own and ends, leaving one process in it; `environment` is what that one was born with. */
async function leaverOf(t: TestContext, environment: Readonly<Record<string, string>>) {
  const leader = spawn('sh', ['-c', 'sleep 600 & echo $!; read line'], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], ...environment },
  });
  const left = Number(String((await once(leader.stdout, 'data'))[0]));
  t.after(() => killIfThere(left));
  const worker = identify(leader.pid ?? 0);
  leader.stdin.end();
  await once(leader, 'exit');
  assert.equal(lives(left), true);
  return { worker, left };
}

/** Who is not there any more, as far as anybody can tell. */
const DEAD = { pid: 4_000_000, start: '1', boot: bootId() };

/** A supervisor that finds the record of one that died over that worker. */
function after(t: TestContext, worker: unknown): Supervised {
  const project = temporaryProject(t);
  const record = { version: 1, state: 'running', since: '', supervisor: DEAD, worker, exits: [] };
  project.write('.svc/supervisor.json', JSON.stringify(record));
  chmodSync(project.paths.stateDir, 0o700);
  return supervise(t, 'leaves-grandchild', { project });
}

describe('a supervisor that was killed with its worker', () => {
  it('is followed by one that first ends what that worker has left in its group', async (t) => {
    const project = temporaryProject(t);
    const first = supervise(t, 'leaves-grandchild', { project });
    const grandchild = await grandchildOf(t, first);
    const { pid } = await first.state('running');
    first.child.kill('SIGKILL');
    await first.ended;
    await until(() => !lives(pid ?? 0), { what: 'the end of the worker' });
    assert.equal(lives(grandchild), true, 'nobody was there to end it');

    const second = supervise(t, 'leaves-grandchild', { project });
    const seen = await seenBy(second);

    assert.equal(seen, `${grandchild} is gone`);
    assert.match(second.log(), new RegExp(`"pids":\\[${grandchild}\\],"msg":"processes that a former worker left`));
  });

  it('is followed by one that names, and leaves alone, who is in a group of that number and not known to be its', async (t) => {
    const { worker, left } = await leaverOf(t, {});

    const run = after(t, worker);
    await run.state('running');

    assert.equal(lives(left), true);
    assert.match(
      run.log(),
      new RegExp(`"pids":\\[${left}\\],"msg":"processes in a group of that number are not known`),
    );
  });

  it('is followed by one that has nothing to say of a group of another boot', async (t) => {
    const { worker, left } = await leaverOf(t, supervisedBy(DEAD));

    const run = after(t, { ...worker, boot: 'another' });
    await run.state('running');

    assert.equal(lives(left), true);
    assert.doesNotMatch(run.log(), /"msg":"processes /);
  });

  it('is followed by one that signals no process that has pid and start of its worker, but in another boot', async (t) => {
    const leader = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    t.after(() => leader.kill('SIGKILL'));
    const stranger = identify(leader.pid ?? 0);

    const run = after(t, { ...stranger, boot: 'another' });
    await run.state('running');

    assert.deepEqual([leader.exitCode, leader.signalCode], [null, null]);
    assert.deepEqual(identify(leader.pid ?? 0), stranger);
    assert.doesNotMatch(run.log(), /worker of a former supervisor/);
  });

  it('is followed by one that has nothing to say of a group that another process leads by now', async (t) => {
    const leader = spawn('sh', ['-c', 'sleep 600 & echo $!; wait'], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'], ...supervisedBy(DEAD) },
    });
    t.after(() => void process.kill(-(leader.pid ?? 0), 'SIGKILL'));
    const member = Number(String((await once(leader.stdout, 'data'))[0]));

    const run = after(t, { ...identify(leader.pid ?? 0), start: '1' });
    await run.state('running');

    assert.deepEqual([leader.pid ?? 0, member].map(lives), [true, true]);
    assert.doesNotMatch(run.log(), /"msg":"processes /);
  });
});
