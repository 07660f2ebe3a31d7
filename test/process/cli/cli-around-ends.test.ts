// Commands at moments in between: a supervisor that has just stopped, a host that is up and not ready.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { identify, isAlive } from '../../../shared/process/process-identity.ts';
import { removeLive } from '../../support/disk/remove-live.ts';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

/** Answers at the control socket of the working folder, always the same; ends when its stdin does, and instead of an answer to a stop. */
const STAND_IN = `const { createServer } = require('node:net');
const result = { supervisorPid: process.pid, ...JSON.parse(process.argv[1]) };
const answer = JSON.stringify({ id: 1, ok: true, result }) + '\\n';
const dies = (data) => String(data).includes('"command":"stop"') && process.exit();
const server = createServer((socket) => socket.on('data', (data) => dies(data) || (socket.write(answer), console.log('asked'))).on('error', () => {}));
server.listen('.svc/control.sock', () => console.log('listens'));
process.stdin.resume().on('end', () => process.exit());
`;

const NOTHING_KNOWN = { pid: null, address: null, socket: null, reason: null, budget: null };

interface StandIn {
  (): void;
  /** How often it was asked. */
  readonly asked: () => number;
  readonly lives: () => boolean;
}

/** A supervisor in a state in which the real one is for a moment only. Called, it ends. */
async function standIn(t: TestContext, project: string, status: Partial<RuntimeStatus>): Promise<StandIn> {
  mkdirSync(`${project}/.svc`, { recursive: true });
  chmodSync(`${project}/.svc`, 0o700);
  const full = { owner: 'daemon', ready: false, reasons: [], exits: [], notes: [], ...NOTHING_KNOWN, ...status };
  const child = spawn(process.execPath, ['-e', STAND_IN, JSON.stringify(full)], {
    cwd: project,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await until(() => said.includes('listens'), { what: 'the stand-in' });
  return Object.assign(() => void child.stdin.end(), {
    asked: () => said.split('asked').length - 1,
    lives: () => child.exitCode === null && child.signalCode === null,
  });
}

describe('a supervisor that has stopped and answers a moment longer', { concurrency: 3 }, () => {
  it('is nothing that runs: status ends with 3', async (t) => {
    const { path } = await portProject(t);
    await standIn(t, path, { state: 'stopped' });

    const { code, stdout } = await svc(['runtime', 'status', '--json'], { cwd: path });

    assert.deepEqual([code, JSON.parse(stdout).state], [3, 'stopped']);
  });

  it('has done what a stop beside another one asks for, though it cannot tell any more', async (t) => {
    const { path } = await portProject(t);
    await standIn(t, path, { state: 'draining', drain: 'stop', reason: 'in other words' });

    const { code, stdout } = await svc(['runtime', 'stop'], { cwd: path });

    assert.deepEqual([code, stdout], [0, 'stopped\n']);
  });

  for (const status of [
    { state: 'stopped' },
    { state: 'draining', drain: 'stop', reason: 'in other words' },
  ] as const) {
    it(`is waited for by a start (${status.state})`, async (t) => {
      const { path } = await portProject(t);
      const end = await standIn(t, path, status);

      const started = svc(['runtime', 'start', '--daemon', '--json'], { cwd: path });
      const first = await Promise.race([started, new Promise((resolve) => setTimeout(resolve, 500, 'waits'))]);
      end();

      assert.equal(first, 'waits');
      assert.equal((await started).code, 0);
    });
  }

  it('never shows as running after it was told to stop by signal', async (t) => {
    const { path } = await portProject(t);
    const { supervisorPid } = JSON.parse((await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path })).stdout);

    process.kill(supervisorPid, 'SIGTERM');
    const seen = await until(
      async () => {
        const { code, stdout } = await svc(['runtime', 'status', '--json'], { cwd: path });
        const { state } = JSON.parse(stdout);
        return state === 'stopped' && { code, state };
      },
      { what: 'the end', everyMs: 0 },
    );

    assert.equal(seen.code, 3);
  });
});

describe('a supervisor that has handed over to another, which does not answer yet', { concurrency: 3 }, () => {
  const handedOver = async (t: TestContext, state: 'stopped' | 'running' = 'stopped') => {
    const { path } = await portProject(t);
    const former = await standIn(t, path, { state });
    const successor = spawn('sleep', ['600'], { stdio: 'ignore', cwd: path });
    t.after(() => void successor.kill('SIGKILL'));
    const record = { state: 'checking', supervisor: identify(successor.pid ?? 0) };
    writeFileSync(`${path}/.svc/supervisor.json`, JSON.stringify(record));
    const afterwards = async (): Promise<StandIn> => {
      await until(() => former.asked() > 0, { what: 'the first look' });
      former();
      await until(() => !former.lives(), { what: 'the end of the former one' });
      rmSync(`${path}/.svc/control.sock`);
      const budget = { limit: 5, left: 4, windowMs: 120_000, nextStartAt: null };
      return standIn(t, path, { state: 'running', budget });
    };
    return { path, afterwards, end: () => void successor.kill('SIGKILL') };
  };

  it('is no end: status waits for the other one', async (t) => {
    const { path, afterwards } = await handedOver(t);

    const asking = svc(['runtime', 'status', '--json'], { cwd: path });
    await afterwards();
    const { code, stdout } = await asking;

    assert.deepEqual([code, JSON.parse(stdout).state], [1, 'running']);
  });

  for (const state of ['stopped', 'running'] as const)
    it(`leaves a stop to the other one, also where it ends before it has answered (${state})`, async (t) => {
      const { path, afterwards, end } = await handedOver(t, state);

      const asking = svc(['runtime', 'stop'], { cwd: path });
      const next = await afterwards();

      await until(() => !next.lives(), { what: 'the end of the other one' });
      end();

      assert.equal((await asking).code, 0);
    });
});

describe('a daemon that is stopped while a command waits for its worker', { concurrency: 3 }, () => {
  for (const command of ['restart', 'start --daemon'])
    it(`ends the waiting of ${command}, and is named`, async (t) => {
      const { path } = await portProject(t);
      const status = { state: 'starting', runtimeId: 'former', configVersion: null };
      const end = await standIn(t, path, status);

      const waiting = startSvc(['runtime', ...command.split(' '), '--timeout', '600', '--json'], { cwd: path });
      await until(() => end.asked() > 3, { what: 'the waiting' });
      end();
      const { code, stdout, stderr } = await waiting.ended;

      assert.deepEqual([code, JSON.parse(stdout).reasons], [1, ['the daemon was stopped meanwhile']]);
      if (command === 'restart') assert.match(stderr, /`svc runtime start --daemon`/, 'what to do next');
    });
});

describe('a foreground host that does not answer yet', { concurrency: 3 }, () => {
  for (const [state, when, ageMs] of [
    ['starting', 'just now', -60_000], // and no earlier, however slow the command is
    ['unreachable', 'an hour ago', 3_600_000],
  ] as const)
    it(`is ${state} where it took the project ${when}`, async (t) => {
      const { path, write } = temporaryProject(t);
      const startedAt = new Date(Date.now() - ageMs).toISOString();
      const worker = spawn('sleep', ['600'], { stdio: 'ignore', cwd: path });
      t.after(() => worker.kill('SIGKILL'));
      const holder = { ...identify(worker.pid ?? 0), owner: 'foreground', mode: 'production', startedAt };
      write('.svc/worker.json', JSON.stringify(holder));

      const { code, stdout } = await svc(['runtime', 'status', '--json'], { cwd: path });

      assert.deepEqual([code, JSON.parse(stdout).state], [1, state]);
    });
});

describe('reload', { concurrency: 3 }, () => {
  for (const owner of ['daemon', 'foreground'])
    it(`ends with 78 over a broken configuration, and the old generation serves on (${owner})`, async (t) => {
      const { path, url, read, write } = await portProject(t);
      if (owner === 'daemon') await svc(['runtime', 'start', '--daemon'], { cwd: path });
      else startSvc(['runtime', 'start', '--mode', 'production', '--no-watch', '--json'], { cwd: path });
      await until(async () => (await fetch(`${url}/pub/ready`)).ok, { what: 'ready' });
      write('svc.config.yml', `${read('svc.config.yml')}nonsense: 1\n`);

      for (const option of [[], ['--or-restart']]) {
        const { code, stdout } = await svc(['runtime', 'reload', ...option, '--json'], { cwd: path });
        const { error } = JSON.parse(stdout);
        assert.deepEqual([code, error.code], [78, 'config_invalid']);
        assert.match(error.message, /svc\.config\.yml:\d+:\d+ nonsense/);
        assert.match(error.hint, /goes on/);
      }
      assert.equal((await fetch(`${url}/pub/ready`)).status, 200);
    });
});

describe('reload --or-restart', { concurrency: 3 }, () => {
  it('waits for the worker that takes the change in', async (t) => {
    const { path, write } = await portProject(t);
    const { runtimeId } = JSON.parse((await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path })).stdout);
    write('package-lock.json', '{"lockfileVersion": 3, "changed": true}');

    const { code, stdout, stderr } = await svc(['runtime', 'reload', '--or-restart', '--json'], { cwd: path });
    const { ready, formerRuntimeId, runtimeId: next } = JSON.parse(stdout);
    const { exits } = JSON.parse((await svc(['runtime', 'status', '--json'], { cwd: path })).stdout);

    assert.deepEqual([code, ready, formerRuntimeId], [0, true, runtimeId], stderr);
    assert.notEqual(next, runtimeId);
    assert.match(stderr, /package-lock\.json/);
    assert.equal(exits.at(-1).code, 75);
  });

  it('says that a worker in the foreground has ended, and that nothing starts it again', async (t) => {
    const { path, write, url } = await portProject(t);
    const host = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: path });
    await until(async () => (await fetch(`${url}/pub/ready`)).status === 200, { what: 'ready' });
    write('package-lock.json', '{"lockfileVersion": 3, "changed": true}');

    const { code, stdout } = await svc(['runtime', 'reload', '--or-restart'], { cwd: path });

    assert.deepEqual([code, (await host.ended).code], [1, 75]);
    assert.match(stdout, /nothing starts it again/);
  });
});

/** A busy machine may need more than two seconds until the host is up and has told its reasons: then it is started anew, with more. */
async function upWithin(path: string) {
  for (let seconds = 2; ; seconds *= 4) {
    const { code, stdout } = await svc(['runtime', 'start', '--daemon', '--timeout', String(seconds), '--json'], {
      cwd: path,
    });
    const body = JSON.parse(stdout);
    const [, , ...ofTheHost] = body.reasons; // after the time and the state
    if (ofTheHost.length > 0 || seconds > 60) return { code, body, seconds };
    await svc(['runtime', 'stop'], { cwd: path });
  }
}

describe('start --daemon', { concurrency: 3 }, () => {
  it('right after .svc was removed under a daemon tells of the one that it has started', async (t) => {
    const { path, paths } = await portProject(t);
    const start = async () => JSON.parse((await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path })).stdout);
    const before = await start();
    const former = identify(before.supervisorPid);

    removeLive(paths.stateDir);
    const started = await start();
    await until(() => former !== undefined && !isAlive(former), { what: 'the end of the former one' });
    const { code, stdout } = await svc(['runtime', 'status', '--json'], { cwd: path });

    assert.ok(started.ready && started.supervisorPid > 0, JSON.stringify(started));
    assert.notEqual(started.supervisorPid, before.supervisorPid);
    assert.deepEqual([code, JSON.parse(stdout).supervisorPid], [0, started.supervisorPid]);
  });

  it('ends with 1 and the reasons when the host is up and not ready in time; the daemon stays', async (t) => {
    const { path, url } = await portProject(t, {
      keys: { http: undefined },
    }).then((project) => {
      project.write(
        'svc.config.yml',
        [
          'http:',
          `  port: ${project.port}`,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
          '  token: ${HTTP_TOKEN}',
          '  readiness:',
          '    endpoints: [{ owner: root/sandbox, name: sandbox }]',
          'plugins:',
          '  sandbox: { enabled: false }',
          '  echo: {}',
          '',
        ].join('\n'),
      );
      return project;
    });

    const { code, body, seconds } = await upWithin(path);

    assert.equal(code, 1);
    assert.equal(body.ready, false);
    assert.equal(body.reasons[0], `not ready within ${seconds} s`);
    assert.match(body.reasons.join('\n'), /root\/sandbox/);
    assert.equal((await fetch(`${url}/pub/health`)).status, 200);
    assert.equal((await fetch(`${url}/pub/ready`)).status, 503);
    const status = await svc(['runtime', 'status', '--json'], { cwd: path });
    assert.deepEqual([status.code, JSON.parse(status.stdout).supervisorPid], [1, body.supervisorPid]);
    assert.equal((await svc(['runtime', 'stop'], { cwd: path })).code, 0);
  });

  it('takes --timeout for nothing else', async (t) => {
    const { path } = await portProject(t);

    for (const args of [
      ['--timeout', '5'],
      ['--daemon', '--timeout', 'soon'],
    ])
      assert.equal((await svc(['runtime', 'start', ...args], { cwd: path })).code, 2, args.join(' '));
  });
});
