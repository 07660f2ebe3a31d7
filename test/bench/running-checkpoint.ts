// A whole checkpoint of a running host, as its operator waits for it: copy, check, search for secrets, digests, manifest. Beside a bare copy of the
// database under the same load: deliveries at a fixed rate, each stored in a unit of its own and parked.
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { WriterCore } from '../../worker/database/sqlite/writer-core.ts';
import { copyAndSync } from './load/bare-copy.ts';
import { fillCells } from './load/fill-cells.ts';
import { sendAtRate } from './load/open-loop.ts';
import type { Report } from './load/report.ts';
import { type BenchHost, median, percentile, signedDeliveries, startHost, TOKEN } from './load/support.ts';

const MIB = 1_048_576;
const A_SECOND = 1_000;
const ROUNDS = 3;
const POLL_MS = 20;
const QUIET_SECONDS = 5;
/** Of the load: as long as the slowest machine takes. It ends with what is measured. */
const LONGEST_SECONDS = 120;

export async function benchRunningCheckpoint(report: Report, { mb }: { readonly mb: number }): Promise<void> {
  const host = await startHost(
    ['  webhook:', '    endpoints:', '      - id: a', '        secrets: ["${HOOK_SECRET}"]'],
    ['inbox:', '  maxPending: 1000000', '  maxPendingBytes: 1073741824', 'recovery:', '  everyHours: 0'],
    { prepare: (folder) => fill(join(folder, '.svc', 'data.sqlite'), mb) },
  );
  try {
    const file = join(host.folder, '.svc', 'data.sqlite');
    const bytes = statSync(file).size;
    await ask(host, 'PUT', '/api/system/ingress', { state: 'paused', mode: 'park' });
    const bare: number[] = [];
    const whole: number[] = [];
    const answers = { without: [] as number[], meanwhile: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      answers.without.push(...(await underLoad(host, () => seconds(QUIET_SECONDS))));
      await underLoad(host, async () => bare.push(await copyAndSync(file)));
      answers.meanwhile.push(...(await underLoad(host, async () => whole.push(await checkpoint(host)))));
    }
    const [bareMs, wholeMs] = [median(bare), median(whole)];
    report.add({
      name: `whole checkpoint of ${Math.round(bytes / MIB)} MiB, ${A_SECOND} deliveries/s`,
      value: wholeMs,
      unit: 'ms',
      baseline: { name: 'copy and sync of the file', value: bareMs },
      ratio: wholeMs / bareMs,
      goal: { text: '<= 3', met: wholeMs / bareMs <= 3 },
    });
    const [without, meanwhile] = [percentile(answers.without, 0.99), percentile(answers.meanwhile, 0.99)];
    report.add({
      name: '  answers to deliveries meanwhile, p99',
      value: meanwhile,
      unit: 'ms',
      baseline: { name: 'without one', value: without },
      ratio: meanwhile / without,
    });
  } finally {
    await host.stop();
  }
}

function fill(file: string, mb: number): void {
  mkdirSync(dirname(file), { mode: 0o700 });
  const core = new WriterCore({ file, now: Date.now });
  core.open();
  core.close();
  fillCells(file, mb);
}

/** Milliseconds of the answers while `work` goes on. The load ends with it. */
async function underLoad({ port }: BenchHost, work: () => Promise<unknown>): Promise<readonly number[]> {
  const deliveries = signedDeliveries(A_SECOND * LONGEST_SECONDS, (n) => `message ${n}`);
  const ended = new AbortController();
  const load = sendAtRate({
    port,
    perSecond: A_SECOND,
    seconds: LONGEST_SECONDS,
    signal: ended.signal,
    make: (n) => {
      const { headers = {}, body = '' } = deliveries[n] ?? {};
      return { path: '/webhooks/webhook/a', headers, body: String(body) };
    },
  });
  try {
    await work();
  } finally {
    ended.abort();
  }
  const { failed, latencies } = await load;
  for (const [status, count] of failed) console.error(`${count} deliveries were answered ${status}`);
  return latencies;
}

const seconds = (count: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, count * 1_000));

/** As the host counts it, with the start of its processes. */
async function checkpoint(host: BenchHost): Promise<number> {
  const { name } = (await ask(host, 'POST', '/api/checkpoints', {})) as { readonly name: string };
  for (;;) {
    const { running, last, failure } = (await ask(host, 'GET', '/api/checkpoints')) as {
      readonly running: unknown;
      readonly last: { readonly name: string; readonly ms: number } | null;
      readonly failure: unknown;
    };
    if (failure !== null) throw new Error(JSON.stringify(failure));
    if (running === null && last?.name === name) return last.ms;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function ask({ port }: BenchHost, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
