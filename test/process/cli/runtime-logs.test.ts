// `svc runtime logs` over the built programs: each flag, and following a real host over rotations and restarts.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { portProject, startSvc, svc, untilReady } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

/** So many lines are under half of what all files of a log hold here. */
const AHEAD = 600;
/**
 * Logs numbered lines, 20 each 10 ms, each run of it from 1 on, but never so far ahead of what was heard that a file goes which a slow follower has not
 * read; prints some in other ways first.
 */
const TALKER = `import { existsSync, readFileSync } from 'node:fs';
import { definePlugin } from 'svc';
export default definePlugin({ name: 'talker', setup(p) {
  process.stdout.write('written to stdout\\n');
  console.error('by console');
  let n = 0;
  const file = 'heard-' + process.pid;
  const timer = setInterval(() => {
    const heard = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    for (let line = 0; line < 20 && n < heard + ${AHEAD}; line += 1) p.log.info({ n: (n += 1), pid: process.pid }, 'x'.repeat(100));
  }, 10);
  timer.unref();
} });
`;

const agoIso = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();

/** A project in which nothing runs, with a log as it could be. */
function quietProject(t: TestContext) {
  const project = temporaryProject(t);
  const entry = (fields: Readonly<Record<string, unknown>>): string =>
    `${JSON.stringify({ level: 'info', time: agoIso(5), ...fields })}\n`;
  project.write(
    '.svc/runtime.log.1',
    entry({ time: agoIso(7_200), msg: 'old' }) + entry({ level: 'warn', time: agoIso(3_000), msg: 'warned' }),
  );
  project.write(
    '.svc/runtime.log',
    [
      entry({ endpoint: 'root/irc:irc~libera', msg: 'online' }),
      'FATAL ERROR: \u001b[31mheap\n',
      entry({ level: 'error', endpoint: 'root/irc:irc~oftc', msg: 'offline' }),
      entry({ level: 'debug', msg: 'detail' }),
    ].join(''),
  );
  chmodSync(project.paths.stateDir, 0o700);
  return async (...flags: string[]) => {
    const { code, stdout, stderr } = await svc(['runtime', 'logs', ...flags, '--json'], { cwd: project.path });
    // A list; what follows is a document a line.
    const text = flags.includes('-f') ? `[${stdout.trim().replaceAll('\n', ',')}]` : stdout;
    const lines: readonly { readonly msg?: string; readonly text?: string }[] = code === 2 ? [] : JSON.parse(text);
    return { code, said: stdout + stderr, lines: lines.map(({ msg, text }) => msg ?? text) };
  };
}

describe('svc runtime logs', { concurrency: 3 }, () => {
  it('shows the last lines over rotated files, by level, time and endpoint', async (t) => {
    const logs = quietProject(t);
    const heap = 'FATAL ERROR: \u001b[31mheap';

    assert.deepEqual((await logs()).lines, ['old', 'warned', 'online', heap, 'offline', 'detail']);
    assert.deepEqual((await logs('-n', '2')).lines, ['offline', 'detail']);
    assert.deepEqual((await logs('-n', '0')).lines, []);
    assert.deepEqual((await logs('--level', 'warn')).lines, ['warned', heap, 'offline']);
    assert.deepEqual((await logs('--level', 'warn', '-n', '1')).lines, ['offline']);
    assert.deepEqual((await logs('--since', '1h')).lines, ['warned', 'online', 'offline', 'detail']);
    assert.deepEqual((await logs('--since', agoIso(60))).lines, ['online', 'offline', 'detail']);
    assert.deepEqual((await logs('--endpoint', 'root/irc:irc~oftc')).lines, ['offline']);
    assert.deepEqual((await logs('--endpoint', 'irc~libera', '--level', 'debug')).lines, ['online']);
    const none = await logs('--endpoint', 'irc~libra');
    assert.deepEqual([none.lines, none.said.includes('no line fits')], [[], true]);
  });

  it('ends with 1 where nothing runs, and with 2 and the reason for what it does not know', async (t) => {
    const logs = quietProject(t);

    const absent = await logs('-f');
    assert.deepEqual([absent.code, absent.said.endsWith('nothing is running\n')], [1, true]);
    for (const [flags, reason] of [
      [['--level', 'loud'], /--level takes trace or debug/],
      [['--level', 'silent'], /--level takes trace or debug or info or warn or error or fatal\b/],
      [['-n', 'few'], /--lines takes a whole number/],
      [['--lines=-5'], /--lines takes a whole number/],
      [['--since', 'yesterday'], /--since/],
    ] as const) {
      const { code, said } = await logs(...flags);
      assert.equal(code, 2, flags.join(' '));
      assert.match(said, reason);
    }
  });

  it('follows a host over rotations, a restart and a SIGKILL, and gives each line once (-f)', async (t) => {
    const project = await portProject(t, {
      keys: {
        plugins: { sandbox: {}, talker: { use: './plugins/talker.mjs' } },
        supervisor: { log: { maxBytes: 65_536, maxFiles: 10 } },
      },
      plugins: { 'talker.mjs': TALKER },
    });
    const run = (...words: string[]) => svc(['runtime', ...words], { cwd: project.path });
    const started = await run('start', '--daemon');
    assert.equal(started.code, 0, started.stdout + started.stderr);
    const follower = startSvc(['runtime', 'logs', '-f', '--json', '-n', '100000'], { cwd: project.path });
    t.after(() => void follower.child.kill('SIGKILL'));
    const entries = () =>
      follower
        .output()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    const hears = (what: string, count: number): Promise<unknown> =>
      until(
        () => {
          const heard = entries();
          const last = heard.findLast(({ n }) => n !== undefined);
          if (last !== undefined) project.write(`heard-${last.pid}`, String(last.n));
          return heard.filter(({ msg }) => msg === what).length >= count;
        },
        { what: `${count} times: ${what}` },
      );
    await hears('log rotated', 3);

    const restarted = await run('restart');
    assert.equal(restarted.code, 0, restarted.stdout + restarted.stderr);
    const { pid } = JSON.parse((await run('status', '--json')).stdout);
    await hears('log rotated', 6);
    process.kill(pid, 'SIGKILL');
    await hears('worker up', 3);
    await hears('log rotated', 9);
    assert.equal((await run('stop')).code, 0);
    await hears('supervisor stopped', 1);
    follower.child.kill('SIGINT');

    assert.equal((await follower.ended).code, 0);
    const numbers = new Map<number, number[]>();
    for (const { pid: owner, n } of entries().filter((entry) => entry.n !== undefined))
      numbers.set(owner, [...(numbers.get(owner) ?? []), n]);
    assert.equal(numbers.size, 3);
    const printed = entries().filter(({ source }) => source !== undefined);
    assert.deepEqual(
      printed.slice(0, 2).map(({ level, source, msg }) => `${level} ${source}: ${msg}`),
      ['info stdout: written to stdout', 'error console: by console'],
    );
    for (const seen of numbers.values())
      assert.deepEqual(
        seen,
        seen.map((_, index) => index + 1),
      );
    assert.equal(readdirSync(project.paths.stateDir).filter((name) => name.startsWith('runtime.log')).length, 10);
  });

  it('follows a foreground host over its restart, from what the workers themselves keep', async (t) => {
    const port = await freePort();
    const project = await portProject(t, {
      keys: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        http: { port, token: '${HTTP_TOKEN}' },
        plugins: {
          sandbox: {},
          irc: { endpoints: [{ id: 'net', server: '127.0.0.1', port: 1, tls: false, nick: 'svc' }] },
        },
      },
    });
    const start = async () => {
      const host = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: project.path });
      t.after(() => void host.child.kill('SIGKILL'));
      await untilReady(`http://127.0.0.1:${port}`);
      return host;
    };
    const first = await start();
    const follower = startSvc(['runtime', 'logs', '-f', '--json'], { cwd: project.path });
    t.after(() => void follower.child.kill('SIGKILL'));
    const ups = () => follower.output().match(/"worker up"/g)?.length ?? 0;
    await until(() => ups() === 1, { what: 'the lines of the first worker' });

    first.child.kill('SIGTERM');
    await first.ended;
    await start();

    await until(() => ups() === 2, { what: 'the lines of the second worker' });
    await until(
      async () =>
        JSON.parse(
          (await svc(['runtime', 'logs', '--endpoint', 'irc~net', '--json'], { cwd: project.path })).stdout,
        ).every(({ endpoint }: { readonly endpoint: string }) => endpoint === 'root/irc:irc~net'),
      { what: 'lines of the endpoint alone' },
    );
  });

  it('ends quietly when its reader has enough', async (t) => {
    const project = await portProject(t);
    assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: project.path })).code, 0);
    const follower = startSvc(['runtime', 'logs', '-f', '-n', '1'], { cwd: project.path });
    t.after(() => void follower.child.kill('SIGKILL'));
    await until(() => follower.output() !== '', { what: 'a line' });

    follower.child.stdout?.destroy();
    await until(
      async () => {
        await svc(['runtime', 'reload'], { cwd: project.path });
        return follower.child.exitCode !== null;
      },
      { what: 'its end' },
    );

    assert.equal(follower.output().includes('EPIPE'), false);
    assert.equal(existsSync(project.paths.runtimeLog), true);
  });
});
