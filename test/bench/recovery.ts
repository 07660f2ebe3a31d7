// A checkpoint of a database that is written: how long writing stands still, how long the copy and the whole making take beside a bare copy of the file,
// and what the answers to other units wait meanwhile. In turns, as medians. Units come at a fixed rate, whatever the answers take.
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkpointFolder } from '../../shared/recovery/layout.ts';
import { copyDatabase } from '../../worker/recovery/checkpoint/copy-database.ts';
import { makeRunning } from '../../worker/recovery/checkpoint/make-running.ts';
import { type CopyHost, copyHost } from '../support/recovery/copy-host.ts';
import { copyAndSync } from './load/bare-copy.ts';
import type { Report } from './load/report.ts';
import { median, percentile } from './load/support.ts';

const MIB = 1_048_576;
const A_SECOND = 1_000;
const TICK_MS = 5;
const BYTES_OF_UNIT = 2_000;
const MAX_LOG_BYTES = 1_024 * MIB;
const QUIET_SECONDS = 5;
const ROUNDS = 3;
const HOLDS = 50;
/** What a bot with two accounts has. */
const SECRETS = [
  'a-token-of-the-interface-4711',
  'whsec_c2VjcmV0IG9mIGEgd2ViaG9vaw',
  '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw',
];

export async function benchRecovery(report: Report, { mb }: { readonly mb: number }): Promise<void> {
  const ends: (() => void | Promise<void>)[] = [];
  try {
    const host = await copyHost({ after: (end) => void ends.push(end) });
    await fill(host, mb);
    const copies = join(host.folder, 'checkpoints');
    mkdirSync(copies);

    const bytes = statSync(host.file).size;
    const waits = { without: [] as number[], made: [] as number[], afterwards: [] as number[] };
    const ms = { bare: [] as number[], copied: [] as number[], made: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      waits.without.push(...(await during(host, () => seconds(QUIET_SECONDS))));
      await during(host, async () => ms.bare.push(await copyAndSync(host.file)));
      await during(host, async () => ms.copied.push(await copy(host, join(copies, 'copied.sqlite'))));
      rmSync(join(copies, 'copied.sqlite'));
      let made: Making | undefined;
      waits.made.push(...(await during(host, async () => (made = await make(host)))));
      ms.made.push(made?.ms ?? Number.NaN);
      rmSync(made?.folder ?? '', { recursive: true }); // not before: it holds up this process, which is that of the writer and of the load
      waits.afterwards.push(...(await during(host, () => seconds(QUIET_SECONDS))));
    }
    const { without, made: whileMade, afterwards } = waits;
    const bareMs = median(ms.bare);

    const holds = openLoad(host);
    const held: Hold[] = [];
    while (held.length < HOLDS) held.push(await oneHold(host, join(copies, `h${held.length}.sqlite`)));
    await holds();

    const name = `${Math.round(bytes / MIB)} MiB, ${A_SECOND} units/s`;
    const holdMs = held.map(({ ms }) => ms);
    const hold = percentile(holdMs, 0.99);
    report.add({
      name: `hold of a copy, p99 of ${HOLDS} (median ${percentile(holdMs, 0.5).toFixed(1)} ms)`,
      value: hold,
      unit: 'ms',
      baseline: { name: 'an answer without a copy', value: percentile(without, 0.99) },
      ratio: hold / percentile(without, 0.99),
      goal: { text: '<= 50 ms', met: hold <= 50 },
    });
    report.add({
      name: '  of it to begin the snapshot, p99',
      value: percentile(
        held.map(({ beginMs }) => beginMs),
        0.99,
      ),
      unit: 'ms',
    });
    const besideBare = (value: number) =>
      ({
        value,
        unit: 'ms',
        baseline: { name: 'copy and sync of the file', value: bareMs },
        ratio: value / bareMs,
      }) as const;
    const madeMs = median(ms.made);
    report.add({ name: `copy of ${name}`, ...besideBare(median(ms.copied)) });
    report.add({
      name: `making of ${name}`,
      ...besideBare(madeMs),
      goal: { text: '<= 3', met: madeMs / bareMs <= 3 },
    });
    const ratio = percentile(whileMade, 0.99) / percentile(without, 0.99);
    report.add({
      name: `  answers meanwhile, p99 (longest ${Math.round(Math.max(...whileMade))} ms)`,
      value: percentile(whileMade, 0.99),
      unit: 'ms',
      baseline: { name: 'without one', value: percentile(without, 0.99) },
      ratio,
      goal: { text: '< 2', met: ratio < 2 },
    });
    report.add({
      name: `  in the ${QUIET_SECONDS} s afterwards (longest ${Math.round(Math.max(...afterwards))} ms)`,
      value: percentile(afterwards, 0.99),
      unit: 'ms',
      baseline: { name: 'without one', value: percentile(without, 0.99) },
      ratio: percentile(afterwards, 0.99) / percentile(without, 0.99),
    });
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

const ROWS = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
  INSERT INTO bench_rows (data) SELECT hex(randomblob(1000)) FROM n`;

async function fill({ file, host }: CopyHost, mb: number): Promise<void> {
  const run = (sql: string): Promise<unknown> => host.commit({ name: 'fill', statements: [{ sql, parameters: [] }] });
  await run('CREATE TABLE bench_rows (id INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT');
  while (statSync(file).size < mb * MIB) await run(ROWS);
}

/** Commits units at the rate; the returned function ends that, and gives the milliseconds from when a unit was due to its answer. */
function openLoad(host: CopyHost): () => Promise<readonly number[]> {
  const waits: number[] = [];
  const startedAt = performance.now();
  const asked: Promise<void>[] = [];
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) * A_SECOND) / 1_000;
    while (asked.length < due) {
      const dueAt = startedAt + (asked.length * 1_000) / A_SECOND;
      asked.push(host.put(BYTES_OF_UNIT).then(() => void waits.push(performance.now() - dueAt)));
    }
  }, TICK_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(asked);
    return waits;
  };
}

/** The milliseconds of `openLoad` while work goes on. */
async function during(host: CopyHost, work: () => Promise<unknown>): Promise<readonly number[]> {
  const end = openLoad(host);
  await work();
  return end();
}

/** Without the start of the process, which runs from the sources here. */
async function copy(host: CopyHost, target: string): Promise<number> {
  let startedAt = 0;
  await copyDatabase({
    file: host.file,
    target,
    hold: (work) => {
      startedAt = performance.now();
      return host.host.hold(work);
    },
    pin: () => host.host.pinLog({ maxBytes: MAX_LOG_BYTES }),
  });
  return performance.now() - startedAt;
}

interface Making {
  readonly ms: number;
  /** Of the checkpoint. */
  readonly folder: string;
}

/** The whole checkpoint, from the hold until it stands in its folder; the start of its processes is left out, as in `copy`. */
async function make({ file, folder, host }: CopyHost): Promise<Making> {
  let startedAt = 0;
  const { manifest } = await makeRunning({
    project: dirname(folder),
    database: file,
    reason: null,
    zone: 'UTC',
    config: { version: 'bench', isRunning: true },
    secrets: { named: [], values: SECRETS },
    key: Buffer.alloc(32, 7).toString('base64url'),
    without: [],
    now: Date.now,
    writer: {
      hold: (work) => {
        startedAt = performance.now();
        return host.hold(work);
      },
      pinLog: (limit) => host.pinLog(limit),
    },
    maxLogBytes: MAX_LOG_BYTES,
    signal: new AbortController().signal,
  });
  return { ms: performance.now() - startedAt, folder: checkpointFolder(dirname(folder), manifest.name) };
}

interface Hold {
  readonly ms: number;
  /** Without the wait for groups that were under way. */
  readonly beginMs: number;
}

/** A copy that ends with its hold. */
async function oneHold({ file, host }: CopyHost, target: string): Promise<Hold> {
  const end = new AbortController();
  let hold: Hold | undefined;
  await copyDatabase({
    file,
    target,
    hold: async (work) => {
      const startedAt = performance.now();
      let idleAt = 0;
      const answer = await host.hold((signal) => {
        idleAt = performance.now();
        return work(signal);
      });
      hold = { ms: performance.now() - startedAt, beginMs: performance.now() - idleAt };
      end.abort();
      return answer;
    },
    signal: end.signal,
  }).catch((error: unknown) => {
    if (!end.signal.aborted) throw error;
  });
  if (hold === undefined) throw new Error('the writer was not held');
  return hold;
}

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1_000));
