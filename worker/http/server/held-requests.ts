// Requests that wait unread, because their connection has its maximum of unanswered requests.
//
// Node's parser reads a chunk of 64 KiB to its end and begins each request in it. Pausing the socket stops only the next chunk. An upgrade
// does stop the parser in the middle of a chunk. So a request that has to wait is presented to Node as an upgrade. Node then detaches the
// parser and hands over the unread bytes. The bytes are kept and given to a parser again once the answers are over.
//
//   HELD-1  No byte is lost or reordered. Node ends a connection when its socket is empty and the client has ended. So one kept byte stays
//           in the socket.
//   HELD-2  Held bytes are bounded over all connections. The connection that exceeds the bound is destroyed. Kept bytes do not go back into
//           the socket, or each turn would read another chunk.
//   HELD-3  A client that reads nothing for the server's idle time is cut.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Bound over all connections: kept bytes, and the chunk that a socket reads ahead before it stops. */
const MOST_BYTES = 8 * 1024 * 1024;
const READ_AHEAD_BYTES = 64 * 1024;

export interface HeldRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Resolves when the answers to earlier requests of the connection are over. */
  readonly earlier: Promise<void>;
}

export class HeldRequests {
  readonly #known = new WeakSet<Duplex>();
  readonly #goOn: (socket: Duplex, kept: readonly Buffer[]) => void;
  #bytes = 0;

  /** `goOn`: the connection may be read again, beginning with the kept bytes. */
  constructor(goOn: (socket: Duplex, kept: readonly Buffer[]) => void) {
    this.#goOn = goOn;
  }

  /** False if the bound on held bytes is reached. The connection is then destroyed. */
  hold({ request, socket, head, earlier }: HeldRequest): boolean {
    if (!this.#known.has(socket)) socket.on('error', ignore);
    this.#known.add(socket);
    const kept = keptOf(request, head);
    const bytes = head.length + READ_AHEAD_BYTES;
    if (this.#bytes + bytes > MOST_BYTES) {
      socket.destroy();
      return false;
    }
    this.#bytes += bytes;
    if (socket.readableLength === 0) socket.unshift(takeLast(kept)); // a socket with a byte left is not ended by Node
    const cut = (): void => void socket.destroy();
    socket.once('timeout', cut);
    const over = (): void => {
      this.#bytes -= bytes;
      socket.off('timeout', cut);
      socket.off('close', over);
    };
    socket.once('close', over);
    void earlier.then(() => {
      if (socket.destroyed) return;
      over();
      this.#goOn(socket, kept);
    });
    return true;
  }
}

/** Without a listener, an error of the socket would end the process. The socket closes by itself. */
const ignore = (): void => {};

/** For an upgrade or CONNECT, the bytes that follow belong to the head and stay in one buffer with it. */
function keptOf(request: IncomingMessage, head: Buffer): Buffer[] {
  const text = textOf(request);
  const isLast = request.headers.upgrade !== undefined || request.method === 'CONNECT';
  if (head.length === 0) return [text];
  return isLast ? [Buffer.concat([text, head])] : [text, head];
}

function takeLast(kept: Buffer[]): Buffer {
  const last = kept.pop() ?? Buffer.alloc(0);
  if (last.length > 1) kept.push(last.subarray(0, -1));
  return last.subarray(-1);
}

function textOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) text += `${rawHeaders[at]}:${rawHeaders[at + 1]}\r\n`;
  return Buffer.from(`${text}\r\n`, 'latin1');
}
