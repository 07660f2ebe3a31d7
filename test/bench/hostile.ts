// Whether strangers can make the host stand still: a daemon under attack by a process of its own, while this one asks for its health and
// delivers signed messages. Nobody of the attackers has a token.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { tooFewFiles } from '../support/disk/open-files.ts';
import { type AttackOrder, startAttack } from '../support/http/attack.ts';
import { svc } from '../support/svc-command.ts';
import type { ClosedLoopRequest } from './load/closed-loop.ts';
import type { Report } from './load/report.ts';
import { answers, freePort, residentMiB, SECRET, signedDeliveries, TOKEN } from './load/support.ts';

const HEALTH_GOAL_MS = 1_000;
const DELIVERY_GOAL_MS = 2_000;
const LIMIT_MS = 30_000;
const PROBE_EVERY_MS = 100;
const SAMPLE_MS = 250;
const SETTLE_MS = 3_000;

interface Case {
  readonly name: string;
  readonly order: Omit<AttackOrder, 'port'>;
  /** Sockets that each side needs. */
  readonly files: number;
}

const CASES: readonly Case[] = [
  {
    name: '250 connections x 1 MB of unread requests',
    order: { kind: 'pipelined', connections: 250, bytes: 1_000_000 },
    files: 1_000,
  },
  { name: '8,000 silent connections', order: { kind: 'silent', connections: 8_000 }, files: 9_000 },
  { name: '500 slow bodies', order: { kind: 'slow_bodies', connections: 500 }, files: 1_500 },
];

interface Asked {
  readonly worstMs: number;
  readonly answered: number;
  readonly failed: number;
}

export async function benchHostile(report: Report, seconds: number): Promise<void> {
  for (const { name, order, files } of CASES) {
    const reason = tooFewFiles(files);
    if (reason !== false) report.skip(name, reason);
    else await underAttack(report, { name, order, seconds });
  }
}

async function underAttack(
  report: Report,
  { name, order, seconds }: { readonly name: string; readonly order: Case['order']; readonly seconds: number },
): Promise<void> {
  const host = await startDaemon();
  const cleanups: (() => Promise<void>)[] = [];
  try {
    await pause(SETTLE_MS);
    const pid = host.workerPid();
    const idleMiB = residentMiB(pid);
    const deliveries = signedDeliveries(seconds * 20, (n) => `message ${n}`);
    const over = new AbortController();
    const isOver = (): boolean => over.signal.aborted;
    let peakMiB = 0;
    const sampled = (async () => {
      for (; !isOver(); await pause(SAMPLE_MS)) peakMiB = Math.max(peakMiB, residentOr0(pid));
    })();
    const asking = Promise.all([
      each(isOver, () => ask(host.port, { path: '/pub/health' })),
      each(isOver, (n) => ask(host.port, { path: '/webhooks/webhook/a', delivery: deliveries[n] })),
    ]);
    const attack = await startAttack(
      { after: (end) => void cleanups.push(async () => void (await (end as () => unknown)())) },
      { ...order, port: host.port },
    );
    await pause(seconds * 1_000);
    const { open, made } = attack.counts();
    over.abort();
    const [health, delivered] = await asking;
    await sampled;
    const isSame = host.workerPid() === pid && isAlive(pid);
    await attack.stop();
    const limitMiB = 1.5 * idleMiB + 64;
    report.add({
      name: `${name} (${open} open of ${made})`,
      value: Number(isSame),
      unit: 'same worker',
      goal: { text: 'the same', met: isSame },
    });
    addAsked(report, '  worst /pub/health', health, HEALTH_GOAL_MS);
    addAsked(report, '  worst signed delivery', delivered, DELIVERY_GOAL_MS);
    report.add({
      name: '  memory at most',
      value: peakMiB,
      unit: 'MiB',
      baseline: { name: 'idle', value: idleMiB },
      ratio: peakMiB / idleMiB,
      goal: { text: `<= ${limitMiB.toFixed(0)} MiB`, met: peakMiB <= limitMiB },
    });
  } finally {
    for (const end of cleanups) await end();
    await host.stop();
  }
}

function addAsked(report: Report, name: string, { worstMs, answered, failed }: Asked, goalMs: number): void {
  report.add({
    name: `${name} (${answered} answered, ${failed} not)`,
    value: worstMs,
    unit: 'ms',
    goal: { text: `<= ${goalMs} ms, none failed`, met: worstMs <= goalMs && failed === 0 },
  });
}

/** One after the other, each on a connection of its own. */
async function each(isOver: () => boolean, send: (n: number) => Promise<number>): Promise<Asked> {
  let [worstMs, answered, failed] = [0, 0, 0];
  for (let n = 0; !isOver(); n += 1) {
    const startedAt = performance.now();
    const status = await send(n);
    worstMs = Math.max(worstMs, performance.now() - startedAt);
    if (status === 200) answered += 1;
    else failed += 1;
    await pause(PROBE_EVERY_MS);
  }
  return { worstMs, answered, failed };
}

/** The status; 0 without an answer. */
function ask(
  port: number,
  { path, delivery }: { readonly path: string; readonly delivery?: ClosedLoopRequest | undefined },
): Promise<number> {
  return new Promise((resolve) => {
    const method = delivery === undefined ? 'GET' : 'POST';
    const headers = { ...delivery?.headers };
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: new Agent(), timeout: LIMIT_MS });
    sent
      .on('response', (response) => {
        response
          .resume()
          .on('end', () => resolve(response.statusCode ?? 0))
          .on('error', () => resolve(0));
      })
      .on('timeout', () => sent.destroy())
      .on('error', () => resolve(0))
      .end(delivery?.body);
  });
}

interface Daemon {
  readonly port: number;
  workerPid(): number;
  stop(): Promise<void>;
}

async function startDaemon(): Promise<Daemon> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-hostile-'));
  const port = await freePort();
  const lines = ['log_level: warn', 'http:', `  port: ${port}`, '  token: ${HTTP_TOKEN}', 'plugins:'];
  lines.push(
    '  sandbox: {}',
    '  webhook:',
    '    endpoints:',
    '      - id: a',
    '        secrets: ["${HOOK_SECRET}"]',
    '',
  );
  writeFileSync(join(folder, 'svc.config.yml'), lines.join('\n'));
  writeFileSync(join(folder, '.env'), `HTTP_TOKEN=${TOKEN}\nHOOK_SECRET=${SECRET.replace(/[$#]/g, '')}\n`, {
    mode: 0o600,
  });
  writeFileSync(join(folder, 'package.json'), '{"name":"bench"}');
  const run = async (...args: readonly string[]): Promise<void> => {
    const { code, stdout, stderr } = await svc(['runtime', ...args, '--project', folder]);
    if (code !== 0) throw new Error(`svc runtime ${args[0]} ended with ${code}: ${stdout}${stderr}`);
  };
  await run('start', '--daemon', '--mode', 'production');
  await answers(port, '/pub/ready', performance.now());
  return {
    port,
    workerPid: () =>
      (JSON.parse(readFileSync(join(folder, '.svc', 'worker.json'), 'utf8')) as { readonly pid: number }).pid,
    async stop() {
      await run('stop');
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

const isAlive = (pid: number): boolean => residentOr0(pid) > 0;

function residentOr0(pid: number): number {
  try {
    return residentMiB(pid);
  } catch {
    return 0; // it has ended
  }
}
