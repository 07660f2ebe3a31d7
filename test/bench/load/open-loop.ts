// Requests at a rate, whatever becomes of those before: each counts from the moment at which it was due, so that a server that stands still is
// charged with all that had to wait for it.
import { Agent, request } from 'node:http';

export interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface OpenLoop {
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** Called when the n-th is sent. */
  readonly make: (n: number) => Post;
  /** Ends it before its time. */
  readonly signal?: AbortSignal;
}

export interface OpenLoopResult {
  /** Milliseconds from when each was due to its answer. */
  readonly latencies: readonly number[];
  /** Milliseconds by which this side sent each too late. */
  readonly late: readonly number[];
  /** How often it was answered with a status that is not 2xx; 0: not at all. */
  readonly failed: ReadonlyMap<number, number>;
}

const TICK_MS = 2;
const LIMIT_MS = 30_000;
const MOST_SOCKETS = 512;

export async function sendAtRate({ port, perSecond, seconds, make, signal }: OpenLoop): Promise<OpenLoopResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_SOCKETS, scheduling: 'fifo' });
  const latencies: number[] = [];
  const late: number[] = [];
  const open = new Set<Promise<void>>();
  const failed = new Map<number, number>();
  const total = Math.floor(perSecond * seconds);
  const startedAt = performance.now();
  const send = (n: number): void => {
    const dueAt = startedAt + (n * 1_000) / perSecond;
    const one = post(port, make(n), agent).then((status) => {
      if (status >= 200 && status < 300) latencies.push(performance.now() - dueAt);
      else failed.set(status, (failed.get(status) ?? 0) + 1);
    });
    open.add(one);
    void one.finally(() => open.delete(one));
    late.push(performance.now() - dueAt);
  };
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, ((performance.now() - startedAt) / 1_000) * perSecond);
      while (late.length < due) send(late.length);
      if (late.length < total && signal?.aborted !== true) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  await Promise.all(open);
  agent.destroy();
  return { latencies, late, failed };
}

/** The status of the answer; 0 when there is none. */
function post(port: number, { path, headers, body }: Post, agent: Agent): Promise<number> {
  return new Promise((resolve) => {
    const call = request({
      host: '127.0.0.1',
      port,
      path,
      method: 'POST',
      agent,
      timeout: LIMIT_MS,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    });
    call.on('response', (response) => {
      const { statusCode = 0 } = response;
      response.resume();
      response.on('end', () => resolve(statusCode));
      response.on('error', () => resolve(0));
    });
    call.on('timeout', () => call.destroy(new Error('no answer in time')));
    call.on('error', () => resolve(0));
    call.end(body);
  });
}
