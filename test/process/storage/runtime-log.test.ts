// .svc/runtime.log under a real supervisor and real workers: rotations, full disks, hosts that move it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { limitFiles } from '../../support/disk/limit-files.ts';
import { LoopDisk, loopDiskMissing } from '../../support/disk/loop-disk.ts';
import { fillDisk, smallDisk, smallDiskMissing } from '../../support/disk/small-disk.ts';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import { type Supervised } from '../../support/process/supervised.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const WORKERS = [
  'talks-a-lot',
  'logs-on-demand',
  'blocks-for-a-while',
  'aborts-after-rotation',
  'crashes-until-mended',
];
const noSmallDisk = smallDiskMissing();
const supervise = overWorkers<string>(WORKERS);

const entriesOf = (text: string): readonly Readonly<Record<string, unknown>>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Files of the log, the oldest first. */
const logFiles = ({ project }: Supervised): readonly string[] =>
  readdirSync(project.paths.stateDir)
    .filter((name) => /^runtime\.log(\.\d+)?$/.test(name))
    .sort((a, b) => Number(b.split('.')[2] ?? 0) - Number(a.split('.')[2] ?? 0));

const allEntries = (run: Supervised) => logFiles(run).flatMap((name) => entriesOf(run.project.read(`.svc/${name}`)));

const numbersOf = (entries: readonly Readonly<Record<string, unknown>>[]) =>
  entries.map(({ n }) => n).filter((n) => n !== undefined);

const oneTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('rotation of the runtime log', () => {
  it('loses and tears no line at full speed, 20 times', async (t) => {
    // None goes, however much is said until a busy machine looks.
    const run = supervise(t, 'talks-a-lot', { settings: { logBytes: 1_000_000, logFiles: 1_000 } });
    await run.state('running');
    await until(() => existsSync(`${run.project.paths.runtimeLog}.20`), { what: '20 rotations' });

    await run.call('stop');
    await run.ended;

    const entries = allEntries(run);
    const numbers = numbersOf(entries);
    assert.deepEqual(numbers, oneTo(numbers.length));
    assert.ok(entries.filter(({ msg }) => msg === 'log rotated').length >= 20);
  });

  it('keeps as many files as it is told to', async (t) => {
    const run = supervise(t, 'talks-a-lot', { settings: { logBytes: 200_000, logFiles: 3 } });
    await run.state('running');
    await until(
      () => (run.log().match(/log rotated/g) ?? []).length > 0 && existsSync(`${run.project.paths.runtimeLog}.2`),
      {
        what: 'rotations',
      },
    );

    await run.call('stop');
    await run.ended;

    assert.deepEqual(
      readdirSync(run.project.paths.stateDir)
        .filter((name) => name.startsWith('runtime.log'))
        .sort(),
      ['runtime.log', 'runtime.log.1', 'runtime.log.2'],
    );
  });

  it('is done while no worker is there; the next one writes to the new file', async (t) => {
    const run = supervise(t, 'crashes-until-mended', { settings: { logBytes: 100_000, delaysMs: [60_000, 60_000] } });
    await run.state('backing_off');
    appendFileSync(run.project.paths.runtimeLog, `${JSON.stringify({ msg: 'x'.repeat(200_000) })}\n`);
    await until(() => existsSync(`${run.project.paths.runtimeLog}.1`), { what: 'the rotation' });

    run.project.write('mended', '');
    await run.call('restart');
    await run.state('running');

    assert.match(run.log(), /worker started/);
    assert.doesNotMatch(run.log(), /xxxx/);
  });

  it('is done while the worker is blocked, which writes to the new file once it can', async (t) => {
    const run = supervise(t, 'blocks-for-a-while', { settings: { logBytes: 100_000, watchdogMs: 60_000 } });
    await until(() => run.log().includes('blocked from here'), { what: 'a blocked worker' });
    appendFileSync(run.project.paths.runtimeLog, `${JSON.stringify({ msg: 'x'.repeat(200_000) })}\n`);
    await until(() => run.log().includes('log rotated'), { what: 'the rotation' });

    run.project.write('go-on', '');

    await until(() => run.log().includes('goes on'), { what: 'a line in the new file' });
    assert.match(run.project.read('.svc/runtime.log.1'), /blocked up to here/);
  });

  it('keeps the last words that Node itself wrote to the file of before (RUNTIME-LOG-3)', async (t) => {
    const run = supervise(t, 'aborts-after-rotation', { settings: { logBytes: 64_000, logFiles: 1, restarts: 1 } });

    const status = await run.state('failed');

    assert.equal(status.exits[0]?.signal, 'SIGABRT');
    assert.deepEqual(status.exits[0]?.lastLines.slice(-2), ['FATAL ERROR: planted last words', 'with a second line']);
    assert.match(status.exits[0]?.lastLines.at(-3) ?? '', /after the rotation/);
    assert.deepEqual(
      readdirSync(run.project.paths.stateDir).filter((name) => /^runtime\.log./.test(name)),
      [],
    );
  });

  for (const [how, signalled] of [
    ['by signal to the supervisor', true],
    ['without a word', false],
  ] as const) {
    it(`follows a host that moves the file ${how}`, async (t) => {
      const run = supervise(t, 'logs-on-demand');
      await run.state('running');
      const { runtimeLog } = run.project.paths;
      let complaint = '';
      run.child.stderr?.on('data', (text) => {
        complaint += String(text);
      });
      renameSync(runtimeLog, `${runtimeLog}.moved`);

      if (signalled) process.kill(run.child.pid ?? 0, 'SIGUSR1');
      await until(() => existsSync(runtimeLog), { what: 'the new file' });

      await until(
        () => {
          run.project.write('talk', '1');
          return numbersOf(entriesOf(run.log())).length > 0;
        },
        { what: 'a line of the worker in the new file', everyMs: 50 },
      );
      assert.equal(complaint, '', 'Node opens no inspector');
      const numbers = numbersOf(['.moved', ''].flatMap((end) => entriesOf(readFileSync(runtimeLog + end, 'utf8'))));
      assert.deepEqual(numbers, oneTo(numbers.length));
    });
  }
});

/** A project whose state folder is a small disk. */
function onSmallDisk(t: TestContext, disk: { readonly kilobytes: number; readonly inodes?: number }) {
  const project = temporaryProject(t);
  mkdirSync(project.paths.stateDir, { mode: 0o700 });
  smallDisk(t, project.paths.stateDir, disk);
  return project;
}

describe('a state folder that takes no writes', { skip: noSmallDisk }, () => {
  it('ends nobody when it is full, through 10,000 lines and a restart, and is told in the log afterwards', async (t) => {
    const project = onSmallDisk(t, { kilobytes: 512 });
    const run = supervise(t, 'logs-on-demand', { project, settings: { watchdogMs: 15_000, stopMs: 8_000 } });
    const first = await run.state('running');
    const filler = `${project.paths.stateDir}/filler`;
    fillDisk(filler);
    const record = project.read('.svc/supervisor.json');

    project.write('talk', '10000');
    await until(() => !existsSync(`${project.path}/talk`), { what: 'the lines to be written' });
    assert.equal((await run.state('running')).pid, first.pid);
    await run.call('restart');
    const second = await until(
      async () => {
        const now = await run.status();
        return now.state === 'running' && now.pid !== first.pid && now.ready ? now : undefined;
      },
      { what: 'the next worker' },
    );
    assert.deepEqual([second.exits[0]?.code, second.exits[0]?.reason], [51, 'restart_requested']);
    assert.match(second.notes.join(), /the record could not be written/);
    assert.equal(project.read('.svc/supervisor.json'), record);
    project.write('talk', '10');
    await until(() => !existsSync(`${project.path}/talk`), { what: 'ten more lines' });
    rmSync(filler);

    const told = ['log lines came late', 'log lines were lost', `"run":${second.pid},"n":10`];
    await until(() => told.every((text) => run.log().includes(text)), { what: 'what waited, and what is told of it' });
    const entries = entriesOf(run.log());
    const lost = entries.find(({ msg }) => msg === 'log lines were lost');
    const numbers = (pid: unknown) => numbersOf(entries.filter((entry) => entry['run'] === pid));
    assert.equal(numbers(first.pid).length + Number(lost?.['lostLines']), 10_000);
    assert.equal(lost?.['reason'], 'ENOSPC');
    assert.ok(Date.parse(String(lost?.['from'])) <= Date.parse(String(lost?.['to'])));
    assert.deepEqual(numbers(second.pid), oneTo(10));
    assert.equal(entries.filter(({ msg }) => msg === 'log lines were lost').length, 1);
    await run.call('stop');
    assert.equal((await run.ended).code, 0);
    assert.equal(JSON.parse(project.read('.svc/supervisor.json')).state, 'stopped');
  });

  it('holds up no rotation for ever when it has no inodes, and is told once', async (t) => {
    const project = onSmallDisk(t, { kilobytes: 16_384, inodes: 32 });
    const run = supervise(t, 'logs-on-demand', { project, settings: { logBytes: 100_000 } });
    await run.state('running');
    const files = takeInodes(project.paths.stateDir);
    project.write('talk', '1000');
    await until(() => run.log().includes('cannot be rotated'), { what: 'the fault to be told' });
    project.write('talk', '1000');
    await until(() => numbersOf(entriesOf(run.log())).length === 2_000, { what: 'more lines in the same file' });

    for (const file of files) rmSync(file);

    await until(() => existsSync(`${project.paths.runtimeLog}.1`), { what: 'the rotation' });
    assert.equal(allEntries(run).filter(({ msg }) => String(msg).includes('cannot be rotated')).length, 1);
    assert.deepEqual(numbersOf(allEntries(run)), oneTo(2_000));
  });
});

describe('a log that cannot be rotated', () => {
  const noLoopDisk = loopDiskMissing();
  const noLimits = spawnSync('prlimit', ['--version']).status !== 0 && 'there is no prlimit here';

  for (const [what, missing, begin, end] of [
    [
      'its folder is read-only',
      noLoopDisk,
      (run: Supervised) => chattr('+i', run),
      (run: Supervised) => chattr('-i', run),
    ],
    [
      'its folder is mounted read-only',
      noSmallDisk,
      ({ project }: Supervised) => mountReadOnly(project.paths.stateDir),
      ({ project }: Supervised) => unmount(project.paths.stateDir),
    ],
    [
      'its supervisor has no file descriptor left (EMFILE)',
      noLimits,
      (run: Supervised) => limitFiles(run, 3),
      (run: Supervised) => limitFiles(run, 1_024),
    ],
  ] as const) {
    it(`goes on in the same file, which is told once, while ${what}`, { skip: missing }, async (t) => {
      const project = temporaryProject(t);
      if (noLoopDisk === false) void new LoopDisk(t, project.paths.stateDir, 16);
      const run = supervise(t, 'logs-on-demand', { project, settings: { logBytes: 100_000 } });
      await run.state('running');

      begin(run);
      project.write('talk', '1000');
      await until(() => run.log().includes('cannot be rotated'), { what: 'the fault to be told' });
      project.write('talk', '1000');
      await until(() => numbersOf(entriesOf(run.log())).length === 2_000, { what: 'more lines in the same file' });
      end(run);

      await until(() => existsSync(`${project.paths.runtimeLog}.1`), { what: 'the rotation' });
      assert.equal((await run.status()).state, 'running');
      assert.equal(allEntries(run).filter(({ msg }) => String(msg).includes('cannot be rotated')).length, 1);
      assert.deepEqual(numbersOf(allEntries(run)), oneTo(2_000));
    });
  }
});

/** Over itself: what is open for writing stays so, nothing else can be written. */
const mountReadOnly = (folder: string): void =>
  void execFileSync('sh', ['-c', 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"', 'sh', folder]);

const unmount = (folder: string): void => void execFileSync('umount', [folder]);

const chattr = (flag: string, { project }: Supervised): void =>
  void execFileSync('sh', ['-c', 'chattr "$1" "$2"', 'sh', flag, project.paths.stateDir]);

function takeInodes(folder: string): readonly string[] {
  const files: string[] = [];
  try {
    for (let n = 0; ; n += 1) {
      appendFileSync(`${folder}/inode-${n}`, '');
      files.push(`${folder}/inode-${n}`);
    }
  } catch {
    return files;
  }
}
