// How fast the HTTP interface is against bare node:http, measured in one run: GET /pub/health and a small JSON below /api
// with a token. Servers are processes of their own. Prints requests a second, p99 and the ratio to the baseline.
// Run: node --import tsx test/bench/http.ts [seconds]
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import { createHttpServer } from '../../worker/http/server.ts';
import { FULL_TOKEN, fakeHostPort } from '../support/fake-host-port.ts';

const CONNECTIONS = 64;
const ROUNDS = 3;

export interface HttpFigures {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  /** Requests a second as a part of the baseline's. */
  readonly ratio: number;
}

interface Subject {
  readonly name: string;
  readonly server: 'bare' | 'svc';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const SUBJECTS: readonly Subject[] = [
  { name: 'bare node:http', server: 'bare', path: '/', headers: {} },
  { name: 'GET /pub/health', server: 'svc', path: '/pub/health', headers: {} },
  {
    name: 'GET /api/system/ingress',
    server: 'svc',
    path: '/api/system/ingress',
    headers: { authorization: `Bearer ${FULL_TOKEN}` },
  },
];

/** Measures all subjects in turn, several rounds, and keeps the best round of each. */
export async function benchHttp(seconds: number): Promise<readonly HttpFigures[]> {
  const best = new Map<Subject, { requestsPerSecond: number; p99Ms: number }>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const subject of SUBJECTS) {
      const result = await measure(subject, seconds);
      if (result.requestsPerSecond > (best.get(subject)?.requestsPerSecond ?? 0)) best.set(subject, result);
    }
  }
  const [baseline] = best.values();
  return [...best].map(([{ name }, result]) => ({
    name,
    ...result,
    ratio: result.requestsPerSecond / (baseline?.requestsPerSecond ?? 1),
  }));
}

async function measure(
  { server, path, headers }: Subject,
  seconds: number,
): Promise<{ requestsPerSecond: number; p99Ms: number }> {
  const { child, port } = await startChild(server);
  try {
    const url = `http://127.0.0.1:${port}${path}`;
    await autocannon({ url, headers, connections: CONNECTIONS, duration: 1 });
    const { requests, latency, non2xx, errors } = await autocannon({
      url,
      headers,
      connections: CONNECTIONS,
      duration: seconds,
    });
    if (non2xx + errors > 0) throw new Error(`${non2xx} answers other than 2xx and ${errors} errors at ${path}`);
    return { requestsPerSecond: requests.average, p99Ms: latency.p99 };
  } finally {
    child.kill();
  }
}

async function startChild(server: Subject['server']): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(import.meta.url), '--serve', server], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [port] = (await once(child, 'message')) as [number];
  return { child, port };
}

async function serve(server: string): Promise<void> {
  const listening = server === 'bare' ? serveBare() : serveSvc();
  process.send?.(await listening);
}

async function serveBare(): Promise<number> {
  const body = Buffer.from('{"status":"ok"}');
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function serveSvc(): Promise<number> {
  const silent = (): void => {};
  const host = fakeHostPort();
  host.observe = silent;
  const http = createHttpServer({
    port: host,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    listen: { host: '127.0.0.1', port: 0 },
  });
  return (await http.listen()).port;
}

function print(figures: readonly HttpFigures[]): void {
  for (const { name, requestsPerSecond, p99Ms, ratio } of figures) {
    const rate = Math.round(requestsPerSecond).toString().padStart(7);
    process.stdout.write(
      `${name.padEnd(26)} ${rate} requests/s   p99 ${p99Ms} ms   ${ratio.toFixed(2)} of bare node:http\n`,
    );
  }
}

const [flag = '', value = ''] = process.argv.slice(2);
if (flag === '--serve') await serve(value);
else if (process.argv[1] === fileURLToPath(import.meta.url)) print(await benchHttp(Number(flag) || 5));
