// How fast the built host answers against a bare node:http, in one run: GET /pub/health and a small JSON below /api with a token. Each is a
// process of its own, measured in turn over some rounds; medians. The host is warmed up first, the baseline as well.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { median, startHost, TOKEN } from './load/support.ts';

const CONNECTIONS = 64;
const ROUNDS = 3;
const WARM_UP_S = 2;

export interface HttpFigures {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  /** Requests a second as a part of the baseline's. */
  readonly ratio: number;
}

interface Load {
  readonly port: number;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Result {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

const HOST_PATHS = ['/pub/health', '/api/plugins'];

/** `seconds` is for each measure of each round. */
export async function benchHttp(seconds: number): Promise<readonly HttpFigures[]> {
  const bare: Result[] = [];
  const host = new Map<string, Result[]>(HOST_PATHS.map((path) => [path, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await bareRound(seconds));
    const running = await startHost(['  sandbox: {}']);
    try {
      const headers = { authorization: `Bearer ${TOKEN}` };
      for (const [path, results] of host) {
        const load = { port: running.port, path, ...(path.startsWith('/api') ? { headers } : {}) };
        results.push(await measured(load, seconds));
      }
    } finally {
      await running.stop();
    }
  }
  const baseline = medians(bare);
  return [
    ['bare node:http', bare] as const,
    ...[...host].map(([path, results]) => [`GET ${path}`, results] as const),
  ].map(([name, results]) => {
    const figures = medians(results);
    return { name, ...figures, ratio: figures.requestsPerSecond / baseline.requestsPerSecond };
  });
}

async function bareRound(seconds: number): Promise<Result> {
  const child = fork(fileURLToPath(import.meta.url), ['serve'], { execArgv: process.execArgv });
  try {
    const [port] = (await once(child, 'message')) as [number];
    return await measured({ port, path: '/' }, seconds);
  } finally {
    await ended(child);
  }
}

async function measured({ port, path, headers = {} }: Load, seconds: number): Promise<Result> {
  const load = { url: `http://127.0.0.1:${port}${path}`, headers, connections: CONNECTIONS };
  await autocannon({ ...load, duration: WARM_UP_S });
  const { requests, latency, non2xx, errors } = await autocannon({ ...load, duration: seconds });
  if (non2xx + errors > 0) throw new Error(`${non2xx} answers other than 2xx and ${errors} errors at ${path}`);
  return { requestsPerSecond: requests.average, p99Ms: latency.p99 };
}

const medians = (results: readonly Result[]): Result => ({
  requestsPerSecond: median(results.map(({ requestsPerSecond }) => requestsPerSecond)),
  p99Ms: median(results.map(({ p99Ms }) => p99Ms)),
});

async function ended(child: ChildProcess): Promise<void> {
  child.kill();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

function serveBare(): void {
  const body = Buffer.from('{"status":"ok"}');
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

if (process.argv[2] === 'serve') serveBare();
