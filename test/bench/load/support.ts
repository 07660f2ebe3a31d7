// What the benchmarks share: a host of its own in a temporary folder, a load that signs its deliveries, medians and ratios.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WORKER_OPTIONS } from '../../../supervisor/cli/start/worker-entry.ts';
import { foregroundArgs } from '../../support/process/built-svc.ts';
import type { ClosedLoopRequest } from './closed-loop.ts';

export const ROOT = new URL('../../../', import.meta.url).pathname;
export const TOKEN = randomBytes(24).toString('base64url');
export const KEY = randomBytes(32);
export const SECRET = `whsec_${KEY.toString('base64')}`;

export interface BenchHost {
  readonly port: number;
  readonly child: ChildProcess;
  readonly folder: string;
  /** Milliseconds from the start of the process to the first 200 of health and of readiness. */
  readonly healthMs: number;
  readonly readyMs: number;
  stop(): Promise<void>;
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

export interface StartingHost {
  /** Called with the folder of the project before the start. */
  readonly prepare?: (folder: string) => void;
  /** Further options of its Node. */
  readonly nodeOptions?: readonly string[];
}

/** The built host (dist/) in production mode, with the options of our units, on a new project with the plugins given as YAML lines. */
export async function startHost(
  plugins: readonly string[],
  extra: readonly string[] = [],
  { prepare = () => {}, nodeOptions = [] }: StartingHost = {},
): Promise<BenchHost> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const port = await freePort();
  writeFileSync(
    join(folder, 'svc.config.yml'),
    [
      'log_level: warn',
      'http:',
      `  port: ${port}`,
      '  token: ${HTTP_TOKEN}',
      ...extra,
      'plugins:',
      ...plugins,
      '',
    ].join('\n'),
  );
  writeFileSync(join(folder, '.env'), `HTTP_TOKEN=${TOKEN}\nHOOK_SECRET=${SECRET.replace(/[$#]/g, '')}\n`, {
    mode: 0o600,
  });
  writeFileSync(join(folder, 'package.json'), '{"name":"bench"}');
  prepare(folder);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...WORKER_OPTIONS, ...nodeOptions, ...foregroundArgs(folder)], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const healthMs = await answers(port, '/pub/health', startedAt);
  const readyMs = await answers(port, '/pub/ready', startedAt);
  return {
    port,
    child,
    folder,
    healthMs,
    readyMs,
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Milliseconds since `startedAt` until the path answers 200. */
export async function answers(port: number, path: string, startedAt: number): Promise<number> {
  for (;;) {
    const status = await new Promise<number>((resolve) => {
      request({ host: '127.0.0.1', port, path, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on('error', () => resolve(0))
        .end();
    });
    if (status === 200) return performance.now() - startedAt;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/**
 * Goals and what is known of others count resident memory in this unit, whatever they call it: of the 1,380 kB that /proc tells of runsv, the
 * 1,576 kB of s6-supervise and the 58,700 kB of PM2 it makes 1.3, 1.5 and 57.
 */
export const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;

/** Deliveries by Standard Webhooks, each with an id of its own, signed before the clock runs. */
export function signedDeliveries(
  count: number,
  text: (n: number) => string,
  conversations = 64,
): readonly ClosedLoopRequest[] {
  const at = Math.floor(Date.now() / 1_000);
  return Array.from({ length: count }, (_, n) => {
    const id = `${randomBytes(8).toString('hex')}-${n}`;
    const body = Buffer.from(
      JSON.stringify({
        conversation: { id: `c${n % conversations}` },
        user: { id: `u${n % conversations}` },
        text: text(n),
      }),
    );
    const signature = createHmac('sha256', KEY).update(`${id}.${at}.`).update(body).digest('base64');
    return {
      body,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(at),
        'webhook-signature': `v1,${signature}`,
      },
    };
  });
}
