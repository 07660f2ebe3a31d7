// The supervisor over real processes.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { WITHOUT_SETPRIV } from '../../support/owners/without-setpriv.ts';
import { deadSocket } from '../../support/process/dead-socket.ts';
import { fixtureNames } from '../../support/process/fixture-programs.ts';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import { hasBlocked, killIfThere, lives } from '../../support/process/supervised.ts';
import { assertReplays } from '../../support/process/trace.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const supervise = overWorkers<string>(fixtureNames());

/** A loop of 51 that is deferred: three starts within a window, which has to be longer the busier the machine is. */
async function deferred(t: TestContext) {
  for (let windowMs = 1_500; ; windowMs *= 4) {
    const run = supervise(t, 'exits-51-always', { settings: { windowMs, restarts: 3 } });
    const isDecided = ({ state, exits }: RuntimeStatus): boolean => state === 'deferred' || exits.length > 6;
    const decided = async () => [await run.status()].find(isDecided);
    const status = await until(decided, { what: 'deferred' });
    if (status.state === 'deferred' || windowMs > 60_000) return { run, status };
    run.child.kill('SIGKILL');
  }
}

describe('the supervisor and ends of its worker', { concurrency: 3 }, () => {
  it('starts the worker again after SIGKILL', async (t) => {
    const run = supervise(t, 'healthy');
    const first = await run.state('running');
    process.kill(first.pid ?? 0, 'SIGKILL');

    const second = await until(
      async () => {
        const now = await run.status();
        return now.state === 'running' && now.pid !== first.pid && now.ready ? now : undefined;
      },
      { what: 'the next worker' },
    );

    assert.equal(second.exits.at(-1)?.signal, 'SIGKILL');
    assert.equal(second.budget?.left, 3);
  });

  it('ends in failed after 5 starts of a worker that dies at start, with its last words', async (t) => {
    const run = supervise(t, 'exits-1-at-start');

    const status = await run.state('failed');

    assert.equal(status.exits.length, 5);
    assert.match(status.reason ?? '', /5 starts within 60 s.*exit code 1/);
    assert.deepEqual(
      status.exits.at(-1)?.lastLines.filter((line) => line.includes('last words')),
      ['last words of a crash'],
    );
  });

  it('ends in failed after 5 starts of a worker that dies once it is up', async (t) => {
    const status = await supervise(t, 'exits-1-once-up').state('failed');

    assert.equal(status.exits.length, 5);
    assert.equal(
      status.exits.every((exit) => exit.wasUp),
      true,
    );
  });

  it('comes back by itself when the cause goes away while it waits', async (t) => {
    // A budget that a busy machine, which may come late with the mend, does not use up.
    const run = supervise(t, 'crashes-until-mended', { settings: { delaysMs: [0, 300], restarts: 1_000 } });
    await run.state('backing_off');

    writeFileSync(`${run.project.path}/mended`, '');

    await run.state('running');
  });

  it('starts at once after 51 of a worker that was up, and counts it as requested', async (t) => {
    const run = supervise(t, 'exits-51-once');

    const status = await until(
      async () => {
        const now = await run.status();
        return now.exits.length === 1 && now.state === 'running' ? now : undefined;
      },
      { what: 'the second worker' },
    );

    assert.equal(status.exits[0]?.reason, 'restart_requested');
    assert.match(run.log(), /"reason":"restart_requested"/);
  });

  it('defers a loop of 51 until the oldest start leaves the window, and never fails', async (t) => {
    const { run, status } = await deferred(t);

    assert.equal(status.budget?.left, 0);
    assert.notEqual(status.budget?.nextStartAt, null);
    const states = () => run.trace().map(({ after }) => after.state.kind);
    const isBack = (): boolean => states().lastIndexOf('running') > states().indexOf('deferred');
    await until(isBack, { what: 'a start after the wait' });
    assert.ok(!states().includes('failed'));
  });

  const AT_START = { 'exits-75-at-start': '75 crashed', 'ends-after-switch': '75 restart_required' };
  for (const [worker, what] of Object.entries(AT_START))
    it(`ends in failed after 5 starts of a worker that ends before it is up: ${what}`, async (t) => {
      const { exits } = await supervise(t, worker).state('failed');

      assert.deepEqual(
        exits.map(({ code, reason }) => `${code} ${reason}`),
        Array(5).fill(what),
      );
    });

  it('stops with a worker that ends with 0', async (t) => {
    const run = supervise(t, 'exits-0-once-up');

    assert.deepEqual(await run.ended, { code: 0, signal: null });
    assert.equal(JSON.parse(run.project.read('.svc/supervisor.json')).state, 'stopped');
    assert.equal(existsSync(`${run.project.paths.stateDir}/control.sock`), false);
  });

  it('fails at once on 78, with file, line and key', async (t) => {
    const status = await supervise(t, 'exits-78').state('failed');

    assert.equal(status.exits.length, 1);
    assert.match(status.reason ?? '', /svc\.config\.yml:7:3 http\.port/);
  });

  it('ends a worker that is never up, and counts it', async (t) => {
    const run = supervise(t, 'never-up', { settings: { upMs: 200, restarts: 2 } });

    const status = await run.state('failed');

    assert.match(status.reason ?? '', /not up within 200 ms/);
  });

  it('replaces a worker whose event loop is blocked, after a report', async (t) => {
    // A successor on a busy machine may be silent for as long, too, and be replaced as well.
    const run = supervise(t, 'blocks-its-loop', { settings: { watchdogMs: 400, restarts: 1_000 } });

    const end = await until(async () => (await run.status()).exits[0], { what: 'its end' });
    await run.state('running');

    assert.match(end.detail ?? '', /no heartbeat for 400 ms/);
    assert.equal(
      readdirSync(run.project.paths.reportsDir).some((name) => name.endsWith('.json')),
      true,
    );
  });

  it('stops within the time for a drain though the worker is blocked', async (t) => {
    const run = supervise(t, 'blocks-its-loop-always', { settings: { watchdogMs: 30_000, stopMs: 300 } });
    await run.state('running');
    await hasBlocked(run);
    const { last } = (await run.call('stop')) as { last: { detail: string } };

    assert.match(last.detail, /not drained within 300 ms/);
    assert.deepEqual(await run.ended, { code: 0, signal: null });
  });

  it('kills a worker that ignores SIGTERM when its time is over', async (t) => {
    const run = supervise(t, 'ignores-sigterm', { settings: { stopMs: 200 } });
    const { pid } = await run.state('running');

    const answer = (await run.call('stop')) as { last: { detail: string } };

    assert.match(answer.last.detail, /not drained within 200 ms/);
    assert.equal(lives(pid ?? 0), false);
    assert.equal((await run.ended).code, 0);
  });

  it('takes SIGSTOP of the worker for hung', async (t) => {
    const run = supervise(t, 'healthy', { settings: { watchdogMs: 400, restarts: 1_000 } });
    const { pid } = await run.state('running');
    assert.ok(pid);

    process.kill(pid, 'SIGSTOP');

    // Its successors may be silent as well, where the machine is busy.
    await until(() => run.trace().some(({ after }) => after.state.kind === 'hung'), { what: 'hung' });
    await until(() => !lives(pid), { what: 'its end' });
    const end = await until(async () => (await run.status()).exits[0], { what: 'the record of it' });
    assert.match(`${end.signal} ${end.detail}`, /^SIGKILL no heartbeat for 400 ms/);
  });
});

describe('the machine of a real supervisor', { concurrency: 3 }, () => {
  it('decides alone: what was traced replays through it to the same states', async (t) => {
    const run = supervise(t, 'exits-51-once');
    await until(async () => (await run.status()).exits.length === 1 && (await run.status()).ready, {
      what: 'the second worker',
    });
    await run.call('stop');
    await run.ended;

    const steps = run.trace();

    assertReplays(steps);
    const states = steps.map(({ after }) => after.state.kind);
    assert.deepEqual(
      states.filter((kind, index) => kind !== states[index - 1]),
      ['checking', 'starting', 'running', 'draining', 'starting', 'running', 'draining', 'stopped'],
    );
    const [first, ...others] = steps;
    assert.ok(first !== undefined);
    // A machine that had been led otherwise does not pass.
    assert.throws(() => assertReplays([first, ...others.slice(1)]));
    assert.throws(() => assertReplays([{ ...first, effects: [] }]));
  });
});

describe('the supervisor and its own end', { concurrency: 3 }, () => {
  it('starts after it was killed, and keeps the budget of its former life', async (t) => {
    const project = temporaryProject(t);
    const first = supervise(t, 'healthy', { project });
    await first.state('running');
    first.child.kill('SIGKILL');
    await first.ended;

    const status = await supervise(t, 'healthy', { project }).state('running');

    assert.equal(status.budget?.left, 3);
  });

  it('ends a worker that a supervisor without guards left behind', async (t) => {
    const project = temporaryProject(t);
    const first = supervise(t, 'ignores-disconnect', { project, environment: WITHOUT_SETPRIV });
    const { pid } = await first.state('running');
    t.after(() => killIfThere(pid ?? 0));
    const orphan = JSON.parse(project.read('.svc/supervisor.json')).worker;
    assert.equal(orphan.pid, pid);
    first.child.kill('SIGKILL');
    await first.ended;
    assert.equal(lives(pid ?? 0), true);

    const second = supervise(t, 'healthy', { project });
    await second.state('running');

    assert.equal(lives(pid ?? 0), false);
    assert.match(
      second.log(),
      new RegExp(`"msg":"worker of a former supervisor found".*${pid}|${pid}.*worker of a former`),
    );
  });

  it('leaves one of two that start at once', async (t) => {
    for (let round = 0; round < 5; round += 1) {
      const project = temporaryProject(t);
      const both = [supervise(t, 'healthy', { project }), supervise(t, 'healthy', { project })];

      const loser = await Promise.race(both.map((run) => run.ended.then(() => run)));
      const winner = both.find((run) => run !== loser);

      await winner?.state('running');
      assert.equal(winner?.child.exitCode, null);
    }
  });

  for (const [name, text, said] of [
    ['empty', '', /supervisor\.json could not be read: /],
    ['cut', '{"version":1,"sta', /supervisor\.json could not be read: /],
    ['binary', '\0\u0001\u0002', /supervisor\.json could not be read: /],
    ['unreadable', null, /supervisor\.json could not be read: .*is not a regular file: move it away/],
    ['of another version', '{"version":2}', /supervisor\.json is not a record of this version/],
    [
      'of another boot',
      '{"version":1,"state":"running","since":"","supervisor":{"pid":2,"start":"1","boot":"x"},"worker":{"pid":2,"start":"1","boot":"x"},"exits":[]}',
      /"msg":"supervisor running"/,
    ],
  ] as const) {
    it(`starts with a record that is ${name}, and says so`, async (t) => {
      const project = temporaryProject(t);
      for (const file of ['supervisor.json', 'restart-window.json'])
        if (text === null) mkdirSync(join(project.paths.stateDir, file), { recursive: true });
        else project.write(`.svc/${file}`, text);
      chmodSync(project.paths.stateDir, 0o700);
      deadSocket(join(project.paths.stateDir, 'control.sock'));
      const run = supervise(t, 'healthy', { project });

      await run.state('running');

      await until(() => said.test(run.log()), { what: 'the line about it' });
    });
  }

  it('tells projects apart whose paths share their first 110 characters', async (t) => {
    const long = { prefix: `svc-${'x'.repeat(110)}-` };
    const runs = [
      supervise(t, 'healthy', { project: temporaryProject(t, long) }),
      supervise(t, 'healthy', { project: temporaryProject(t, long) }),
    ];

    const states = await Promise.all(runs.map((run) => run.state('running')));

    assert.notEqual(states[0]?.supervisorPid, states[1]?.supervisorPid);
  });

  it('hands secrets to the worker over IPC and keeps them out of its environment', async (t) => {
    const run = supervise(t, 'healthy', { secrets: { PLANTED_SECRET: 'planted-0123456789' } });
    const { pid } = await run.state('running');

    assert.match(run.log(), /welcome \{"secrets":\["PLANTED_SECRET"\],"previous":"first"\}/);
    for (const process of [pid, run.child.pid]) {
      assert.doesNotMatch(readFileSync(`/proc/${process}/environ`, 'latin1'), /planted-0123456789/);
      assert.doesNotMatch(readFileSync(`/proc/${process}/cmdline`, 'latin1'), /planted-0123456789/);
    }
  });
});

describe('the supervisor on command', { concurrency: 3 }, () => {
  it('restarts the worker', async (t) => {
    const run = supervise(t, 'healthy');
    const first = await run.state('running');

    await run.call('restart');

    const second = await until(
      async () => {
        const now = await run.status();
        return now.state === 'running' && now.runtimeId !== first.runtimeId ? now : undefined;
      },
      { what: 'the next worker' },
    );
    assert.equal(second.exits[0]?.code, 51);
  });

  it('restarts a worker that is still starting, and remembers no crash of it', async (t) => {
    const run = supervise(t, 'never-up');
    const first = await until(async () => [await run.status()].find(({ runtimeId }) => runtimeId !== null), {
      what: 'the first worker',
    });

    await run.call('restart');

    const isNext = ({ state, pid }: RuntimeStatus): boolean =>
      state === 'starting' && pid !== null && pid !== first.pid;
    const second = await until(async () => [await run.status()].find(isNext), { what: 'the next worker' });
    assert.deepEqual(
      second.exits.map(({ code, reason }) => [code, reason]),
      [[51, 'restart_requested']],
    );
  });

  it('leaves failed on restart, with a new budget', async (t) => {
    const run = supervise(t, 'crashes-until-mended');
    await run.state('failed');
    writeFileSync(`${run.project.path}/mended`, '');

    await run.call('restart');

    assert.equal((await run.state('running')).budget?.left, 4);
  });

  it('stops at once with --now', async (t) => {
    const run = supervise(t, 'ignores-sigterm', { settings: { stopMs: 60_000 } });
    await run.state('running');

    await run.call('stop', { now: true });

    assert.equal((await run.ended).code, 0);
  });

  it('takes garbage, half lines, too many clients and slow readers without growing or failing others', async (t) => {
    const run = supervise(t, 'healthy');
    await run.state('running');
    const rss = (): number =>
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${run.child.pid}/status`, 'utf8'))?.[1]) * 1_024;
    const before = rss();
    const path = `${run.project.paths.stateDir}/control.sock`;
    const sockets = Array.from({ length: 200 }, () => connect(path).on('error', () => {}));
    t.after(() => sockets.forEach((socket) => socket.destroy()));
    const ends = sockets.slice(0, 20).map((socket) => new Promise((resolve) => socket.on('close', resolve)));
    for (const socket of sockets.slice(0, 20)) socket.resume().write(Buffer.alloc(1_000_000, 120));
    for (const socket of sockets.slice(20, 40)) socket.write('{"id":1,');
    // Nobody reads what these ask for.
    const question = `${JSON.stringify({ id: 1, protocol: 1, command: 'status' })}\n`;
    for (const socket of sockets.slice(40, 45)) socket.pause().write(question.repeat(20_000));

    await Promise.all(ends);

    // While others are being closed, a newcomer may be one too many.
    const served = () => run.status().catch(() => undefined);
    await until(async () => (await served())?.state === 'running', { what: 'an answer to somebody else' });
    assert.ok(rss() - before < 48 * 1_048_576, `${before} bytes before, ${rss()} after`);
    assert.equal((await run.status()).state, 'running');
  });

  it('answers a command that it does not know with an error, and goes on', async (t) => {
    const run = supervise(t, 'healthy');
    await run.state('running');

    await assert.rejects(run.call('dance'), /does not know the command dance/);
    assert.equal((await run.status()).state, 'running');
  });
});
