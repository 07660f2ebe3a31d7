// The life of a runtime by its commands, over the built programs.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { lives } from '../../support/process/supervised.ts';
import { portProject, startSvc, svc, untilReady, untilReplaced } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const snapshot = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => `${name} ${statSync(`${folder}/${name}`).mtimeMs}`)
    .join('\n');

describe('a daemon', { concurrency: 3 }, () => {
  it('starts, says how it is, takes work, restarts, reloads, shows its log, and stops', async (t) => {
    const { path, url, paths } = await portProject(t);
    const json = async (...args: string[]) => {
      const { code, stdout, stderr } = await svc([...args, '--json'], { cwd: path });
      return { code, stderr, body: JSON.parse(stdout) };
    };

    const started = await json('runtime', 'start', '--daemon');
    assert.equal(started.code, 0, started.stderr);
    assert.equal((await fetch(`${url}/pub/ready`)).status, 200);
    const status = await json('runtime', 'status');
    assert.equal(status.code, 0);
    assert.deepEqual(
      [status.body.state, status.body.ready, status.body.owner, status.body.pid],
      ['running', true, 'daemon', started.body.pid],
    );
    const again = await json('runtime', 'start', '--daemon');
    assert.deepEqual([again.code, again.body.alreadyRunning, again.body.pid], [0, true, started.body.pid]);
    const beside = await svc(['runtime', 'start', '--mode', 'production'], { cwd: path });
    assert.equal(beside.code, 1);
    assert.match(beside.stderr, new RegExp(`already running as pid ${started.body.pid}, started by daemon`));
    const restarted = await json('runtime', 'restart');
    assert.equal(restarted.code, 0);
    assert.notEqual(restarted.body.runtimeId, started.body.runtimeId);
    const reloaded = await json('runtime', 'reload');
    assert.equal(reloaded.code, 0);
    assert.equal((await json('runtime', 'status')).body.generation, reloaded.body.generation);
    const logs = await svc(['runtime', 'logs', '-n', '1000', '--json'], { cwd: path });
    assert.equal(JSON.parse(logs.stdout).filter(({ msg }: { readonly msg: string }) => msg === 'worker up').length, 2);
    assert.equal(statSync(paths.runtimeLog).mode & 0o777, 0o600);
    const stopped = await json('runtime', 'stop');
    assert.deepEqual([stopped.code, stopped.body.cut], [0, []]);
    assert.equal((await json('runtime', 'status')).code, 3);
    assert.deepEqual(await json('runtime', 'stop').then(({ code, body }) => [code, body.wasRunning]), [0, false]);
    for (const command of ['restart', 'reload', 'logs'])
      assert.equal((await json('runtime', command)).code, 1, command);
  });

  it('comes back after SIGKILL of its worker, and dies with its supervisor without leaving a port', async (t) => {
    const project = await portProject(t);
    const { path, url } = project;
    const body = JSON.parse((await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path })).stdout);

    process.kill(body.pid, 'SIGKILL');
    await untilReplaced(project, body.pid);
    process.kill(body.supervisorPid, 'SIGKILL');
    await until(
      async () =>
        fetch(`${url}/pub/health`).then(
          () => false,
          () => true,
        ),
      { what: 'the port to be free' },
    );

    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path })).code, 0);
  });

  it('is one, of two that are started at once', async (t) => {
    const { path } = await portProject(t);

    const both = await Promise.all([0, 1].map(() => svc(['runtime', 'start', '--daemon', '--json'], { cwd: path })));

    assert.deepEqual(
      both.map(({ code }) => code),
      [0, 0],
    );
    const [one, other] = both.map(({ stdout }) => JSON.parse(stdout));
    assert.equal(one.supervisorPid, other.supervisorPid);
  });

  it('starts nothing with a wrong configuration, and makes no file (START-DAEMON-1)', async (t) => {
    const { path, write } = temporaryProject(t);
    write('svc.config.yml', 'http:\n  prot: 8068\n');
    const before = snapshot(path);

    const { code, stderr } = await svc(['runtime', 'start', '--daemon'], { cwd: path });

    assert.equal(code, 78);
    assert.match(stderr, /svc\.config\.yml:2:\d+ .*prot/);
    assert.equal(snapshot(path), before);
  });

  it('names who holds the port, and ends in failed', async (t) => {
    const project = await portProject(t);
    const stranger = createServer().listen(project.port, '127.0.0.1');
    t.after(() => stranger.close());

    const { code, stdout } = await svc(['runtime', 'start', '--daemon'], { cwd: project.path });

    assert.equal(code, 1);
    assert.match(stdout, new RegExp(`port ${project.port} is held by pid ${process.pid}`));
    assert.equal((await svc(['runtime', 'status'], { cwd: project.path })).code, 1);
    stranger.close();
    assert.equal((await svc(['runtime', 'restart'], { cwd: project.path })).code, 0);
  });

  it('keeps a secret of the environment out of its own and the log', async (t) => {
    const canary = 'canary-0123456789-abcdefghij';
    const { path, paths, write } = await portProject(t);
    write('.env', '');
    const { chmodSync } = await import('node:fs');
    chmodSync(paths.env, 0o600);

    const { code, stdout, stderr } = await svc(['runtime', 'start', '--daemon', '--json'], {
      cwd: path,
      env: { HTTP_TOKEN: canary },
    });

    assert.equal(code, 0, stderr);
    const { pid, supervisorPid } = JSON.parse(stdout);
    for (const process of [pid, supervisorPid])
      assert.equal(readFileSync(`/proc/${process}/environ`, 'latin1').includes(canary), false);
    for (const name of readdirSync(paths.stateDir)) {
      if (!name.endsWith('.sock'))
        assert.equal(readFileSync(`${paths.stateDir}/${name}`, 'latin1').includes(canary), false, name);
    }
  });

  it('hands certificates of the operator to the worker alone: the supervisor would keep them in memory', async (t) => {
    const { path } = await portProject(t);
    const file = `${path}/package.json`; // Node takes what is in it for no certificate, and goes on

    const started = await svc(['runtime', 'start', '--daemon', '--json'], {
      cwd: path,
      env: { NODE_EXTRA_CA_CERTS: file },
    });

    assert.equal(started.code, 0, started.stderr);
    const { pid, supervisorPid } = JSON.parse(started.stdout);
    const variables = (of: number): string[] => readFileSync(`/proc/${of}/environ`, 'latin1').split('\0');
    assert.ok(variables(pid).includes(`NODE_EXTRA_CA_CERTS=${file}`));
    assert.ok(!variables(supervisorPid).some((variable) => variable.startsWith('NODE_EXTRA_CA_CERTS=')));
  });
});

describe('a daemon and what happens around it', { concurrency: 3 }, () => {
  it('goes on when the command that started it is killed', async (t) => {
    const { path, paths, url } = await portProject(t);
    const command = startSvc(['runtime', 'start', '--daemon'], { cwd: path });
    await until(() => existsSync(paths.supervisorRecord), { what: 'the supervisor' });

    command.child.kill('SIGKILL');
    await command.ended;

    await untilReady(url);
  });

  it('is told apart from its worker when its control socket is gone, and has it again', async (t) => {
    const { path, paths } = await portProject(t);
    const { pid, supervisorPid } = JSON.parse(
      (await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path })).stdout,
    );
    const status = async () => JSON.parse((await svc(['runtime', 'status', '--json'], { cwd: path })).stdout);

    const without = await until(
      async () => {
        rmSync(`${paths.stateDir}/control.sock`, { force: true }); // it may be there again before the command asks
        const now = await status();
        return now.supervisorPid === null ? now : undefined;
      },
      { what: 'an answer of the worker alone' },
    );
    const again = await until(
      async () => {
        const now = await status();
        return now.supervisorPid === supervisorPid ? now : undefined;
      },
      { what: 'the socket' },
    );

    assert.deepEqual([without.pid, again.pid, again.notes], [pid, pid, []]);
    assert.match(without.notes.join(), /control\.sock is gone: the supervisor makes it anew/);
  });

  it('writes to the new file after a host has rotated its log', async (t) => {
    const { path, paths } = await portProject(t);
    const { pid } = JSON.parse((await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path })).stdout);
    renameSync(paths.runtimeLog, `${paths.runtimeLog}.1`);

    process.kill(pid, 'SIGUSR1');

    await until(() => existsSync(paths.runtimeLog), { what: 'the new file' });
    assert.equal((await svc(['runtime', 'reload'], { cwd: path })).code, 0);
    assert.match(readFileSync(paths.runtimeLog, 'utf8'), /generation committed/);
    assert.match((await svc(['runtime', 'logs'], { cwd: path })).stdout, /worker up[\s\S]*generation committed/);
  });

  it('follows a configuration that a reload, or a restart, took in', async (t) => {
    const { path, read, write } = await portProject(t);
    const run = async (...words: string[]) => (await svc(['runtime', ...words], { cwd: path })).code;
    const change = (text: string): void => write('svc.config.yml', `${read('svc.config.yml')}${text}`);
    assert.equal(await run('start', '--daemon'), 0);

    change('log_level: debug\n');
    const reloaded = [await run('start', '--daemon'), await run('reload'), await run('start', '--daemon')];
    change('supervisor:\n  restarts: 9\n');
    const refused = await svc(['runtime', 'reload'], { cwd: path });
    const restarted = [refused.code, await run('restart'), await run('start', '--daemon')];

    assert.deepEqual(reloaded, [1, 0, 0]);
    assert.deepEqual(restarted, [1, 0, 0]);
    assert.match(refused.stderr, /cannot take in: supervisor\n +svc runtime restart/);
    const { stdout } = await svc(['runtime', 'status', '--json'], { cwd: path });
    assert.equal(JSON.parse(stdout).budget.limit, 9);
  });
});

describe('a foreground runtime', { concurrency: 3 }, () => {
  it('serves the same commands, and ends with 0 on SIGTERM', async (t) => {
    const { path, url } = await portProject(t);
    const run = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: path });
    t.after(() => run.child.kill('SIGKILL'));
    await untilReady(url);

    const status = JSON.parse((await svc(['runtime', 'status', '--json'], { cwd: path })).stdout);
    assert.deepEqual([status.owner, status.pid], ['foreground', run.child.pid]);
    assert.equal((await svc(['runtime', 'reload'], { cwd: path })).code, 0);
    const restart = await svc(['runtime', 'restart', '--json'], { cwd: path });
    assert.deepEqual([restart.code, JSON.parse(restart.stdout).error.code], [1, 'no_restart_owner']);
    assert.match((await svc(['runtime', 'logs'], { cwd: path })).stdout, /worker up/);
    for (const args of [['--daemon'], ['--mode', 'production']]) {
      const second = await svc(['runtime', 'start', ...args], { cwd: path });
      assert.equal(second.code, 1);
      assert.match(second.stderr, new RegExp(`pid ${run.child.pid}, started by foreground`));
    }
    const config = `${path}/svc.config.yml`;
    writeFileSync(config, readFileSync(config, 'utf8').replace(/^http:/m, 'http:\n  base: /bot'));
    const reload = await svc(['runtime', 'reload'], { cwd: path });
    assert.match(reload.stderr, /cannot take in: http\.base\n.*stop it and start it again/);
    assert.doesNotMatch(reload.stderr, /svc runtime restart/, 'which is refused here');
    run.child.kill('SIGTERM');
    run.child.kill('SIGTERM');

    assert.equal((await run.ended).code, 0);
    assert.equal(JSON.parse(readFileSync(`${path}/.svc/worker.json`, 'utf8')).end.code, 0);
  });

  it('stops by command', async (t) => {
    const { path, url } = await portProject(t);
    const run = startSvc(['runtime', 'start'], { cwd: path });
    t.after(() => run.child.kill('SIGKILL'));
    await untilReady(url);

    assert.equal((await svc(['runtime', 'stop'], { cwd: path })).code, 0);

    assert.equal((await run.ended).code, 0);
  });

  it('starts again at once after SIGKILL, over stale sockets and records', async (t) => {
    const { path, url } = await portProject(t);
    const first = startSvc(['runtime', 'start', '--mode', 'production'], { cwd: path });
    await untilReady(url);
    first.child.kill('SIGKILL');
    await first.ended;

    const second = startSvc(['runtime', 'start', '--mode', 'production'], { cwd: path });
    t.after(() => second.child.kill('SIGKILL'));

    await untilReady(url);
    assert.equal(lives(second.child.pid ?? 0), true);
  });

  it('under systemd exits 51 for a restart, and leaves stopping to its owner', async (t) => {
    const { path, url } = await portProject(t);
    const run = startSvc(['runtime', 'start', '--mode', 'production'], {
      cwd: path,
      env: { INVOCATION_ID: 'x', NOTIFY_SOCKET: '/nonexistent' },
    });
    t.after(() => run.child.kill('SIGKILL'));
    await untilReady(url);

    const stop = await svc(['runtime', 'stop'], { cwd: path });
    assert.equal(stop.code, 1);
    assert.match(stop.stderr, /belongs to systemd[\s\S]*systemctl stop/);
    const restart = svc(['runtime', 'restart', '--timeout', '1'], { cwd: path });

    assert.equal((await run.ended).code, 51);
    assert.equal((await restart).code, 1);
  });

  it('refuses a state folder that others can read, before it touches anything', async (t) => {
    const { path, write, paths } = await portProject(t);
    write('.svc/kept', 'as it was');
    const { chmodSync } = await import('node:fs');
    chmodSync(paths.stateDir, 0o755);

    const { code, stderr } = await svc(['runtime', 'start', '--mode', 'production'], { cwd: path });

    assert.equal(code, 1);
    assert.match(stderr, /is open to others[\s\S]*chmod 0700/);
    assert.deepEqual(readdirSync(paths.stateDir), ['kept']);
  });

  it('ends with 78 and file, line and key for a wrong configuration', async (t) => {
    const { path, write } = temporaryProject(t);
    write('svc.config.yml', 'http:\n  port: many\n');

    const { code, stderr } = await svc(['runtime', 'start', '--mode', 'production'], { cwd: path });

    assert.equal(code, 78);
    assert.match(stderr, /svc\.config\.yml:2:3 http\.port must be an integer/);
  });
});
