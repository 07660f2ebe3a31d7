// Requests that have to wait unread: their connection has as many unanswered ones as it may have (open-answers.ts).
//
// Node's parser reads a chunk of 64 KiB to its end and begins each request in it; pausing the socket stops only the next chunk. An upgrade stops
// the parser in the middle of a chunk. So a request that has to wait is taken for an upgrade: Node lets go of the connection and hands over what
// it has not read. That is kept, and given to the parser of the same connection once the answers are over.
//
//   R1  Nothing is lost and nothing changes its order. A socket tells the end of its client once it is empty, and Node ends the connection then:
//       so a byte of what is kept stays in the socket.
//   R2  Held bytes are bounded over all connections. The connection that comes above the bound is ended. Kept bytes are not put back into the
//       socket: with each turn it would read another chunk on top.
//   R3  A client that reads nothing for the idle time of the server is cut.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Of all connections: what is kept for their parsers, and what a socket reads on top before it stops. */
const MOST_BYTES = 8 * 1024 * 1024;
const READ_AHEAD_BYTES = 64 * 1024;

export interface HeldRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** The answers to what came before it. */
  readonly earlier: Promise<void>;
}

export class HeldRequests {
  readonly #known = new WeakSet<Duplex>();
  readonly #goOn: (socket: Duplex, kept: readonly Buffer[]) => void;
  #bytes = 0;

  /** `goOn`: the connection may be read again, what is kept before anything else. */
  constructor(goOn: (socket: Duplex, kept: readonly Buffer[]) => void) {
    this.#goOn = goOn;
  }

  /** False when there was no room (R2): the connection is ended. */
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
    if (socket.readableLength === 0) socket.unshift(takeLast(kept)); // R1
    const cut = (): void => void socket.destroy();
    socket.once('timeout', cut); // R3
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

/** Without a listener for errors the first one would end the process; the connection closes by itself. */
const ignore = (): void => {};

/** An upgrade, or a tunnel, has what follows handed to it together with its head. */
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
