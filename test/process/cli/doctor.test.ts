// `svc doctor`: each check with its fixture, --fix and --edge.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DAMAGED_REMEDY } from '../../../shared/files/database-remedies.ts';
import { command } from '../../../supervisor/cli/commands/doctor.ts';
import type { Finding, Subject } from '../../../supervisor/cli/doctor/check.ts';
import { CHECKS } from '../../../supervisor/cli/doctor/checks.ts';
import { bindAddress, fileSystemFinding, worstOf } from '../../../supervisor/cli/doctor/state-checks.ts';
import { inRange } from '../../../supervisor/cli/doctor/version-range.ts';
import { askedAgain } from '../../support/commands/asked-again.ts';
import { runCommand } from '../../support/commands/command-context.ts';
import { CANNOT_BE_MADE, FIXTURES, good } from '../../support/commands/doctor-fixtures.ts';
import { loopDiskMissing } from '../../support/disk/loop-disk.ts';
import { smallDisk, smallDiskMissing, takeInodes } from '../../support/disk/small-disk.ts';
import { svcCopy } from '../../support/process/svc-copy.ts';
import { portProject, type StartedSvc, startProgram, startSvc, svc, untilReady } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const IS_ROOT = process.geteuid?.() === 0;
interface Check {
  readonly id: string;
  readonly status: string;
}

const EDGE_IDS = CHECKS.map(({ id }) => id).filter((id) => id.startsWith('edge.'));

describe('svc doctor', { concurrency: 3 }, () => {
  it('finds nothing wrong with a good project, and changes nothing', async (t) => {
    const project = await portProject(t);
    good(project);

    const { code, stdout } = await svc(['doctor', '--json'], { cwd: project.path });

    const report = JSON.parse(stdout);
    assert.deepEqual(
      report.checks.filter((check: { status: string }) => !['ok', 'skip'].includes(check.status)),
      [],
    );
    assert.deepEqual([code, report.ok], [0, true]);
  });

  it('leaves the files of a stopped host, and what a killed one has left, as they are (database.integrity)', async (t) => {
    const project = await portProject(t);
    const start = async (): Promise<StartedSvc> => {
      const run = startSvc(['runtime', 'start', '--mode', 'production'], { cwd: project.path });
      await untilReady(project.url);
      return run;
    };
    const check = async (): Promise<readonly unknown[]> => {
      const before = filesOf(project.paths.stateDir);
      const { stdout } = await svc(['doctor', '--only', 'database.integrity', '--json'], { cwd: project.path });
      return [JSON.parse(stdout).checks[0].status, filesOf(project.paths.stateDir), before];
    };
    const stopped = await start();
    stopped.child.kill('SIGTERM');
    await stopped.ended;
    const [statusStopped, afterStop, beforeStop] = await check();
    const killed = await start();
    killed.child.kill('SIGKILL');
    await killed.ended;
    const [statusKilled, afterKill, beforeKill] = await check();

    assert.deepEqual([statusStopped, statusKilled], ['ok', 'ok']);
    assert.deepEqual(afterStop, beforeStop);
    assert.deepEqual(afterKill, beforeKill);
    assert.equal(existsSync(join(project.paths.stateDir, 'data.sqlite-wal')), true, 'a killed host leaves its log');
  });

  it('tells packages that do not load from a damaged database (node.modules)', async (t) => {
    const project = await portProject(t);
    const copy = svcCopy(t);
    await FIXTURES['database.schema']?.(project, t);
    copy.break('of three bytes');

    const args = ['doctor', '--only', 'node.modules,database.integrity', '--json'];
    const { stdout } = await startProgram(copy.cli, args, { cwd: project.path }).ended;

    const fix = `run npm ci in ${copy.folder}`;
    assert.deepEqual(
      JSON.parse(stdout).checks.map((one: Finding) => [one.status, one.reason.endsWith('(3 bytes)'), one.fix]),
      [
        ['error', true, fix],
        ['error', true, fix],
      ],
    );
  });

  it('finds the database of another project folder than the one it stands in (database.integrity, database.schema)', async (t) => {
    const project = await portProject(t);
    await FIXTURES['database.integrity']?.(project, t);

    const { stdout } = await svc(
      ['doctor', '--project', project.path, '--only', 'database.integrity,database.schema', '--json'],
      { cwd: project.paths.stateDir },
    );

    const { checks } = JSON.parse(stdout) as { readonly checks: readonly { status: string; fix: string }[] };
    assert.deepEqual(
      checks.map(({ status, fix }) => [status, fix]),
      [
        ['error', DAMAGED_REMEDY],
        ['error', DAMAGED_REMEDY],
      ],
    );
  });

  it('lists every check, those of a proxy too', async () => {
    const { stdout } = await svc(['doctor', '--list', '--json']);

    assert.deepEqual(
      JSON.parse(stdout).map(({ id }: { id: string }) => id),
      CHECKS.map(({ id }) => id),
    );
  });

  for (const [id, break_] of Object.entries(FIXTURES)) {
    const skip = CANNOT_BE_MADE[id]?.() ?? false;
    it(`${id} fails where it should, with a reason and what mends it`, { skip }, async (t) => {
      const project = await portProject(t);
      good(project);
      const { args = [], env = {} } = (await break_(project, t)) ?? {};

      const options = { cwd: project.path, env: { HOME: '/nonexistent', ...env } };
      const finding = async () => {
        const { code: end, document } = await runCommand(command, ['--only', id, '--strict', ...args], options);
        return (document as { readonly checks: readonly Finding[] }).checks
          .map((one) => ({ ...one, end }))
          .find(({ status }) => status !== 'ok');
      };
      // An account that finds nobody tries anew now and then: it is well for that moment.
      const check = await until(finding, { what: 'a finding', everyMs: 100 });

      assert.match(check.status, /^(warn|error)$/, check.reason);
      assert.notEqual(check.fix, undefined);
      assert.equal(check.end, 1);
    });
  }

  it('looks at .env also where its quotes are what makes the configuration invalid (env.format)', async (t) => {
    const project = temporaryProject(t);
    writeFileSync(project.paths.env, 'HTTP_TOKEN="quoted and # more"\n', { mode: 0o600 });
    const check = CHECKS.find(({ id }) => id === 'env.format');

    const finding = await check?.run({ paths: project.paths, config: { fault: 'invalid' } } as Subject);

    assert.equal(finding?.status, 'warn');
    assert.match(
      finding.reason,
      /^\.env:1:1 other tools may read this line differently: write NAME=value without quotes/,
    );
    assert.equal(finding.reason.includes('quoted and'), false, 'no value is shown');
  });

  it('calls Node 20 an error where the project wants a newer one, and not where it does not', () => {
    assert.deepEqual(
      ['>=22.12.0', '^20.19.0 || >=22.12.0', '>=20', '20.x', '^22', '~20.20', '<20', '>= 20.19.0 <21'].map((range) =>
        inRange('20.20.2', range),
      ),
      [false, true, true, true, false, true, false, true],
    );
    assert.equal(inRange('20.20.2', 'lts/*'), undefined);
  });

  it('calls a network file system an error (state.filesystem)', () => {
    assert.deepEqual(
      [0x6969, 0x65735546, 0xef53].map((type) => fileSystemFinding(type).status),
      ['error', 'warn', 'ok'],
    );
  });

  it('looks where the database lies, too, and says which of the two is the worse (state.filesystem)', () => {
    const [local, fuse, nfs] = [0xef53, 0x65735546, 0x6969].map((type) =>
      fileSystemFinding(type, 4_096, type === 0xef53 ? 'the project' : 'the database'),
    );
    assert.ok(local && fuse && nfs);

    assert.deepEqual(
      [worstOf([local, nfs]), worstOf([local, fuse]), worstOf([fuse, nfs]), worstOf([local, local])],
      [nfs, fuse, nfs, local],
    );
    assert.match(nfs.reason, /^the database lies on NFS/);
  });

  it('warns of a file system on which a full disk ends the worker (state.filesystem)', () => {
    assert.deepEqual(
      [fileSystemFinding(0x9123683e, 4_096), fileSystemFinding(0xef53, 1_024), fileSystemFinding(0xef53, 4_096)].map(
        ({ status }) => status,
      ),
      ['warn', 'warn', 'ok'],
    );
  });

  it('calls a project an error in which .svc cannot be made (state.folder)', {
    skip: IS_ROOT && loopDiskMissing(),
  }, async (t) => {
    const { path } = await portProject(t);
    if (IS_ROOT) {
      execFileSync('mount', ['--bind', path, path]);
      execFileSync('mount', ['-o', 'remount,ro,bind', path]);
    } else chmodSync(path, 0o500);

    const { code, stdout } = await svc(['doctor', '--only', 'state.folder', '--json'], { cwd: path }).finally(() =>
      IS_ROOT ? execFileSync('umount', ['-l', path]) : chmodSync(path, 0o700),
    );

    const [check] = JSON.parse(stdout).checks;
    assert.deepEqual([code, check.status], [1, 'error']);
    assert.match(check.reason, /cannot be made: (EROFS|EACCES)/);
  });

  it('asks for space where the database lies (state.space)', { skip: smallDiskMissing() }, async (t) => {
    const project = await portProject(t);
    const elsewhere = join(project.path, 'elsewhere');
    smallDisk(t, elsewhere, { kilobytes: 2_048 });
    const check = async (filename: string) => {
      project.write(
        'svc.config.yml',
        `http:\n  token: \${HTTP_TOKEN}\ndatabase:\n  filename: ${filename}\ndisk:\n  minFreeBytes: ${4 * 1024 * 1024}\n`,
      );
      const { stdout } = await svc(['doctor', '--only', 'state.space', '--json'], { cwd: project.path });
      return JSON.parse(stdout).checks[0];
    };

    const [far, near] = [await check('elsewhere/not-made-yet/data.sqlite'), await check('.svc/data.sqlite')];

    assert.match(far.reason, /^[0-2] MiB free where the database lies, under disk\.minFreeBytes/);
    assert.deepEqual([far.status, near.reason.includes('under')], ['error', false]);
  });

  it('counts inodes, too (state.space)', { skip: smallDiskMissing() }, async (t) => {
    const project = await portProject(t);
    smallDisk(t, project.paths.stateDir, { kilobytes: 2_048, inodes: 8 });
    takeInodes(project.paths.stateDir);

    const { document } = await runCommand(command, ['--only', 'state.space'], { cwd: project.path });

    const [check] = (document as { readonly checks: readonly Finding[] }).checks;
    assert.equal(check?.status, 'error');
    assert.match(check.reason, /^0 of 8 inodes are free/);
  });

  it('warns of every address outside a container (http.bind)', () => {
    const judged = [
      bindAddress('0.0.0.0', false),
      bindAddress('::', false),
      bindAddress('0:0:0:0:0:0:0:0', false),
      bindAddress('0.0.0.0', true),
      bindAddress('127.0.0.1', false),
    ];

    assert.deepEqual(
      judged.map(({ status }) => status),
      ['warn', 'warn', 'warn', 'ok', 'ok'],
    );
  });

  it('lets warnings pass unless --strict, and leaves out what is skipped', async (t) => {
    const project = await portProject(t);
    await FIXTURES['package.scripts']?.(project, t);
    const run = async (...args: string[]) => {
      const { code, stdout } = await svc(['doctor', ...args], { cwd: project.path });
      return [code, /^(\d+ errors?, \d+ warnings?), /m.exec(stdout)?.[1]];
    };

    assert.deepEqual(
      [await run(), await run('--strict'), await run('--strict', '--skip', 'package.scripts')],
      [
        [0, '0 errors, 1 warning'],
        [1, '0 errors, 1 warning'],
        [0, '0 errors, 0 warnings'],
      ],
    );
  });
});

describe('svc doctor --fix', { concurrency: 3 }, () => {
  it('lists what it would mend, and mends nothing without a yes', async (t) => {
    const project = await portProject(t);
    good(project);
    chmodSync(project.paths.env, 0o640);

    const { code, stderr } = await svc(['doctor', '--fix'], { cwd: project.path });

    assert.equal(code, 1);
    assert.match(stderr, /would mend env\.rights: chmod 600 \.env/);
    assert.match(stderr, /--yes/);
    assert.equal(statSync(project.paths.env).mode & 0o777, 0o640);
  });

  it('mends rights of .env and .svc, and nothing else', async (t) => {
    const project = await portProject(t);
    good(project);
    chmodSync(project.paths.env, 0o644);
    project.write('.svc/x', '');
    chmodSync(project.paths.stateDir, 0o755);
    rmSync(project.paths.lockfile);

    const { code, stdout } = await svc(['doctor', '--fix', '--yes', '--json'], { cwd: project.path });

    const report = JSON.parse(stdout);
    assert.deepEqual(report.fixed, ['env.rights', 'state.folder']);
    assert.deepEqual(
      report.checks.filter((check: { status: string }) => check.status === 'error').map(({ id }: { id: string }) => id),
      ['package.lockfile'],
    );
    assert.equal(code, 1);
    assert.equal(statSync(project.paths.env).mode & 0o777, 0o600);
    assert.equal(statSync(project.paths.stateDir).mode & 0o777, 0o700);
  });
});

describe('svc doctor --edge', { concurrency: 3 }, () => {
  it('finds nothing wrong with a host that answers by itself, with the project’s own token', async (t) => {
    const project = await portProject(t);
    const started = await svc(['runtime', 'start', '--daemon'], { cwd: project.path });
    assert.equal(started.code, 0, started.stderr);

    const args = ['doctor', '--edge', project.url, '--idle', '1', '--only', EDGE_IDS.join(','), '--json'];
    const checks = await askedAgain(
      async () => JSON.parse((await svc(args, { cwd: project.path })).stdout).checks as readonly Check[],
      (found) => found.every(({ status }) => status === 'ok'),
    );

    assert.deepEqual(
      checks.map(({ id, status }) => `${id} ${status}`),
      EDGE_IDS.map((id) => `${id} ok`),
    );
  });

  it('asks nothing over plain HTTP of another machine', async (t) => {
    const project = await portProject(t);

    const { code, stdout } = await svc(['doctor', '--edge', 'http://192.0.2.1', '--only', 'edge.auth', '--json'], {
      cwd: project.path,
    });

    assert.equal(code, 1);
    assert.match(JSON.parse(stdout).checks[0].reason, /in the clear/);
  });
});

/** Contents by name; a file of shared memory by its presence alone, since each reader leaves its mark there. */
function filesOf(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = files.map(({ name }) => [
    name,
    name.endsWith('-shm') ? '' : readFileSync(join(folder, name)).toString('base64'),
  ]);
  return Object.fromEntries(contents);
}
