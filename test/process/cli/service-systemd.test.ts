// `svc service --user` with a stand-in of systemctl: what is written, asked and answered. The same against a booted systemd is in test/kits/owners.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { WORKER_SOCKET } from '../../../shared/files/paths.ts';
import { readRelease, releaseFolder, writeRelease } from '../../../shared/recovery/release-record.ts';
import { userServiceName } from '../../../supervisor/cli/service/names.ts';
import { systemdService } from '../../../supervisor/cli/service/systemd.ts';
import { standInAt } from '../../support/commands/control-stand-in.ts';
import { releaseRecord } from '../../support/recovery/release-record.ts';
import { type StandIn, standIn } from '../../support/stand-in.ts';
import { type Ended, portProject, svc } from '../../support/svc-command.ts';
import type { Cleanup, TemporaryProject } from '../../support/temporary-project.ts';

const LINUX = { concurrency: 3, skip: process.platform === 'linux' ? false : 'systemd is of Linux' };

interface Machine {
  readonly project: TemporaryProject & { readonly port: number };
  readonly programs: StandIn;
  readonly name: string;
  readonly unit: string;
  /** `svc service … --user`. */
  run(...args: readonly string[]): Promise<Ended>;
  svc(...args: readonly string[]): Promise<Ended>;
}

async function machine(t: Cleanup): Promise<Machine> {
  const project = await portProject(t);
  const programs = standIn(project.path, ['systemctl', 'journalctl']);
  const name = userServiceName(project.path);
  const env = {
    HOME: project.path,
    PATH: `${programs.folder}:${process.env['PATH']}`,
    XDG_RUNTIME_DIR: project.path,
    USER: 'nobody-here',
  };
  told(programs, name, 'ActiveState=inactive\nMainPID=0\nUnitFileState=enabled\n');
  return {
    project,
    programs,
    name,
    unit: join(project.path, '.config/systemd/user', `${name}.service`),
    run: (...args) => svc(['service', ...args, '--user', '--project', project.path], { env }),
    svc: (...args) => svc([...args, '--project', project.path], { env }),
  };
}

const told = (programs: StandIn, name: string, stdout: string): void =>
  programs.answer(`systemctl --user show ${name}.service`, { stdout });

const changing = (calls: readonly string[]): readonly string[] =>
  calls.filter((call) => call.startsWith('systemctl') && !call.includes(' show '));

describe('svc service --user under systemd', LINUX, () => {
  it('writes service and socket for all to read, makes the two folders for itself, and enables both', async (t) => {
    const { run, unit, name, programs, project } = await machine(t);

    const { code, stdout, stderr } = await run('install');

    assert.equal(code, 0, stderr);
    assert.match(stdout, /next: svc service start --user/);
    const text = readFileSync(unit, 'utf8');
    assert.match(text, new RegExp(`^WorkingDirectory=${project.path}$`, 'm'));
    assert.match(text, /^ReadWritePaths=\S+\/\.svc \S+\/data$/m);
    assert.match(
      readFileSync(unit.replace('.service', '.socket'), 'utf8'),
      new RegExp(`^ListenStream=127\\.0\\.0\\.1:${project.port}$`, 'm'),
    );
    assert.equal(statSync(unit).mode & 0o777, 0o644);
    for (const folder of [project.paths.stateDir, project.paths.dataDir])
      assert.equal(statSync(folder).mode & 0o777, 0o700);
    assert.deepEqual(changing(programs.calls()), [
      'systemctl --user daemon-reload',
      `systemctl --user enable ${name}.socket ${name}.service`,
    ]);
  });

  it('writes nothing where no manager answers, and says what to do', async (t) => {
    const { run, unit, name, programs } = await machine(t);
    for (const words of ['systemctl', `systemctl --user show ${name}.service`])
      programs.answer(words, { code: 1, stderr: 'Failed to connect to bus: No medium found\n' });

    const { code, stderr } = await run('install');

    assert.equal(code, 1);
    assert.match(stderr, /Failed to connect to bus: No medium found\n.*loginctl enable-linger/);
    assert.equal(existsSync(unit), false);
  });

  it('holds no secret of the project', async (t) => {
    const { run, project } = await machine(t);

    const { stdout } = await run('install', '--print');

    assert.ok(stdout.includes('AssertFileNotEmpty='));
    assert.ok(!stdout.includes(project.token));
  });

  it('says that it is installed already, and shows what differs before it replaces it', async (t) => {
    const { run, unit } = await machine(t);
    await run('install');

    assert.match((await run('install')).stdout, /was installed already/);

    writeFileSync(unit, readFileSync(unit, 'utf8').replace('RestartSec=1', 'RestartSec=9'));
    const dry = await run('install', '--dry-run');
    assert.match(dry.stderr, /^-RestartSec=9$/m);
    assert.match(dry.stderr, /^\+RestartSec=1$/m);
    assert.match(readFileSync(unit, 'utf8'), /RestartSec=9/);
    assert.equal((await run('install')).code, 0);
    assert.match(readFileSync(unit, 'utf8'), /RestartSec=1/);
  });

  it('prints the files and writes nothing', async (t) => {
    const { run, unit, programs, project } = await machine(t);

    const { code, stdout } = await run('install', '--print');

    assert.equal(code, 0);
    assert.match(stdout, /^# .*\.service$/m);
    assert.match(stdout, /^# .*\.socket$/m);
    assert.equal(existsSync(unit), false);
    assert.equal(existsSync(project.paths.stateDir), false);
    assert.deepEqual(changing(programs.calls()), []);
  });

  it('starts and stops socket and service together, and clears a spent limit first', async (t) => {
    const { run, name, programs } = await machine(t);
    await run('install');
    programs.calls();

    assert.equal((await run('start')).code, 0);
    assert.deepEqual(changing(programs.calls()), [
      `systemctl --user reset-failed ${name}.socket ${name}.service`,
      `systemctl --user start ${name}.socket ${name}.service`,
    ]);
    assert.equal((await run('stop')).code, 0);
    assert.deepEqual(changing(programs.calls()), [`systemctl --user stop ${name}.socket ${name}.service`]);
  });

  it('ends a start that fails with 1, the words of systemctl and the last lines of the journal', async (t) => {
    const { run, programs } = await machine(t);
    await run('install');
    programs.answer('systemctl --user start', { code: 1, stderr: 'Job failed.\n' });
    programs.answer('journalctl', { stdout: 'svc.config.yml:2:3 http.port must be integer\n' });

    const { code, stderr } = await run('start');

    assert.equal(code, 1);
    assert.match(stderr, /Job failed/);
    assert.match(stderr, /http\.port must be integer/);
  });

  it('answers status with 3 where nothing is installed or runs, and with 1 while it is not ready', async (t) => {
    const { run, name, programs } = await machine(t);

    assert.equal((await run('status')).code, 3);
    await run('install');
    assert.equal((await run('status')).code, 3);
    told(programs, name, 'ActiveState=failed\nResult=start-limit-hit\nMainPID=0\nNRestarts=5\nUnitFileState=enabled\n');
    const failed = await run('status', '--json');
    assert.equal(failed.code, 3);
    assert.match(JSON.parse(failed.stdout).detail, /start-limit-hit.*5 times/);
    told(programs, name, 'ActiveState=activating\nSubState=auto-restart\nMainPID=0\nUnitFileState=enabled\n');
    assert.equal((await run('status')).code, 1);
  });

  it('ends start, stop and logs with 3 where nothing is installed', async (t) => {
    const { run } = await machine(t);

    for (const verb of ['start', 'stop', 'logs']) {
      const { code, stderr } = await run(verb);
      assert.equal(code, 3, verb);
      assert.match(stderr, /svc service install --user/);
    }
  });

  it('answers with 3, and what would be right, where the folder can have no system service', async (t) => {
    const project = await portProject(t);

    for (const verb of ['status', 'start', 'stop', 'logs', 'uninstall']) {
      const { code, stderr } = await svc(['service', verb, '--project', project.path]);
      assert.equal(code, 3, verb);
      assert.match(stderr, /not installed: .*\/srv\/svc\/<user>.*\n.*svc service install --user/);
    }
    assert.equal((await svc(['service', 'install', '--project', project.path])).code, 1);
  });

  it('is stopped and started by a release with --user, and refused where another unit runs the host', async (t) => {
    const { run, svc: command, programs, project, name } = await machine(t);
    await run('install');
    told(programs, name, 'ActiveState=active\nMainPID=4711\nUnitFileState=enabled\n');
    const running = { state: 'running', owner: 'systemd', ready: true, ownerStop: 'systemctl stop bot.service' };
    const worker = await standInAt(t, join(project.path, WORKER_SOCKET), { ...running, pid: 4712 });
    project.write('next/package.json', '{}');
    const begin = await command('release', 'begin', '--from', join(project.path, 'next'));
    worker.say({ ...running, pid: 4711 });
    const checked = { steps: ['begun', 'checked'], begunAt: Date.now(), owner: 'systemd', scope: 'user' } as const;
    writeRelease(project.path, releaseRecord(checked));
    mkdirSync(join(releaseFolder(project.path, 'r1'), 'previous')); // the code was exchanged: a stop and a start are left
    programs.calls();

    const start = await command('release', 'start');

    assert.equal(begin.code, 1);
    assert.match(
      begin.stderr,
      /pid 4712 is kept up by systemd, and by no service that svc has written\n +systemctl stop bot\.service, and take it out/,
    );
    assert.equal(start.code, 0, start.stderr);
    assert.deepEqual(changing(programs.calls()), [
      `systemctl --user stop ${name}.socket ${name}.service`,
      `systemctl --user reset-failed ${name}.socket ${name}.service`,
      `systemctl --user start ${name}.socket ${name}.service`,
    ]);
    assert.equal(readRelease(project.path, 'r1').state, 'started');
  });

  it('warns that the user does not linger', async (t) => {
    const { run } = await machine(t);

    assert.match((await run('install')).stderr, /nobody-here does not linger.*loginctl enable-linger nobody-here/s);
  });

  it('removes both units and leaves data, configuration and secrets', async (t) => {
    const { run, unit, name, programs, project } = await machine(t);
    await run('install');
    programs.calls();

    assert.equal((await run('uninstall')).code, 2);
    assert.equal((await run('uninstall', '--yes')).code, 0);

    assert.equal(changing(programs.calls())[0], `systemctl --user disable --now ${name}.socket ${name}.service`);
    assert.equal(existsSync(unit) || existsSync(unit.replace('.service', '.socket')), false);
    for (const kept of [project.paths.stateDir, project.paths.dataDir, project.paths.env, project.paths.config])
      assert.ok(existsSync(kept));
    assert.equal((await run('uninstall', '--yes')).code, 0);
  });

  it('is refused beside another owner, naming it', async (t) => {
    const { run, project } = await machine(t);
    const folder = join(project.path, '.config/systemd/user');
    mkdirSync(join(folder, 'default.target.wants'), { recursive: true });
    writeFileSync(join(folder, 'by-hand.service'), `[Service]\nWorkingDirectory=${project.path}\n`);
    writeFileSync(join(folder, 'default.target.wants/by-hand.service'), '');

    const { code, stderr } = await run('install');

    assert.equal(code, 1);
    assert.match(stderr, /systemd starts this project already, as by-hand\.service/);
    assert.match(stderr, /systemctl --user disable --now by-hand\.service/);
  });

  it('is the owner while it is enabled: a start beside it is refused with its name, and doctor knows it', async (t) => {
    const { run, project, name } = await machine(t);
    await run('install');
    const folder = join(project.path, '.config/systemd/user/default.target.wants');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.service`), '');
    const env = { HOME: project.path };

    for (const args of [['--daemon'], ['--mode', 'production', '--no-watch']]) {
      const { code, stderr } = await svc(['runtime', 'start', ...args, '--project', project.path], { env });
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`belongs to systemd, which starts it as ${name}\\.service`));
      assert.match(stderr, new RegExp(`systemctl --user start ${name}\\.service`));
    }
    const doctor = await svc(['doctor', '--only', 'owner.single', '--json', '--project', project.path], { env });
    assert.match(JSON.parse(doctor.stdout).checks[0].reason, new RegExp(`systemd \\(${name}\\.service\\)`));
  });

  it('makes two owners of a project that a daemon runs, which doctor calls an error', async (t) => {
    const { project } = await machine(t);
    assert.equal((await svc(['runtime', 'start', '--daemon', '--project', project.path])).code, 0);
    project.write('.pm2/dump.pm2', JSON.stringify([{ name: 'bot', pm_cwd: project.path }]));

    const { code, stdout } = await svc(['doctor', '--only', 'owner.single', '--json', '--project', project.path], {
      env: { HOME: project.path },
    });

    assert.equal(code, 1);
    assert.match(JSON.parse(stdout).checks[0].reason, /daemon \(pid \d+\).*pm2 \(bot\)/);
  });

  it('is refused where the database lies where its walls keep it from writing', async (t) => {
    const { run, project } = await machine(t);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    project.write(
      'svc.config.yml',
      'http: {token: "${HTTP_TOKEN}"}\ndatabase: {dialect: sqlite, filename: ../elsewhere.sqlite}\n',
    );

    const { code, stderr } = await run('install', '--print');

    assert.equal(code, 1);
    assert.match(stderr, /elsewhere\.sqlite, and a service writes to \.svc and data alone/);
  });

  it('tells another user what its owner was told of readiness', async (t) => {
    const { run, name, programs } = await machine(t);
    await run('install');
    told(programs, name, 'ActiveState=active\nMainPID=4711\nUnitFileState=enabled\nStatusText=ready, generation 3\n');
    assert.equal((await run('status')).code, 0);

    told(programs, name, 'ActiveState=active\nMainPID=4711\nUnitFileState=enabled\nStatusText=not ready: database\n');
    assert.equal((await run('status')).code, 1);
  });

  it('is refused where .env is missing, and with 78 where the configuration is invalid', async (t) => {
    const { run, project } = await machine(t);
    project.write('svc.config.yml', 'http: {port: wrong}\n');
    assert.equal((await run('install')).code, 78);
    rmSync(project.paths.env);
    const { code, stderr } = await run('install');
    assert.equal(code, 1);
    assert.match(stderr, /\.env is missing/);
  });
});

describe('a service of the system for a user who is not root', LINUX, () => {
  const NO = 'Failed to stop svc@alice.service: Interactive authentication required.';

  async function systemService(t: Cleanup) {
    const { path } = await portProject(t);
    const programs = standIn(path, ['systemctl', 'sudo']);
    const env = { PATH: `${programs.folder}:${process.env['PATH']}` };
    programs.answer('systemctl show', { stdout: 'ActiveState=active\nMainPID=7\n' });
    const render = () => assert.fail('nothing is written');
    const service = systemdService({ name: 'svc@alice', scope: 'system', env, render, units: path });
    return { service, programs, path };
  }
  const asked = ({ calls }: StandIn): readonly string[] => calls().filter((call) => !call.includes(' show '));

  it('is stopped by systemd alone where a rule of polkit allows it', async (t) => {
    const { service, programs } = await systemService(t);

    assert.equal(await service.denied(), undefined);
    await service.stop();

    assert.deepEqual(asked(programs), [
      'systemctl start svc@alice.service', // which runs
      'systemctl stop svc@alice.socket svc@alice.service',
    ]);
  });

  it('is stopped by sudo where a rule of sudo allows it (SYSTEMD-4)', async (t) => {
    const { service, programs } = await systemService(t);
    for (const verb of ['start', 'stop']) programs.answer(`systemctl ${verb}`, { code: 4, stderr: NO });

    assert.equal(await service.denied(), undefined);
    const judged = asked(programs);
    await service.stop();

    assert.deepEqual(judged.toSorted(), [
      'sudo -n -l systemctl reset-failed svc@alice.socket svc@alice.service',
      'sudo -n -l systemctl start svc@alice.socket svc@alice.service',
      'sudo -n -l systemctl stop svc@alice.socket svc@alice.service',
      'systemctl start svc@alice.service',
    ]);
    assert.deepEqual(asked(programs), [
      'systemctl stop svc@alice.socket svc@alice.service',
      'sudo -n systemctl stop svc@alice.socket svc@alice.service',
    ]);
  });

  it('is denied in the words of systemd where no rule allows it, and what sudo runs fails in its own', async (t) => {
    const { service, programs } = await systemService(t);
    for (const verb of ['start', 'stop']) programs.answer(`systemctl ${verb}`, { code: 4, stderr: NO });
    programs.answer('sudo', { code: 1, stderr: 'sudo: a password is required\n' });

    assert.equal(await service.denied(), NO);
    await assert.rejects(service.stop(), { code: 'refused', message: /Interactive auth/, hint: /polkit or of sudo/ });
    programs.answer('sudo -n systemctl stop', { code: 1, stderr: 'Job for svc@alice.service failed.\n' });
    await assert.rejects(service.stop(), { code: 'refused', message: /Job for svc@alice\.service failed/ });
  });

  it('is there where other tools have laid its template', async (t) => {
    const { service, programs, path } = await systemService(t);
    const before = service.isThere();
    writeFileSync(join(path, 'svc@.service'), '');

    assert.deepEqual([before, service.isThere(), service.isInstalled()], [false, true, false]);
    await service.stop();
    assert.deepEqual(asked(programs), ['systemctl stop svc@alice.service']); // systemd knows no socket of it
  });
});
