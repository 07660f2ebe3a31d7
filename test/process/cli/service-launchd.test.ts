// `svc service` as on a Mac, with a stand-in of launchctl that writes down how it was called. It was not run on macOS.
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { WORKER_SOCKET } from '../../../shared/files/paths.ts';
import { readRelease, releaseFolder, writeRelease } from '../../../shared/recovery/release-record.ts';
import { launchdLabel } from '../../../supervisor/cli/service/names.ts';
import { standInAt } from '../../support/commands/control-stand-in.ts';
import { type Dictionary, launchdFaults, parsePlist } from '../../support/owners/plist.ts';
import { releaseRecord } from '../../support/recovery/release-record.ts';
import { type StandIn, standIn } from '../../support/stand-in.ts';
import { type Ended, portProject, svc } from '../../support/svc-command.ts';
import type { Cleanup, TemporaryProject } from '../../support/temporary-project.ts';

const DARWIN = fileURLToPath(new URL('../../support/fixture-programs/pretends-darwin.mjs', import.meta.url));

interface Mac {
  readonly project: TemporaryProject;
  readonly launchctl: StandIn;
  readonly label: string;
  readonly target: string;
  readonly plist: string;
  /** `svc service`. */
  run(...args: readonly string[]): Promise<Ended>;
  svc(...args: readonly string[]): Promise<Ended>;
}

async function mac(t: Cleanup): Promise<Mac> {
  const project = await portProject(t);
  const launchctl = standIn(project.path, ['launchctl']);
  const label = launchdLabel(project.path);
  const target = `gui/${process.getuid?.()}/${label}`;
  launchctl.answer(`launchctl print ${target}`, { code: 113, stderr: 'Could not find service\n' });
  const env = {
    HOME: project.path,
    PATH: `${launchctl.folder}:${process.env['PATH']}`,
    NODE_OPTIONS: `--import ${DARWIN}`,
  };
  const run = (...args: readonly string[]): Promise<Ended> => svc([...args, '--project', project.path], { env });
  return {
    project,
    launchctl,
    label,
    target,
    plist: join(project.path, 'Library/LaunchAgents', `${label}.plist`),
    run: (...args) => run('service', ...args),
    svc: run,
  };
}

describe('svc service on macOS', { concurrency: 3 }, () => {
  it('installs an agent that launchd understands, and starts nothing', async (t) => {
    const { run, plist, launchctl, label } = await mac(t);

    const { code, stderr } = await run('install');

    assert.equal(code, 0, stderr);
    const agent = parsePlist(readFileSync(plist, 'utf8')) as Dictionary;
    assert.deepEqual(launchdFaults(agent), []);
    assert.equal(agent['Label'], label);
    assert.deepEqual(
      launchctl.calls().filter((call) => !call.startsWith('launchctl print')),
      [],
    );
  });

  it('is installed already the second time, and shows what differs after a change', async (t) => {
    const { run, plist, project, launchctl } = await mac(t);
    await run('install');
    const before = readFileSync(plist, 'utf8');
    launchctl.calls();

    const again = await run('install');
    assert.deepEqual([again.code, again.stderr], [0, '']);
    assert.match(again.stdout, /was installed already/);
    assert.equal(readFileSync(plist, 'utf8'), before);
    appendFileSync(project.paths.config, 'supervisor:\n  stopTimeoutSeconds: 20\n');
    const dry = await run('install', '--dry-run');
    assert.match(dry.stderr, /^-\t<integer>15<\/integer>\n\+\t<integer>27<\/integer>$/m);
    assert.equal(readFileSync(plist, 'utf8'), before);
    assert.match((await run('install')).stderr, /^\+\t<integer>27<\/integer>$/m);
    assert.match(readFileSync(plist, 'utf8'), /<integer>27<\/integer>/);
    assert.ok(launchctl.calls().every((call) => call.startsWith('launchctl print')));
  });

  it('is the owner once it is installed: a start beside it is refused with its name, and doctor knows it', async (t) => {
    const { run, project, label } = await mac(t);
    await run('install');
    const env = { HOME: project.path };

    for (const args of [['--daemon'], ['--mode', 'production', '--no-watch']]) {
      const { code, stderr } = await svc(['runtime', 'start', ...args, '--project', project.path], { env });
      assert.equal(code, 1);
      assert.match(
        stderr,
        new RegExp(`belongs to launchd, which starts it as ${label}[^]*launchctl bootout \\S+/${label}`),
      );
    }
    const doctor = await svc(['doctor', '--only', 'owner.single', '--json', '--project', project.path], { env });
    assert.match(JSON.parse(doctor.stdout).checks[0].reason, new RegExp(`launchd \\(${label}\\)`));
  });

  it('has its agent checked by a schema that catches a misspelt key', async (t) => {
    const { run } = await mac(t);
    const { stdout } = await run('install', '--print');

    assert.deepEqual(launchdFaults(parsePlist(stdout)), []);
    assert.deepEqual(launchdFaults(parsePlist(stdout.replace('ThrottleInterval', 'ThrotleInterval'))), [
      'ThrotleInterval is no key of launchd',
    ]);
    assert.deepEqual(launchdFaults(parsePlist(stdout.replace('SuccessfulExit', 'SucessfulExit'))), [
      'SucessfulExit is no key of launchd',
    ]);
    assert.deepEqual(launchdFaults(parsePlist(stdout.replace('<integer>10</integer>', '<string>10</string>'))), [
      'ThrottleInterval is not of the form integer',
    ]);
  });

  it('starts an agent that is not loaded with bootstrap, a loaded one with kickstart, and clears the restart window', async (t) => {
    const { run, plist, launchctl, project, target } = await mac(t);
    await run('install');
    launchctl.calls();
    writeFileSync(project.paths.restartWindow, '{}');

    assert.equal((await run('start')).code, 0);
    assert.ok(launchctl.calls().includes(`launchctl bootstrap gui/${process.getuid?.()} ${plist}`));
    assert.equal(existsSync(project.paths.restartWindow), false);

    launchctl.answer(`launchctl print ${target}`, { stdout: '\tstate = waiting\n\tlast exit code = 0\n' });
    assert.equal((await run('start')).code, 0);
    assert.ok(launchctl.calls().includes(`launchctl kickstart ${target}`));
  });

  it('stops with bootout, and only what is loaded', async (t) => {
    const { run, launchctl, target } = await mac(t);
    await run('install');
    launchctl.calls();

    const idle = await run('stop');
    assert.deepEqual([idle.code, idle.stdout.includes('was not running')], [0, true]);
    assert.ok(!launchctl.calls().some((call) => call.startsWith('launchctl bootout')));

    launchctl.answer(`launchctl print ${target}`, { stdout: '\tstate = running\n\tpid = 4711\n' });
    assert.equal((await run('stop')).code, 0);
    assert.ok(launchctl.calls().includes(`launchctl bootout ${target}`));
  });

  it('tells by its code what print says: 3 not installed or not running, 1 not ready', async (t) => {
    const { run, launchctl, target } = await mac(t);

    assert.equal((await run('status')).code, 3);
    await run('install');
    assert.equal((await run('status')).code, 3);

    launchctl.answer(`launchctl print ${target}`, { stdout: '\tstate = not running\n\tlast exit code = 78\n' });
    const ended = await run('status', '--json');
    assert.deepEqual([ended.code, JSON.parse(ended.stdout).running], [3, false], 'loaded, and it has ended');
    assert.match(ended.stdout, /last exit code 78/);
    launchctl.answer(`launchctl print ${target}`, { stdout: '\tstate = running\n\tpid = 4711\n' });
    const { code, stdout } = await run('status', '--json');
    assert.equal(code, 1);
    const { running, pid, ready } = JSON.parse(stdout);
    assert.deepEqual({ running, pid, ready }, { running: true, pid: 4711, ready: false });
  });

  it('is stopped and started by a release through its target, and refused where another agent runs the host', async (t) => {
    const { run, svc: command, launchctl, project, target } = await mac(t);
    await run('install');
    launchctl.answer(`launchctl print ${target}`, { stdout: '\tstate = running\n\tpid = 4711\n' });
    const running = { state: 'running', owner: 'launchd', ready: true, ownerStop: 'launchctl bootout gui/1/of.others' };
    const worker = await standInAt(t, join(project.path, WORKER_SOCKET), { ...running, pid: 4712 });
    project.write('next/package.json', '{}');
    const begin = await command('release', 'begin', '--from', join(project.path, 'next'));
    worker.say({ ...running, pid: 4711 });
    const checked = { steps: ['begun', 'checked'], begunAt: Date.now(), owner: 'launchd' } as const;
    writeRelease(project.path, releaseRecord(checked));
    mkdirSync(join(releaseFolder(project.path, 'r1'), 'previous')); // the code was exchanged: a stop and a start are left
    launchctl.calls();

    const start = await command('release', 'start');

    assert.equal(begin.code, 1);
    assert.match(
      begin.stderr,
      /pid 4712 is kept up by launchd, and by no service that svc has written\n +launchctl bootout/,
    );
    assert.equal(start.code, 0, start.stderr);
    const changing = launchctl.calls().filter((call) => !call.startsWith('launchctl print'));
    assert.deepEqual(changing, [`launchctl bootout ${target}`, `launchctl kickstart ${target}`]);
    assert.equal(readRelease(project.path, 'r1').state, 'started');
  });

  it('takes --user for wrong usage, with a hint', async (t) => {
    const { run } = await mac(t);

    for (const verb of ['install', 'uninstall', 'start', 'stop', 'status', 'logs']) {
      const { code, stderr } = await run(verb, '--user');
      assert.equal(code, 2, verb);
      assert.match(stderr, /without --user/);
    }
  });

  it('shows the file of its log', async (t) => {
    const { run, project } = await mac(t);
    await run('install');
    writeFileSync(project.paths.serviceLog, 'one\ntwo\nthree\n');

    assert.equal((await run('logs', '-n', '2')).stdout, 'two\nthree\n');
  });

  it('uninstalls agent and nothing else', async (t) => {
    const { run, plist, launchctl, target, project } = await mac(t);
    await run('install');
    launchctl.answer(`launchctl print ${target}`, { stdout: '\tstate = running\n' });
    launchctl.calls();

    assert.equal((await run('uninstall')).code, 2);
    assert.equal((await run('uninstall', '--yes')).code, 0);

    assert.ok(launchctl.calls().includes(`launchctl bootout ${target}`));
    assert.equal(existsSync(plist), false);
    assert.ok(existsSync(project.paths.stateDir) && existsSync(project.paths.env));
    assert.equal((await run('uninstall', '--yes')).code, 0);
  });

  it('ends with 1 and the words of launchctl where that refuses', async (t) => {
    const { run, launchctl } = await mac(t);
    await run('install');
    launchctl.answer('launchctl bootstrap', { code: 5, stderr: 'Bootstrap failed: 5: Input/output error\n' });

    const { code, stderr } = await run('start');

    assert.equal(code, 1);
    assert.match(stderr, /Bootstrap failed: 5/);
  });
});
