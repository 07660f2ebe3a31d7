// Clients that mean harm, in a process of their own: their work must not slow the client that measures. Each connection that the host ends
// is opened again, so that an attack stands for as long as it is asked for.
import { type ChildProcess, fork } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';

/**
 * `pipelined`: requests without a pause whose answers are never read. `silent`: nothing is sent. `slow_bodies`: a body whose bytes come one a second.
 * `begun_bodies`: a body of which a part comes at once, and no more.
 */
export type AttackKind = 'pipelined' | 'silent' | 'slow_bodies' | 'begun_bodies';

export interface AttackOrder {
  readonly kind: AttackKind;
  readonly port: number;
  readonly connections: number;
  /** What one connection sends before it only waits. */
  readonly bytes?: number;
  /** `pipelined`: the request line, and more headers. */
  readonly line?: string;
  readonly headers?: readonly string[];
  /** Of a body: where it goes. */
  readonly path?: string;
}

export interface AttackCounts {
  /** Connected now. */
  readonly open: number;
  /** Connections that were made in all. */
  readonly made: number;
  /** Bytes that the host has taken. */
  readonly written: number;
}

export interface Attack {
  counts(): AttackCounts;
  stop(): Promise<void>;
}

const TOLD_MS = 50;
/** Until a connection that was ended is opened again. */
const AGAIN_MS = 500;
const DRIP_MS = 1_000;
/** Few connect at once: a full accept queue makes the kernel try again after seconds. */
const CONNECTING = 200;
const BODY_BYTES = 1_000_000;

/** Resolves once every connection was open, or as many as the host lets in. */
export async function startAttack(t: Cleanup, order: AttackOrder): Promise<Attack> {
  const child = fork(fileURLToPath(import.meta.url), ['attack', JSON.stringify(order)], {
    execArgv: ['--import', 'tsx'],
  });
  let counts: AttackCounts = { open: 0, made: 0, written: 0 };
  child.on('message', (message) => {
    counts = message as AttackCounts;
  });
  const stop = (): Promise<void> => ended(child);
  t.after(stop);
  await until(() => counts.made >= order.connections, { what: `${order.connections} connections` });
  return { counts: () => counts, stop };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

function run({
  kind,
  port,
  connections,
  bytes = 0,
  line = 'GET /api/system/status',
  headers = [],
  path = '/webhooks/webhook/a',
}: AttackOrder): void {
  const open = new Set<Socket>();
  let [made, written, connecting, wanted] = [0, 0, 0, connections];
  const request = Buffer.from([`${line} HTTP/1.1`, 'Host: a', ...headers, '', ''].join('\r\n'));
  const pipelined = Buffer.concat(Array.from({ length: Math.ceil(bytes / request.length) }, () => request));
  const head = Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`,
  );
  const write = (socket: Socket, data: Buffer): void => void socket.write(data, () => (written += data.length));
  const begin: Readonly<Record<AttackKind, (socket: Socket) => void>> = {
    pipelined: (socket) => write(socket.pause(), pipelined),
    silent: (socket) => void socket.resume(),
    slow_bodies: (socket) => write(socket.resume(), head),
    begun_bodies: (socket) => write(socket.resume(), Buffer.concat([head, Buffer.alloc(bytes, 'x')])),
  };
  const more = (): void => {
    for (let free = Math.min(wanted, CONNECTING - connecting); free > 0; free -= 1) one();
  };
  const one = (): void => {
    wanted -= 1;
    connecting += 1;
    let isConnecting = true;
    const connected = (): void => {
      if (isConnecting) connecting -= 1;
      isConnecting = false;
    };
    const socket = connect(port, '127.0.0.1');
    socket
      .on('error', () => {})
      .once('connect', () => {
        connected();
        made += 1;
        open.add(socket);
        begin[kind](socket);
        more();
      });
    socket.once('close', () => {
      connected();
      open.delete(socket);
      wanted += 1;
      setTimeout(more, AGAIN_MS);
    });
  };
  more();
  if (kind === 'slow_bodies') setInterval(() => open.forEach((socket) => write(socket, Buffer.from('x'))), DRIP_MS);
  setInterval(() => process.send?.({ open: open.size, made, written }), TOLD_MS);
  process.once('disconnect', () => process.exit(0));
}

if (process.argv[2] === 'attack') run(JSON.parse(process.argv[3] ?? '{}') as AttackOrder);
