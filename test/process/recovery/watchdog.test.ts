// Real workers that fall silent, under a real supervisor: what the report on them says, and what it must not hold.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { writeReport } from '../../../shared/log/report-folder.ts';
import { portProject, startSvc, supervisorStatus, svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

/** What a host has that says nothing of it: then the configuration here says nothing either. */
const DEFAULT_SECONDS = 15;
// The real number is that one: SVC_WATCHDOG_SECONDS.
// biome-ignore lint/style/noProcessEnv: a switch of the test run
const WATCHDOG_SECONDS = Number(process.env['SVC_WATCHDOG_SECONDS'] ?? 5);
/** For who comes back once there is a report, at 0.6 of it: a test that is told of that late has the rest. */
const RETURN_SECONDS = Math.max(30, WATCHDOG_SECONDS);
const PLANTED = `planted${randomBytes(16).toString('hex')}`;

/** Falls silent in the way that the file `block` in the project names, with a secret in every place of its stack. */
const BLOCKER = `import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'blocker', config: { key: t.secret() }, setup(p) {
  const key = p.config.key.reveal();
  let looks = 0; // turns of a host that is up: its other thread begins to look after it in one of them
  const timer = setInterval(() => {
    if (!existsSync('block') || (looks += 1) < 100) return;
    const kind = readFileSync('block', 'utf8');
    if (kind === '') return;
    rmSync('block');
    const named = { ['spin' + key](text, isOver) { let n = 0; do for (let m = 0; m < 1e7; m += 1) n += (text + m).length; while (!isOver()); return n; } };
    if (kind === 'loop') named['spin' + key](key, () => false);
    if (kind === 'while') named['spin' + key](key, () => existsSync('back'));
    if (kind === 'throw') throw new Error('thrown with ' + key);
    if (kind === 'system') execFileSync('sh', ['-c', 'sleep 60', key], { env: { PATH: process.env.PATH, KEY: key } });
  }, 20);
  timer.unref();
} });
`;

const silentProject = (t: TestContext, watchdogSeconds: number) =>
  portProject(t, {
    keys: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      plugins: { sandbox: {}, blocker: { use: './plugins/blocker.mjs', key: '${BLOCKER_KEY}' } },
      supervisor: { ...(watchdogSeconds === DEFAULT_SECONDS ? {} : { watchdogSeconds }), stopTimeoutSeconds: 3 },
    },
    env: { BLOCKER_KEY: PLANTED },
    plugins: { 'blocker.mjs': BLOCKER },
  });

async function silentHost(t: TestContext, watchdogSeconds = WATCHDOG_SECONDS) {
  const project = await silentProject(t, watchdogSeconds);
  const run = (...words: string[]) => svc(['runtime', ...words], { cwd: project.path });
  const status = async () => JSON.parse((await run('status', '--json')).stdout);
  const started = await run('start', '--daemon', '--json');
  assert.equal(started.code, 0, started.stderr);
  const { pid } = JSON.parse(started.stdout);
  return {
    project,
    run,
    status,
    pid: Number(pid),
    block: (kind: string) => writeFileSync(join(project.path, 'block'), kind),
    replaced: () =>
      until(async () => [await supervisorStatus(project)].find(({ exits, ready }) => exits.length > 0 && ready), {
        what: 'the next worker',
        everyMs: 50,
      }),
    /** On the first worker; a busy machine may leave one on the next worker, too. */
    reports: () =>
      readdirSync(project.paths.reportsDir)
        .filter((name) => name.endsWith('.json')) // one that is being written has another name
        .map((name) => ({ name, text: readFileSync(join(project.paths.reportsDir, name), 'utf8') }))
        .filter(({ text }) => JSON.parse(text).pid === Number(pid)),
  };
}

/** Lets a blocked one go on, once there is a report on it with its stack. */
async function comesBack({ path, paths }: { readonly path: string; readonly paths: { readonly reportsDir: string } }) {
  const isReported = (): boolean =>
    readdirSync(paths.reportsDir)
      .filter((name) => name.startsWith('blocked-'))
      .some((name) => readFileSync(join(paths.reportsDir, name), 'utf8').includes('"frames"'));
  await until(isReported, { what: 'a report' });
  writeFileSync(join(path, 'back'), '');
}

interface Frame {
  readonly function: string;
  readonly file: string;
  readonly line: number;
}

/** Of the first look that had an answer in time: on a busy machine one may have none. */
const framesOf = (samples: readonly { readonly frames?: readonly Frame[] }[]): readonly Frame[] =>
  samples.find(({ frames }) => frames !== undefined)?.frames ?? [];

function assertNoSecret(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile())
      assert.equal(readFileSync(join(entry.parentPath, entry.name), 'latin1').includes(PLANTED), false, entry.name);
}

describe('a worker that falls silent, or ends,', { concurrency: 2 }, () => {
  it('in a loop is replaced, and the report has its stack, without a secret of it', async (t) => {
    const host = await silentHost(t);

    host.block('loop');
    const { exits } = await host.replaced();

    assert.equal(exits[0]?.detail, `no heartbeat for ${WATCHDOG_SECONDS * 1_000} ms`);
    const [report, ...others] = host.reports();
    assert.equal(others.length, 0);
    assert.match(report?.name ?? '', /^hung-/);
    const { samples, kernel, pid, lastLines } = JSON.parse(report?.text ?? '');
    const frames = framesOf(samples);
    assert.match(frames[0]?.function ?? '', /^spin\[secret\]/);
    assert.match(frames[0]?.file ?? '', /plugins\/blocker\.mjs$/);
    assert.equal(frames[0]?.line, BLOCKER.slice(0, BLOCKER.indexOf('const named')).split('\n').length);
    assert.equal(pid, host.pid);
    assert.match(kernel.State, /^[A-Z] /); // mostly R; S while its stack is being taken
    assert.ok(lastLines.length > 0);
    assertNoSecret(host.project.paths.stateDir);
  });

  it('and comes back leaves a report, and a line in the log that names it', async (t) => {
    const host = await silentHost(t, RETURN_SECONDS);

    host.block('while');
    await comesBack(host.project);
    await until(() => readFileSync(host.project.paths.runtimeLog, 'utf8').includes('event loop was blocked'), {
      what: 'the line in the log',
    });

    assert.equal(host.reports().length, 1);
    await until(() => host.reports()[0]?.text.includes('"recovered"'), {
      what: 'the report to be ended',
    });
    const [report] = host.reports();
    assert.match(report?.name ?? '', /^blocked-/);
    assert.match(report?.text ?? '', /"function": "spin\[secret\]/);
    assert.equal((await host.status()).pid, host.pid);
    assertNoSecret(host.project.paths.stateDir);
  });

  it('by an error that nobody caught says why, without the secret in it', async (t) => {
    const host = await silentHost(t);

    host.block('throw');
    const { exits } = await host.replaced();

    assert.equal(exits[0]?.detail, 'uncaughtException: thrown with [secret]');
    assertNoSecret(host.project.paths.stateDir);
  });

  it('in a call of the system is replaced; the report says where it waits', async (t) => {
    const host = await silentHost(t);

    host.block('system');
    await host.replaced();

    const { kernel, samples } = JSON.parse(host.reports()[0]?.text ?? '');
    assert.match(kernel.State, /^S/);
    assert.equal(samples?.[0]?.frames, undefined);
    assertNoSecret(host.project.paths.stateDir);
  });

  it('by SIGSTOP is replaced; the report says that it was stopped', async (t) => {
    const host = await silentHost(t);

    process.kill(host.pid, 'SIGSTOP');
    await host.replaced();

    assert.match(JSON.parse(host.reports()[0]?.text ?? '').kernel.State, /^T/);
    assertNoSecret(host.project.paths.stateDir);
  });
});

describe('a worker without a supervisor that falls silent', () => {
  it('and comes back has left the report itself, without a secret, and said so on stdout', async (t) => {
    const project = await silentProject(t, RETURN_SECONDS);
    const host = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: project.path });
    t.after(() => void host.child.kill('SIGKILL'));
    await until(() => host.output().includes('"worker up"'), { what: 'the host' });

    writeFileSync(join(project.path, 'block'), 'while');
    await comesBack(project);
    await until(() => host.output().includes('event loop was blocked'), { what: 'the line' });
    const [name = '', ...others] = readdirSync(project.paths.reportsDir);
    await until(() => readFileSync(join(project.paths.reportsDir, name), 'utf8').includes('"recovered"'), {
      what: 'the report to be ended',
    });

    assert.deepEqual(others, []);
    assert.match(name, /^blocked-/);
    const { pid, samples } = JSON.parse(readFileSync(join(project.paths.reportsDir, name), 'utf8'));
    assert.equal(pid, host.child.pid);
    assert.match(framesOf(samples)[0]?.function ?? '', /^spin\[secret\]/);
    assertNoSecret(project.paths.stateDir);
    assert.equal(host.output().includes(PLANTED), false);
  });
});

describe('the folder of reports', () => {
  it('keeps ten, two MiB of them, and the newest whatever its size', (t) => {
    const folder = join(temporaryProject(t).path, 'reports');
    const sizeOf = (): number => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    for (let n = 10; n < 25; n += 1) writeReport(join(folder, `hung-${n}.json`), folder, { n });
    assert.equal(readdirSync(folder).length, 10);
    assert.equal(statSync(folder).mode & 0o777, 0o700);

    for (let n = 30; n < 36; n += 1) writeReport(join(folder, `hung-${n}.json`), folder, 'x'.repeat(700_000));
    assert.ok(sizeOf() <= 2 * 1024 * 1024);
    writeReport(join(folder, 'hung-40.json'), folder, 'y'.repeat(3_000_000));

    assert.deepEqual(readdirSync(folder), ['hung-40.json']);
  });
});
