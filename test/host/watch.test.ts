// The watch of development, where it ends while files go, and where it cannot watch: the process that it is in lives as long as it should.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../shared/time/clock.ts';
import { watchProject } from '../../worker/runtime/loading/watch.ts';
import { until } from '../support/until.ts';

const PROGRAM = fileURLToPath(new URL('../support/fixture-programs/ending/watches-and-ends.ts', import.meta.url));

it('leaves nothing that keeps a process alive, whenever it is ended', { timeout: 300_000 }, async (t) => {
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });

  const code = await new Promise((resolve) => child.once('exit', resolve));

  assert.deepEqual([code, said], [0, 'ended\n']);
});

it('says once what it cannot watch, and goes on', { timeout: 60_000 }, async (t) => {
  const said: unknown[] = [];

  const end = await watchProject({
    project: join('/', ...Array.from({ length: 50 }, () => 'x'.repeat(100))), // longer than any path may be
    clock: systemClock,
    changed: () => {},
    failed: (error) => said.push(error),
  });
  t.after(end);
  await new Promise((resolve) => setImmediate(resolve));

  assert.match(String(said), /ENAMETOOLONG/);
  assert.equal(said.length, 1);
});

for (const [name, removed] of [
  ['svc.config.yml', 'svc.config.yml'],
  ['.env', '.env'],
  ['plugins/own.js', 'plugins'],
] as const)
  it(`sees ${name} come back after ${removed} was gone, each time`, async (t) => {
    const project = mkdtempSync(join(tmpdir(), 'svc-watched-'));
    t.after(() => rmSync(project, { recursive: true }));
    const file = join(project, name);
    const write = (text: string) => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    };
    write('');
    const seen: string[] = [];
    const changed = (files: readonly string[]) => seen.push(...files);
    const failed = (error: unknown) => t.diagnostic(String(error));
    t.after(await watchProject({ project, clock: systemClock, changed, failed }));
    const told = async (path: string, what: string) => {
      await until(() => seen.includes(path), { what: `the watch to tell that ${path} ${what}` });
      seen.length = 0;
    };

    let size = 0;
    /** What is written before a watch stands is not told: one that is ready, or has told of a removal, may still be looking at its folders. */
    const toldOnceItStands = async (what: string) => {
      await until(
        () => {
          write('a'.repeat((size += 1)));
          return seen.includes(file);
        },
        { what: `the watch to tell ${what}`, everyMs: 500 }, // it tells once writing has paused
      );
      seen.length = 0;
    };
    await toldOnceItStands('of a change');

    for (const turn of [1, 2]) {
      rmSync(join(project, removed), { recursive: true });
      await told(join(project, removed), 'went');
      await toldOnceItStands('that it is back');
      write(`b: ${turn}, longer`);
      await told(file, 'has changed');
    }
  });
