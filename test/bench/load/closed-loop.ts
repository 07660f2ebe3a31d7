// Requests over so many connections, each connection one after the other. The load shares two processors with what is measured, so it costs as
// little as it can: requests are bytes before the clock runs, an answer is read into a buffer that is there (net's `onread`: no stream, no new
// buffer for each), and no more of it than its status and its length.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

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
const ANSWER_BYTES = 16_384;

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
    Array.from({ length: connections }, (_, n) => Line.open(port, bytes.slice(n * share, (n + 1) * share))),
  );
  const startedAt = performance.now();
  await Promise.all(
    lines.map((line) =>
      line.sendAll((status, latency) => {
        latencies.push(latency);
        if (status < 200 || status > 299) failed += 1;
      }),
    ),
  );
  return { perSecond: latencies.length / ((performance.now() - startedAt) / 1_000), latencies, failed };
}

/** One connection: the next request goes out when the answer to the one before is whole. */
class Line {
  readonly #socket: Socket;
  readonly #requests: readonly Buffer[];
  #next = 0;
  #sentAt = 0;
  #begun: Buffer | undefined;
  #answered: (status: number, latency: number) => void = () => {};
  #done = (): void => {};

  private constructor(port: number, requests: readonly Buffer[]) {
    this.#requests = requests;
    const read = (length: number, buffer: Uint8Array): boolean => {
      this.#read(Buffer.from(buffer.buffer, buffer.byteOffset, length));
      return true;
    };
    const onread = { buffer: Buffer.allocUnsafe(ANSWER_BYTES), callback: read };
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, timeout: LIMIT_MS, onread });
    this.#socket.on('timeout', () => this.#socket.destroy(new Error('no answer in time')));
  }

  static async open(port: number, requests: readonly Buffer[]): Promise<Line> {
    const line = new Line(port, requests);
    await once(line.#socket, 'connect');
    return line;
  }

  sendAll(answered: (status: number, latency: number) => void): Promise<void> {
    this.#answered = answered;
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#socket.on('error', reject);
      this.#socket.on('close', () => reject(new Error('the connection was closed')));
      this.#send();
    });
  }

  #send(): void {
    const request = this.#requests[this.#next++];
    if (request === undefined) {
      this.#socket.destroy();
      this.#done();
      return;
    }
    this.#sentAt = performance.now();
    this.#socket.write(request);
  }

  #read(bytes: Buffer): void {
    const received = this.#begun === undefined ? bytes : Buffer.concat([this.#begun, bytes]);
    const status = statusOfWhole(received);
    this.#begun = status === undefined ? Buffer.from(received) : undefined; // the buffer is read into again
    if (status === undefined) return;
    this.#answered(status, performance.now() - this.#sentAt);
    this.#send();
  }
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
