// `svc runtime restart --daemon`: a supervisor takes the place of another, over the built programs.
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { sendSteadily } from '../../support/http/steady-requests.ts';
import { bundlePrograms } from '../../support/process/bundle.ts';
import { ask, lives, startSupervisor } from '../../support/process/supervised.ts';
import { portProject, supervisorStatus, svc, untilReplaced } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const WORKER = new URL('../../../dist/worker.js', import.meta.url).pathname;

let formerSupervisor: string;

before(async () => {
  const programs = await bundlePrograms(['supervisor/main.ts'], { SVC_VERSION: '"0.0.1"' });
  formerSupervisor = programs.get('supervisor-main') ?? '';
});

type Project = Awaited<ReturnType<typeof portProject>>;

async function json(project: Project, ...args: string[]) {
  const { code, stdout, stderr } = await svc(['runtime', ...args, '--json'], { cwd: project.path });
  return { code, stderr, body: JSON.parse(stdout) };
}

async function daemon(t: TestContext): Promise<{ project: Project; started: { pid: number; supervisorPid: number } }> {
  const project = await portProject(t);
  const { code, stderr, body } = await json(project, 'start', '--daemon');
  assert.equal(code, 0, stderr);
  return { project, started: body };
}

describe('a daemon that is replaced', { concurrency: 2 }, () => {
  it('refuses and cuts nobody, and hands lock, socket, budget and history to the new one', async (t) => {
    const { project, started } = await daemon(t);
    const requests = sendSteadily(`${project.url}/pub/health`, 20, { mostOpen: 1_000 });
    await until(() => requests.answered() > 20, { what: 'answers of the first worker' });

    const restarted = await json(project, 'restart', '--daemon');

    assert.equal(restarted.code, 0, restarted.stderr);
    assert.notEqual(restarted.body.supervisorPid, started.supervisorPid);
    await until(() => !lives(started.supervisorPid), { what: 'the end of the former supervisor' });
    const so = requests.answered();
    await until(() => requests.answered() > so + 20, { what: 'answers of the next worker' });
    const { sent, answered, refused, cut, others } = await requests.end();
    assert.deepEqual({ refused, cut, others, answered }, { refused: 0, cut: 0, others: [], answered: sent });
    const { body } = await json(project, 'status');
    assert.deepEqual(
      [body.state, body.ready, body.socket, body.supervisorPid, body.budget.left, body.exits.length],
      ['running', true, 'supervisor', restarted.body.supervisorPid, 3, 1],
    );
    assert.deepEqual([body.exits[0].pid, body.exits[0].code], [started.pid, 51]);
    const beside = await json(project, 'start', '--daemon');
    assert.deepEqual([beside.code, beside.body.supervisorPid], [0, body.supervisorPid]);
    assert.equal((await json(project, 'stop')).code, 0);
    assert.equal((await json(project, 'status')).code, 3);
  });

  it('can be replaced again, and keeps its worker up after that', async (t) => {
    const { project } = await daemon(t);
    const first = await json(project, 'restart', '--daemon');
    const second = await json(project, 'restart', '--daemon');

    assert.deepEqual([first.code, second.code], [0, 0]);
    process.kill(second.body.pid, 'SIGKILL');
    await untilReplaced(project, second.body.pid);
  });

  it('of an older version works with a newer worker and command, says that it should be renewed, and is', async (t) => {
    const project = await portProject(t);
    const old = startSupervisor(t, {
      supervisor: formerSupervisor,
      worker: WORKER,
      project,
      settings: { port: project.port, upMs: 20_000, watchdogMs: 20_000, stopMs: 8_000 },
    });
    await until(async () => (await old.status()).ready, { what: 'ready' });
    const before = await json(project, 'status');

    const { code, stderr, body } = await json(project, 'restart', '--daemon');

    assert.equal(code, 0, stderr);
    assert.match(before.body.notes.join(), /the daemon is of version 0\.0\.1.*svc runtime restart --daemon/);
    const after = await json(project, 'status');
    assert.deepEqual([after.body.notes, after.body.supervisorPid], [[], body.supervisorPid]);
    assert.notEqual(after.body.supervisorVersion, '0.0.1');
    assert.deepEqual(await old.ended, { code: 0, signal: null });
  });

  it('goes on as it was when the new one does not start, or would not be served', async (t) => {
    const { project, started } = await daemon(t);
    const settings = {};
    const replace = (program: string, args: readonly string[]): Promise<unknown> =>
      ask(join(project.paths.stateDir, 'control.sock'), 'replace', { program, args, settings });

    await assert.rejects(replace(process.execPath, ['-e', 'process.exit(3)']), /ended before it was ready/);
    await assert.rejects(replace('/no/such/program', []), /ended before it was ready: .*ENOENT/);
    appendFileSync(join(project.path, 'svc.config.yml'), 'no_such_key: 1\n');
    const wrong = await json(project, 'restart', '--daemon');

    assert.equal(wrong.code, 78);
    const { body } = await json(project, 'status');
    assert.deepEqual([body.pid, body.supervisorPid, body.ready], [started.pid, started.supervisorPid, true]);
  });

  it('starts its own worker again when the new one dies before it has taken everything', async (t) => {
    const { project, started } = await daemon(t);
    const dies = "process.send({ type: 'ready' }); process.on('message', () => process.exit(1));";

    await ask(join(project.paths.stateDir, 'control.sock'), 'replace', {
      program: process.execPath,
      args: ['-e', dies],
      settings: {},
    });

    await until(
      async () => {
        const { ready, pid, supervisorPid } = await supervisorStatus(project);
        return ready && pid !== started.pid && supervisorPid === started.supervisorPid;
      },
      { what: 'the next worker of the same supervisor' },
    );
    assert.match(project.read('.svc/runtime.log'), /the supervisor could not be replaced/);
  });
});
