// `start --daemon` and the world it comes from: a terminal that goes away, a state folder that cannot be used.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CLI, type Ended, portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const noTerminal = spawnSync('script', ['--version']).status !== 0 && 'script, which makes terminals, is not there';

describe('a daemon', { concurrency: 3 }, () => {
  it('goes on when the terminal that it was started from hangs up', { skip: noTerminal }, async (t) => {
    const project = await portProject(t);
    // The shell ends with its terminal, as a window that is closed; everything that belongs to it gets SIGHUP.
    const command = `'${process.execPath}' '${CLI}' runtime start --daemon --timeout 120 --json >started; kill -HUP 0`;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { cwd: project.path, stdio: 'ignore' });
    await new Promise((resolve) => terminal.once('close', resolve));
    const { pid, supervisorPid } = JSON.parse(project.read('started'));

    const status = JSON.parse((await svc(['runtime', 'status', '--json'], { cwd: project.path })).stdout);
    assert.deepEqual([status.state, status.pid, status.supervisorPid], ['running', pid, supervisorPid]);
    for (const each of [pid, supervisorPid]) {
      const [, , , session, tty] = statOf(each);
      assert.deepEqual([session, tty], [String(each), '0'], 'a session of its own, without a terminal');
    }
    process.kill(supervisorPid, 'SIGHUP');
    assert.equal((await svc(['runtime', 'restart'], { cwd: project.path })).code, 0);
  });

  it('is refused, and leaves no supervisor, beside a worker in the foreground that it sees only when it looks', async (t) => {
    const { path, paths } = await portProject(t);
    const { child } = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: path });
    const ofWorker = (): Promise<Ended> => svc(['runtime', 'status', '--json'], { cwd: path });
    await until(async () => (await ofWorker()).code === 0, { what: 'the foreground to be ready' });
    // As at a moment when it holds the project and does not answer yet.
    renameSync(`${paths.stateDir}/worker.sock`, `${paths.stateDir}/aside.sock`);

    const { code, stderr } = await svc(['runtime', 'start', '--daemon'], { cwd: path });

    assert.deepEqual(
      [code, /already running as pid (\d+), started by foreground/.exec(stderr)?.[1]],
      [1, `${child.pid}`],
    );
    renameSync(`${paths.stateDir}/aside.sock`, `${paths.stateDir}/worker.sock`);
    assert.equal(JSON.parse((await ofWorker()).stdout).owner, 'foreground', 'no supervisor answers for it');
  });

  for (const [what, spoil, cause] of [
    [
      'its control socket cannot be made',
      (stateDir: string) => mkdirSync(join(stateDir, 'control.sock', 'x'), { recursive: true, mode: 0o700 }),
      /control\.sock/,
    ],
    [
      'a file has the place of its control socket',
      (stateDir: string) => {
        mkdirSync(stateDir, { mode: 0o700 });
        writeFileSync(join(stateDir, 'control.sock'), 'kept');
      },
      /control\.sock is in the way: it is no socket \(move it away; svc makes its own\)/,
    ],
    ['its state folder is no folder', (stateDir: string) => writeFileSync(stateDir, ''), /\.svc is not a folder/],
  ] as const)
    it(`says the cause, with 1, where it cannot start: ${what}`, async (t) => {
      const { path, paths } = await portProject(t);
      spoil(paths.stateDir);

      const { code, stdout, stderr } = await svc(['runtime', 'start', '--daemon'], { cwd: path });

      assert.equal(code, 1);
      assert.match(stdout + stderr, cause);
      assert.doesNotMatch(stdout + stderr, /^\s+at /m, 'no stack');
      assert.equal((await svc(['runtime', 'status'], { cwd: path })).code, 3);
    });
});

const OWN = `import { appendFileSync } from 'node:fs';
import { definePlugin, t } from 'svc';
appendFileSync('loads', 'x');
export default definePlugin({ name: 'own',
  config: { region: t.optional(t.string()), key: t.optional(t.secret()) },
  setup(p) {
    p.resource('seen', async () => appendFileSync('seen', JSON.stringify([process.env.OWN_REGION, process.env.OWN_WORD])), () => {});
  } });
`;

describe("a project's own plugin", { concurrency: 3 }, () => {
  const own = (keys: Readonly<Record<string, unknown>> = {}) => ({
    keys: { plugins: { own: { use: './plugins/own.js', ...keys } } },
    plugins: { 'own.js': OWN },
  });

  it('is loaded once for a daemon, by its worker', async (t) => {
    const { path, read } = await portProject(t, own());

    const { code, stderr } = await svc(['runtime', 'start', '--daemon'], { cwd: path });

    assert.equal(code, 0, stderr);
    assert.equal(read('loads'), 'x');
  });

  it('refuses its keys there: 78 with the place in the file, and no daemon stays', async (t) => {
    const { path, url } = await portProject(t, own({ region: 7 }));

    const { code, stdout, stderr } = await svc(['runtime', 'start', '--daemon'], { cwd: path });

    assert.equal(code, 78, stdout + stderr);
    assert.match(stderr, /svc\.config\.yml:\d+:\d+ plugins\.own\.region expected text, got 7/);
    assert.match(stderr, /nothing was started/);
    assert.equal((await svc(['runtime', 'status'], { cwd: path })).code, 3);
    await assert.rejects(fetch(`${url}/pub/health`));
  });

  it('finds variables that its keys name, but for those that hold a secret, which are in no environment', async (t) => {
    const { path, read } = await portProject(t, own({ region: '${OWN_REGION}', key: '${OWN_WORD}' }));
    const env = { OWN_REGION: 'north-by-north', OWN_WORD: 'a-word-of-sufficient-length' };

    const { code, stdout, stderr } = await svc(['runtime', 'start', '--daemon', '--json'], { cwd: path, env });

    assert.equal(code, 0, stdout + stderr);
    assert.deepEqual(JSON.parse(read('seen')), ['north-by-north', null]);
    const { pid, supervisorPid } = JSON.parse(stdout);
    for (const each of [pid, supervisorPid])
      assert.doesNotMatch(readFileSync(`/proc/${each}/environ`, 'latin1'), /a-word-of-sufficient/);
  });
});

/** State, parent, group, session, terminal and so on, from behind the command in brackets. */
function statOf(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
