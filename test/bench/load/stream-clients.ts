// Clients of a bench of streams, in a process of their own: many raw connections that count bytes and do nothing else.
//
//   parent → {kind: 'connect', port, path, count, lastEventId?} … {kind: 'expect', bytes}     bytes of all connections together
//   child  → {kind: 'quiet'} once all are connected and silent, {kind: 'done'} when that many more bytes have come
import { connect, type Socket } from 'node:net';

export type ToClients =
  | {
      readonly kind: 'connect';
      readonly port: number;
      readonly count: number;
      readonly path: string;
      readonly lastEventId?: string;
    }
  | { readonly kind: 'expect'; readonly bytes: number }
  | { readonly kind: 'close' };
export type FromClients = { readonly kind: 'quiet' | 'done' | 'closed' };

const CONNECTING_AT_ONCE = 100;
const QUIET_MS = 150;

const sockets = new Set<Socket>();
let received = 0;
let wanted = Number.POSITIVE_INFINITY;

const tell = (message: FromClients): void => void process.send?.(message);

process.on('message', (message: ToClients) => {
  switch (message.kind) {
    case 'connect':
      void open(message); // failures end the process, which the parent sees
      break;
    case 'expect':
      wanted = message.bytes;
      received = 0;
      break;
    case 'close':
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      tell({ kind: 'closed' });
      break;
  }
});
process.on('disconnect', () => process.exit());

async function open({ port, path, count, lastEventId }: Extract<ToClients, { kind: 'connect' }>): Promise<void> {
  const resume = lastEventId === undefined ? '' : `Last-Event-ID: ${lastEventId}\r\n`;
  for (let left = count; left > 0; left -= CONNECTING_AT_ONCE) {
    await Promise.all(
      Array.from({ length: Math.min(left, CONNECTING_AT_ONCE) }, () =>
        openOne(port, `GET ${path} HTTP/1.1\r\nHost: bench\r\n${resume}\r\n`),
      ),
    );
  }
  if (lastEventId !== undefined) return;
  for (let before = -1; before !== received; ) {
    before = received;
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
  tell({ kind: 'quiet' });
}

function openOne(port: number, request: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(request);
      resolve();
    });
    sockets.add(socket);
    socket.on('data', (bytes) => {
      received += bytes.length;
      if (received < wanted) return;
      wanted = Number.POSITIVE_INFINITY;
      tell({ kind: 'done' });
    });
  });
}
