// From the start of the process to the first 200 of health and of readiness, and resident memory when idle, each beside a bare
// node:http server of the same Node in the same round.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, freePort, median, ROOT, residentMiB, startHost } from './load/support.ts';

export interface StartFigures {
  readonly bareMs: number;
  readonly healthMs: number;
  readonly readyMs: number;
  readonly workerMiB: number;
  readonly bareMiB: number;
  readonly supervisorMiB: number;
}

const BARE = "require('node:http').createServer((q, r) => r.end('{}')).listen(Number(process.argv[1]), '127.0.0.1')";
const PLUGINS = ['  sandbox: {}', '  help: {}', '  echo: {}', '  ping: {}', '  remind: {}'];
/** A process is idle once its first garbage is gone; a supervisor looks for that once a second, and a worker's first words are some of it. */
const SETTLE_MS = 1_500;
const SUPERVISOR_SETTLE_MS = 3_000;

export async function measureStart(rounds: number): Promise<StartFigures> {
  const rows: { bareMs: number; healthMs: number; readyMs: number; workerMiB: number; bareMiB: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const bare = await startBare();
    const host = await startHost(PLUGINS);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    rows.push({
      bareMs: bare.ms,
      bareMiB: bare.miB,
      healthMs: host.healthMs,
      readyMs: host.readyMs,
      workerMiB: residentMiB(host.child.pid ?? 0),
    });
    await host.stop();
  }
  const of = (key: keyof (typeof rows)[number]): number => median(rows.map((row) => row[key]));
  return {
    bareMs: of('bareMs'),
    healthMs: of('healthMs'),
    readyMs: of('readyMs'),
    workerMiB: of('workerMiB'),
    bareMiB: of('bareMiB'),
    supervisorMiB: await supervisorMiB(),
  };
}

async function startBare(): Promise<{ ms: number; miB: number }> {
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['-e', BARE, String(port)], { stdio: 'ignore' });
  const ms = await answers(port, '/', startedAt);
  const miB = residentMiB(child.pid ?? 0);
  child.kill();
  await once(child, 'exit');
  return { ms, miB };
}

/** Resident memory of the supervisor of a daemon that is ready and idle. */
async function supervisorMiB(): Promise<number> {
  const host = await startHost(PLUGINS);
  const { folder } = host;
  host.child.kill('SIGTERM');
  await once(host.child, 'exit');
  const cli = (...words: string[]) =>
    spawn(process.execPath, [join(ROOT, 'dist/cli.js'), 'runtime', ...words, '--project', folder], { stdio: 'ignore' });
  await once(cli('start', '--daemon'), 'exit');
  await new Promise((resolve) => setTimeout(resolve, SUPERVISOR_SETTLE_MS));
  const record = JSON.parse(readFileSync(join(folder, '.svc', 'supervisor.json'), 'utf8')) as {
    readonly supervisor: { readonly pid: number };
  };
  const miB = residentMiB(record.supervisor.pid);
  await once(cli('stop'), 'exit');
  return miB;
}
