// What an operator waits for, on the whole way with the real commands: a checkpoint of a stopped Workroom host with a long journal and a large
// database, its rehearsal, and the restore until the host is ready again. Beside a bare copy of the database.
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { portProject, svc } from '../support/svc-command.ts';
import { copyAndSync } from './load/bare-copy.ts';
import { fillCells } from './load/fill-cells.ts';
import { Journal } from './load/journal-kit.ts';
import type { Report } from './load/report.ts';

const MIB = 1_048_576;
const GOAL_MS = 60_000;
const MOST_OF_A_COPY = 3;

export async function benchRehearsal(report: Report, of: { readonly events: number; readonly mb: number }) {
  const ends: (() => void | Promise<void>)[] = [];
  try {
    const project = await portProject(
      { after: (end) => void ends.push(end) },
      { keys: { host: { kind: 'workroom' }, plugins: { work: {} } } },
    );
    await fill(project.paths.database, of);
    const run = async (...args: readonly string[]): Promise<{ readonly ms: number; readonly stdout: string }> => {
      const startedAt = performance.now();
      const { code, stdout, stderr } = await svc([...args, '--project', project.path]);
      if (code !== 0) throw new Error(`svc ${args.join(' ')}: ${stdout}${stderr}`);
      return { ms: performance.now() - startedAt, stdout };
    };
    const start = () => run('runtime', 'start', '--daemon', '--timeout', '300');
    await start();
    await run('runtime', 'stop');
    const bytes = statSync(project.paths.database).size;
    const bareMs = await copyAndSync(project.paths.database);
    const baseline = { name: 'copy and sync of the file', value: bareMs };
    const name = `${of.events.toLocaleString('en')} events, ${Math.round(bytes / MIB)} MiB`;
    const inTime = (ms: number) => ({ text: `<= ${GOAL_MS / 1_000} s`, met: ms <= GOAL_MS });
    const add = (figure: string, ms: number, goal?: { readonly text: string; readonly met: boolean }) =>
      report.add({
        name: figure,
        value: ms,
        unit: 'ms',
        baseline,
        ratio: ms / bareMs,
        ...(goal === undefined ? {} : { goal }),
      });

    const made = await run('checkpoint', 'create', '--json');
    const checkpoint = String((JSON.parse(made.stdout) as { readonly name: string }).name);
    add(`checkpoint of ${name}`, made.ms, { text: `<= ${MOST_OF_A_COPY}`, met: made.ms <= MOST_OF_A_COPY * bareMs });
    const rehearsed = await run('checkpoint', 'verify', checkpoint);
    add('rehearsal of it', rehearsed.ms, inTime(rehearsed.ms));
    const planned = await run('checkpoint', 'restore', checkpoint, '--dry-run', '--json');
    add('plan of its restore', planned.ms);
    const { digest } = JSON.parse(planned.stdout) as { readonly digest: string };
    const restored = await run('checkpoint', 'restore', checkpoint, '--yes', '--plan', digest);
    const started = await start();
    const readyMs = restored.ms + started.ms;
    add('restore to ready', readyMs, inTime(readyMs));
    add('  of it the start', started.ms);
    await run('runtime', 'stop');
  } finally {
    for (const end of ends) await end();
  }
}

/** The rest are cells of a plugin. */
async function fill(file: string, { events, mb }: { readonly events: number; readonly mb: number }): Promise<void> {
  mkdirSync(dirname(file), { mode: 0o700 });
  const journal = await Journal.open(dirname(file));
  await journal.fill(events);
  await journal.close();
  fillCells(file, mb);
}
