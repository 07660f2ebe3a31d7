// Scheduled jobs: a thousand are due at the same moment, again and again. Their start against their due time as the ledger has it, and how long the
// event loop of the host was held meanwhile. Linux alone.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Sqlite } from '../../shared/sqlite.ts';
import type { Report } from './load/report.ts';
import { percentile, startHost } from './load/support.ts';

const JOBS = 1_000;
const EVERY_S = 15;
const BURSTS = 3;
const LATE_GOAL_MS = 1_000;
const HELD_GOAL_MS = 50;

/**
 * Writes the longest hold of each second, loaded before the host: between two ticks of a timer, by the clock and by the time that the thread had a
 * processor. On a busy machine the first tells of others. The writer thread loads it too, and has no event loop that anybody waits for.
 */
const WATCH = `import { appendFileSync, openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
if (isMainThread) watch();
function watch() {
const stat = openSync('/proc/thread-self/schedstat');
const bytes = Buffer.alloc(64);
const ran = () => Number(bytes.latin1Slice(0, readSync(stat, bytes, 0, 64, 0)).split(' ')[0]) / 1e6;
let before = { at: performance.now(), ran: ran() };
let held = { at: 0, ran: 0 };
setInterval(() => {
  const now = { at: performance.now(), ran: ran() };
  held = { at: Math.max(held.at, now.at - before.at), ran: Math.max(held.ran, now.ran - before.ran) };
  before = now;
}, 1).unref();
setInterval(() => {
  appendFileSync('held.txt', Math.round(held.at) + ' ' + Math.round(held.ran) + '\\n');
  held = { at: 0, ran: 0 };
}, 1_000).unref();
}
`;

export async function benchJobs(report: Report): Promise<void> {
  const host = await startHost(['  sandbox: {}'], [], {
    prepare: (folder) => {
      writeFileSync(join(folder, 'watch.mjs'), WATCH);
      mkdirSync(join(folder, 'data'));
      const to = { endpoint: 'sandbox', conversation: 'c' };
      const jobs = Array.from({ length: JOBS }, (_, n) => ({
        id: `job-${n}`,
        every: `${EVERY_S}s`,
        do: { say: { to: { ...to, conversation: `c${n % 100}` }, text: 'It is time.' } },
      }));
      writeFileSync(join(folder, 'data/schedule-jobs.json'), JSON.stringify({ version: 1, revision: 1, jobs }));
    },
    nodeOptions: ['--import', './watch.mjs'],
  });
  try {
    // The file is taken in during the first seconds.
    await pause(5_000);
    writeFileSync(join(host.folder, 'held.txt'), '');
    await pause((BURSTS + 0.5) * EVERY_S * 1_000);
    const database = new Sqlite(join(host.folder, '.svc/data.sqlite'), { readonly: true });
    const late = database.prepare('SELECT late_ms FROM job_runs').pluck().all() as number[];
    database.close();
    const held = readFileSync(join(host.folder, 'held.txt'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' ').map(Number));
    const [byClock, ran] = [0, 1].map((at) => Math.max(...held.map((values) => values[at] ?? 0)));
    const p99 = percentile(late, 0.99);
    report.add({
      name: `start of ${late.length} runs, ${JOBS} due at once, p99`,
      value: p99,
      unit: 'ms',
      goal: { text: `<= ${LATE_GOAL_MS} ms`, met: late.length >= BURSTS * JOBS && p99 <= LATE_GOAL_MS },
    });
    report.add({
      name: '  median',
      value: percentile(late, 0.5),
      unit: 'ms',
    });
    report.add({
      name: '  event loop held, longest, of its own time',
      value: ran ?? Number.NaN,
      unit: 'ms',
      baseline: { name: 'by the clock', value: byClock },
      goal: { text: `<= ${HELD_GOAL_MS} ms`, met: (ran ?? Number.NaN) <= HELD_GOAL_MS },
    });
  } finally {
    await host.stop();
  }
}
