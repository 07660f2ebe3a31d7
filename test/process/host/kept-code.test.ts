// What was compiled at one start is kept for the next, whatever ends the worker in between: over a built program of its own, so that no other
// process can have kept it.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeLive } from '../../support/disk/remove-live.ts';
import { CLI } from '../../support/process/built-svc.ts';
import { ask, lives } from '../../support/process/supervised.ts';
import { portProject, startProgram, untilReady } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** The code of a worker has more than that, of a command alone less. */
const CODE_BYTES = 400_000;

/** The built command in a folder of its own, with nothing kept. */
function freshProgram(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-kept-code-'));
  t.after(() => removeLive(folder));
  const isWanted = (path: string): boolean => !/\.map$|\.compile-cache|failpoints/.test(path.slice(ROOT.length));
  cpSync(dirname(CLI), join(folder, 'dist'), { recursive: true, filter: isWanted });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const kept = join(folder, 'dist', '.compile-cache');
  return {
    cli: join(folder, 'dist', 'cli.js'),
    forget: () => removeLive(kept),
    /** Bytes of kept code. */
    keptBytes: (): number =>
      existsSync(kept)
        ? readdirSync(kept, { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
        : 0,
  };
}

const START = ['runtime', 'start'];

describe('the code of a worker that is up', { concurrency: 3 }, () => {
  it('is kept though the worker is killed', async (t) => {
    const program = freshProgram(t);
    const project = await portProject(t);
    const host = startProgram(program.cli, [...START, '--mode', 'production', '--no-watch'], { cwd: project.path });
    t.after(() => void host.child.kill('SIGKILL'));
    await until(() => host.output().includes('"worker up"'), { what: 'a worker that is up' });

    await until(() => program.keptBytes() > CODE_BYTES, { what: 'its code' });
    host.child.kill('SIGKILL');
    await host.ended;

    assert.ok(program.keptBytes() > CODE_BYTES);
  });

  it('is kept by one that a supervisor started, too', async (t) => {
    const program = freshProgram(t);
    const project = await portProject(t);
    const started = await startProgram(program.cli, [...START, '--daemon'], { cwd: project.path }).ended;
    assert.equal(started.code, 0, started.stdout + started.stderr);
    // From here on no command runs that could keep anything.
    const status = async () =>
      (await ask(`${project.paths.stateDir}/control.sock`, 'status')) as { pid: number | null; ready: boolean };
    const { pid: first } = await status();
    await until(() => program.keptBytes() > 0, { what: 'what the first one keeps' });
    // The next worker may be there at once: it shall find nothing, and keep its own.
    process.kill(first ?? 0, 'SIGSTOP');
    program.forget();
    process.kill(first ?? 0, 'SIGKILL');
    const second = await until(
      async () => [await status()].find(({ pid, ready }) => pid !== null && pid !== first && ready)?.pid ?? undefined,
      { what: 'the next worker' },
    );

    await until(() => program.keptBytes() > CODE_BYTES, { what: 'its code' });
    process.kill(second, 'SIGKILL');
    await until(() => !lives(second), { what: 'its end' });

    assert.ok(program.keptBytes() > CODE_BYTES);
  });
});

const HOOK = `whsec_${Buffer.from('a secret of a webhook, 24 and more').toString('base64')}`;

describe('a host', () => {
  it('of bots that use no feature with a script of its own is ready without these scripts', async (t) => {
    const program = freshProgram(t);
    const scripts = readdirSync(dirname(program.cli)).filter((name) =>
      /^(workroom|acceptance|adapter-\w+)\.cjs$/.test(name),
    );
    for (const name of scripts) rmSync(join(dirname(program.cli), name));
    const [bot, team, shop] = [
      await portProject(t),
      await portProject(t, { keys: { host: { name: 'team', kind: 'workroom' } } }),
      await portProject(t, { keys: { plugins: { webhook: { endpoints: [{ id: 'shop', secrets: [HOOK] }] } } } }),
    ];
    const host = startProgram(program.cli, [...START, '--no-watch'], { cwd: bot.path });
    t.after(() => void host.child.kill('SIGKILL'));
    await untilReady(bot.url);
    host.child.kill('SIGTERM');
    await host.ended;
    const [withoutWorkroom, withoutAdapter] = await Promise.all(
      [team, shop].map(({ path }) => startProgram(program.cli, [...START, '--no-watch'], { cwd: path }).ended),
    );

    assert.ok(scripts.includes('workroom.cjs') && scripts.length > 5, scripts.join());
    // A program that was installed anew in the midst of a start has another one, or none yet: whoever keeps the host up starts it again.
    assert.deepEqual([withoutWorkroom?.code, withoutAdapter?.code], [75, 75]);
    assert.match(withoutWorkroom?.stdout ?? '', /replaced on the disk.*workroom\.cjs/);
    assert.match(withoutAdapter?.stdout ?? '', /replaced on the disk.*adapter-webhook\.cjs/);
  });
});
