// Requests over so many connections, each connection one after the other. The load shares two processors with what is measured, so it costs as
// little as it can: requests are bytes before the clock runs, and of an answer no more is read than its status and its length.
import { once } from 'node:events';
import { connect } from 'node:net';

export interface ClosedLoop {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
}

export interface ClosedLoopRequest {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export interface LoadResult {
  readonly perSecond: number;
  /** Milliseconds from sending to the whole answer. */
  readonly latencies: readonly number[];
  /** Answers that are not 2xx. */
  readonly failed: number;
}

const LIMIT_MS = 60_000;

/** Sends each of them once, but for what is left when they are shared out evenly. Throws where a connection ends or stands still. */
export async function sendInTurn(
  { port, path, connections }: ClosedLoop,
  requests: readonly ClosedLoopRequest[],
): Promise<LoadResult> {
  const share = Math.floor(requests.length / connections);
  const bytes = requests.slice(0, share * connections).map((request) => bytesOf(path, request));
  const latencies: number[] = [];
  let failed = 0;
  const lines = await Promise.all(
    Array.from({ length: connections }, async (_, n) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true, timeout: LIMIT_MS });
      socket.on('timeout', () => socket.destroy(new Error('no answer in time')));
      await once(socket, 'connect');
      return { socket, own: bytes.slice(n * share, (n + 1) * share) };
    }),
  );
  const startedAt = performance.now();
  await Promise.all(
    lines.map(
      ({ socket, own }) =>
        new Promise<void>((resolve, reject) => {
          let received: Buffer | undefined;
          let next = 0;
          let sentAt = 0;
          const send = (): void => {
            const request = own[next++];
            if (request === undefined) {
              socket.destroy();
              return resolve();
            }
            sentAt = performance.now();
            socket.write(request);
          };
          socket.on('data', (chunk) => {
            received = received === undefined ? chunk : Buffer.concat([received, chunk]);
            const status = statusOfWhole(received);
            if (status === undefined) return;
            received = undefined;
            latencies.push(performance.now() - sentAt);
            if (status < 200 || status > 299) failed += 1;
            send();
          });
          socket.on('error', reject);
          socket.on('close', () => reject(new Error('the connection was closed')));
          send();
        }),
    ),
  );
  return { perSecond: latencies.length / ((performance.now() - startedAt) / 1_000), latencies, failed };
}

function bytesOf(path: string, { body, headers }: ClosedLoopRequest): Buffer {
  const lines = Object.entries({ host: '127.0.0.1', ...headers, 'content-length': String(body.length) });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n`), body]);
}

/** The status once head and body are there; undefined before. Answers without a length are not what is measured here. */
function statusOfWhole(received: Buffer): number | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = received.toString('latin1', 0, end);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without a length: ${head.slice(0, 80)}`);
  return received.length < end + 4 + Number(length) ? undefined : Number(head.slice(9, 12));
}
